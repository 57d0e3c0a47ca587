#include "terminal/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "terminal/terminal.hpp"
#include "terminal/visible.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

constexpr std::chrono::milliseconds kInterval{200};

void write_to_stderr(const std::string& text) {
  // Nobody is left to tell of a failure.
  static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) + 0);
}

}  // namespace

Progress::Progress(bool is_quiet, bool insists, bool prints_records)
    : is_shown_(!is_quiet && (insists || (is_terminal(STDERR_FILENO) &&
                                          !(prints_records && is_terminal(STDOUT_FILENO))))),
      is_terminal_(is_terminal(STDERR_FILENO)) {}

bool Progress::is_due() const noexcept { return is_shown_ && Clock::now() - last_ >= kInterval; }

double Progress::seconds() const noexcept {
  return std::chrono::duration<double>(Clock::now() - started_).count();
}

void Progress::show(const State& state) {
  last_ = Clock::now();
  const double elapsed = std::max(seconds(), 1e-3);
  std::string line = fmt::format(
      "{} records, {}, {}/s", show_count(state.records), show_bytes(state.bytes),
      show_bytes(static_cast<std::uint64_t>(static_cast<double>(state.bytes) / elapsed)));
  if (state.total_bytes && *state.total_bytes >= state.bytes && state.bytes != 0) {
    const double share = static_cast<double>(state.bytes) / static_cast<double>(*state.total_bytes);
    line += fmt::format(", {:.0f} %, {} left", share * 100,
                        show_seconds(elapsed * (1 - share) / share));
  }
  if (state.fill) line += fmt::format("; filter {:.0f} % set", *state.fill * 100);
  if (state.fpr) line += fmt::format(", wrong {}", show_percent(*state.fpr));
  if (is_terminal_) {
    // A line that is broken in two could not be written over.
    line.resize(std::min(line.size(), terminal_width(STDERR_FILENO) - 1));
    write_to_stderr(fmt::format("\r\x1b[K{}", line));
    is_on_line_ = true;
  } else {
    write_to_stderr(line + "\n");
  }
}

void Progress::clear() {
  if (!is_on_line_) return;
  write_to_stderr("\r\x1b[K");
  is_on_line_ = false;
}

void tell(std::string_view sentence) {
  write_to_stderr(fmt::format("probably: {}\n", visible(sentence)));
}

void warn(std::string_view sentence) {
  const Paint paint(STDERR_FILENO);
  write_to_stderr(fmt::format("probably: {} {}\n", paint.yellow("warning:"), visible(sentence)));
}

}  // namespace probably::cli
