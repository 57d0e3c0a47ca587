// Colours and width of a terminal: none of either for whoever is none, or wants none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace probably::cli {

[[nodiscard]] bool is_terminal(int descriptor) noexcept;
// Columns; 80 if that is not known.
[[nodiscard]] std::size_t terminal_width(int descriptor) noexcept;

// Puts text into colours, if the descriptor is a terminal and NO_COLOR is not set.
class Paint {
 public:
  explicit Paint(int descriptor) noexcept;
  // For whoever decides otherwise.
  explicit Paint(bool is_on) noexcept : is_on_(is_on) {}

  [[nodiscard]] bool is_on() const noexcept { return is_on_; }
  [[nodiscard]] std::string bold(std::string_view text) const { return with("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return with("2", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return with("31", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return with("32", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return with("33", text); }
  [[nodiscard]] std::string cyan(std::string_view text) const { return with("36", text); }

 private:
  [[nodiscard]] std::string with(std::string_view code, std::string_view text) const;

  bool is_on_;
};

// Text as it is for programs and files, and visible for a terminal, which might obey it.
[[nodiscard]] std::string for_terminal(std::string_view text, int descriptor);

// A share of a whole as a bar of so many columns. Everything is printed as UTF-8.
[[nodiscard]] std::string bar(double share, std::size_t width = 30);

}  // namespace probably::cli
