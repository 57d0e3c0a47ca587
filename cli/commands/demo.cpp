// probably demo: 15 bits at work, on a screen, or as lines of text where there is none.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "commands.hpp"
#include "demo/picture.hpp"
#include "demo/screen.hpp"
#include "demo/set.hpp"
#include "terminal/output.hpp"
#include "terminal/terminal.hpp"
#include "terminal/visible.hpp"
#include "trouble.hpp"

namespace probably::cli {
namespace {

// Lines of standard input, as they come.
class Lines {
 public:
  explicit Lines(const StopFlag& stop) : stop_(stop) {}

  // False at the end, or when the user interrupts. Of a line that is too long only
  // so much is kept that this can be seen. Throws Trouble.
  bool next(std::string& line) {
    line.clear();
    for (;;) {
      const std::size_t end = rest_.find('\n');
      line += rest_.substr(0, std::min(end, kKept - line.size()));
      if (end != std::string_view::npos) {
        rest_.remove_prefix(end + 1);
        return true;
      }
      if (!fill()) return !line.empty() && !stop_;
    }
  }

 private:
  bool fill() {
    rest_ = {};
    while (!stop_) {
      // Waiting is cut short, for a signal may come just before read() would wait for more.
      pollfd input{STDIN_FILENO, POLLIN, 0};
      if (::poll(&input, 1, 100) <= 0) continue;
      const ssize_t count = ::read(STDIN_FILENO, bytes_.data(), bytes_.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        throw Trouble(
            fmt::format("Cannot read standard input: {}.", std::generic_category().message(errno)));
      }
      rest_ = {bytes_.data(), static_cast<std::size_t>(count)};
      return count > 0;
    }
    return false;
  }

  static constexpr std::size_t kKept = kMaxDemoLineBytes + 1;

  const StopFlag& stop_;
  std::array<char, 4096> bytes_;
  std::string_view rest_;
};

// One request after the other, each answered with a picture.
class DemoLines {
 public:
  explicit DemoLines(bool has_prompt) : has_prompt_(has_prompt) {}

  int run(const StopFlag& stop) {
    output_.write(
        "A Bloom filter of 15 bits, of the kind bloom. A word leads to 3 of them.\n"
        "word adds, ?word tests, -word would forget, clear, quit\n\n");
    Lines lines(stop);
    std::string line;
    do {
      if (has_prompt_) output_.write("> ");
      output_.flush();
    } while (lines.next(line) && obey(line));
    output_.finish();
    return stop ? kInterrupted : kFound;
  }

 private:
  // False when the user wants to leave.
  bool obey(const std::string& line) {
    using Verb = DemoRequest::Verb;
    if (line.size() > kMaxDemoLineBytes) {
      say(fmt::format("A line of more than {} bytes is too long for this demo.",
                      kMaxDemoLineBytes));
      return true;
    }
    const DemoRequest request = parse_demo_request(line);
    const std::string& word = request.word;
    switch (request.verb) {
      case Verb::nothing:
        return true;
      case Verb::quit:
        return false;
      case Verb::clear:
        say(set_.clear());
        return true;
      case Verb::forget:
        say(set_.forget(word));
        return true;
      case Verb::add:
      case Verb::test:
        break;
    }
    if (word.empty()) {
      say("Which word?");
      return true;
    }
    const std::string said = request.verb == Verb::add ? set_.add(word) : set_.test(word);
    write_lines(explain_places(set_, word));
    for (const std::string& row : draw_plain_bits(set_, set_.places(word))) {
      output_.write(row + "\n");
    }
    write_lines(said);
    say(fmt::format("{}.", sum_up(set_)));
    return true;
  }

  void write_lines(std::string_view text) {
    for (const std::string& line : wrapped(text, kColumns)) output_.write(line + "\n");
  }
  void say(std::string_view text) {
    write_lines(text);
    output_.write("\n");
  }

  static constexpr std::size_t kColumns = 80;

  bool has_prompt_;
  DemoSet set_;
  Output output_;
};

bool can_draw() noexcept {
  const char* const terminal = std::getenv("TERM");
  return terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb";
}

}  // namespace

int run(const DemoOptions& /*options*/, const StopFlag& stop) {
  const bool is_watched = is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO);
  if (!is_watched || !can_draw()) return DemoLines(is_watched).run(stop);
  DemoScreen screen;
  const int code = screen.run(stop);
  // The screen is gone; this stays.
  write_all(STDOUT_FILENO, fmt::format("{}.\n", sum_up(screen.set())), "standard output");
  return code;
}

}  // namespace probably::cli
