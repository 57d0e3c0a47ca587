// `probably demo` in a terminal: a screen that is drawn anew with every key.
#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "demo/set.hpp"
#include "records/input.hpp"

namespace probably::cli {

// Has the terminal to itself while it lives: each key comes at once, and the user's screen comes
// back in the end.
class FullScreen {
 public:
  // Throws Trouble.
  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

 private:
  termios before_{};
};

// The line that the user is typing. Only its end can be changed.
class LineEditor {
 public:
  enum class Event { none, enter, end, interrupt };

  // Takes a byte that the terminal sent.
  Event take(char byte);
  // No more bytes came for now: an escape that is alone was the key of that name.
  void rest() noexcept;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  // The line, and begins a new one.
  std::string take_text() { return std::exchange(text_, {}); }

 private:
  enum class State { text, escape, sequence };

  void erase_character();
  void erase_word();

  std::string text_;
  State state_ = State::text;
};

class DemoScreen {
 public:
  // Until the user leaves. Returns the exit code.
  int run(const StopFlag& stop);
  [[nodiscard]] const DemoSet& set() const noexcept { return set_; }

 private:
  // False when the user wants to leave.
  bool obey(const std::string& line);
  [[nodiscard]] std::string composed(std::size_t width, std::size_t height) const;

  DemoSet set_;
  LineEditor editor_;
  std::optional<std::string> last_word_;
  std::string said_ =
      "Type a word and press Enter: three of the bits light up. Then test other words with ?word.";
};

}  // namespace probably::cli
