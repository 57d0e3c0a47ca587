#include "terminal/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "terminal/visible.hpp"

namespace probably::cli {
namespace {

// https://no-color.org: set and not empty, whatever its value.
bool wants_color() noexcept {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

bool is_terminal(int descriptor) noexcept { return ::isatty(descriptor) == 1; }

std::size_t terminal_width(int descriptor) noexcept {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return size.ws_col;
}

Paint::Paint(int descriptor) noexcept : is_on_(is_terminal(descriptor) && wants_color()) {}

std::string Paint::with(std::string_view code, std::string_view text) const {
  return is_on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string for_terminal(std::string_view text, int descriptor) {
  return is_terminal(descriptor) ? visible(text) : std::string(text);
}

std::string bar(double share, std::size_t width) {
  // Eighths of a column.
  constexpr std::array<std::string_view, 8> kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(
      std::lround(std::clamp(share, 0.0, 1.0) * 8 * static_cast<double>(width)));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  std::size_t used = eighths / 8;
  if (eighths % 8 != 0) {
    text += kParts[eighths % 8];
    ++used;
  }
  for (; used < width; ++used) text += "░";
  return text;
}

}  // namespace probably::cli
