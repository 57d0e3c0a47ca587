#include "demo/screen.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "demo/picture.hpp"
#include "terminal/output.hpp"
#include "terminal/terminal.hpp"
#include "terminal/visible.hpp"
#include "trouble.hpp"

namespace probably::cli {
namespace {

// Another screen, and lines that are cut instead of broken.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?1049l";
constexpr std::size_t kSaidLines = 3;
constexpr int kLookMilliseconds = 100;  // how soon an interrupt or a new size is seen

struct Size {
  std::size_t width = 80;
  std::size_t height = 24;
  friend bool operator==(const Size&, const Size&) = default;
};

Size screen_size() noexcept {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {size.ws_col, size.ws_row};
}

bool has_input(int milliseconds) noexcept {
  pollfd keyboard{STDIN_FILENO, POLLIN, 0};
  return ::poll(&keyboard, 1, milliseconds) > 0;
}

void show(std::string_view text) { write_all(STDOUT_FILENO, text, "the terminal"); }

// The last words that were added, as many as fit.
std::string recent_words(const DemoSet& set, std::size_t max_columns) {
  const auto& words = set.words();
  std::string text;
  for (std::size_t i = words.size(); i-- > 0;) {
    const std::string word = visible(words[i], 30);
    if (columns(text) + columns(word) + 4 > max_columns) return fmt::format("… {}", text);
    text = text.empty() ? word : fmt::format("{} {}", word, text);
  }
  return text;
}

std::string_view what_enter_does(DemoRequest::Verb verb) {
  switch (verb) {
    case DemoRequest::Verb::add:
      return "Enter adds it.";
    case DemoRequest::Verb::test:
      return "Enter tests it.";
    default:
      return "";
  }
}

// Blank lines go first, then what stands between the picture and the prompt.
void fit_height(std::vector<std::string>& lines, std::size_t height) {
  for (std::size_t i = lines.size(); i-- > 0 && lines.size() > height;) {
    if (lines[i].empty()) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
  }
  while (lines.size() > std::max<std::size_t>(height, 1)) lines.erase(lines.end() - 2);
}

}  // namespace

FullScreen::FullScreen() {
  if (::tcgetattr(STDIN_FILENO, &before_) != 0) {
    throw Trouble(
        fmt::format("Cannot use the terminal: {}.", std::generic_category().message(errno)));
  }
  termios raw = before_;
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ISTRIP);
  // Also no signals: Ctrl-C and Ctrl-Z are keys like others, so that nothing ends or stops the
  // program before the terminal is as it was.
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  show(kEnter);
}

FullScreen::~FullScreen() {
  // Nobody is left to tell of a failure.
  static_cast<void>(::write(STDOUT_FILENO, kLeave.data(), kLeave.size()) + 0);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

LineEditor::Event LineEditor::take(char byte) {
  constexpr char kEscape = '\x1b';
  if (state_ == State::escape) {
    state_ = byte == '[' || byte == 'O' ? State::sequence : State::text;
    return Event::none;
  }
  if (state_ == State::sequence) {
    if (byte >= '@' && byte <= '~') state_ = State::text;
    return Event::none;
  }
  switch (byte) {
    case kEscape:
      state_ = State::escape;
      return Event::none;
    case '\r':
    case '\n':
      return Event::enter;
    case 'C' - '@':
      return Event::interrupt;
    case 'D' - '@':
      return text_.empty() ? Event::end : Event::none;
    case '\b':
    case '\x7f':
      erase_character();
      return Event::none;
    case 'U' - '@':
      text_.clear();
      return Event::none;
    case 'W' - '@':
      erase_word();
      return Event::none;
    default:
      break;
  }
  const bool is_control = static_cast<unsigned char>(byte) < ' ';
  if (!is_control && text_.size() < kMaxDemoLineBytes) text_ += byte;
  return Event::none;
}

void LineEditor::rest() noexcept {
  if (state_ == State::escape) state_ = State::text;
}

void LineEditor::erase_character() {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80; };
  while (text_.size() > 1 && continues(text_.back())) text_.pop_back();
  if (!text_.empty()) text_.pop_back();
}

void LineEditor::erase_word() {
  while (!text_.empty() && text_.back() == ' ') text_.pop_back();
  while (!text_.empty() && text_.back() != ' ') text_.pop_back();
}

bool DemoScreen::obey(const std::string& line) {
  using Verb = DemoRequest::Verb;
  const DemoRequest request = parse_demo_request(line);
  const std::string& word = request.word;
  if (request.verb == Verb::quit) return false;
  if (request.verb == Verb::nothing) return true;
  last_word_.reset();
  if (request.verb == Verb::clear) {
    said_ = set_.clear();
  } else if (request.verb == Verb::forget) {
    said_ = set_.forget(word);
  } else if (word.empty()) {
    said_ = "Which word?";
    return true;
  } else {
    said_ = request.verb == Verb::add ? set_.add(word) : set_.test(word);
  }
  if (!word.empty()) last_word_ = word;
  return true;
}

std::string DemoScreen::composed(std::size_t width, std::size_t height) const {
  const Paint paint(STDOUT_FILENO);
  const std::size_t inner = std::max<std::size_t>(width, 4) - 2;  // a blank on each side
  // While a word is typed, one sees where it would go.
  const DemoRequest typed = parse_demo_request(editor_.text());
  const bool is_typing = !typed.word.empty();
  const std::optional<std::string> word = is_typing ? typed.word : last_word_;

  std::vector<std::string> lines;
  // What is shorter leaves its lines blank, so that what follows stands still.
  const auto add = [&](std::string_view text, const auto& dress, std::size_t least = 1) {
    const std::vector<std::string> some = wrapped(text, inner);
    for (const std::string& line : some) lines.push_back(fmt::format(" {}", dress(line)));
    for (std::size_t i = some.size(); i < least; ++i) lines.emplace_back();
  };
  const auto plain = [](const std::string& text) { return text; };
  const auto bold = [&](const std::string& text) { return paint.bold(text); };
  const auto dim = [&](const std::string& text) { return paint.dim(text); };

  add("A Bloom filter of 15 bits. A word leads to 3 of them.", bold);
  lines.emplace_back();
  std::optional<DemoSet::Places> marks;
  if (word) marks = set_.places(*word);
  for (std::string& line : draw_bits(set_, marks, width, paint)) lines.push_back(std::move(line));
  lines.emplace_back();
  add(word ? explain_places(set_, *word) : "", dim, 2);
  add(is_typing ? what_enter_does(typed.verb) : said_, bold, kSaidLines);
  lines.emplace_back();
  add(fmt::format("{}.", sum_up(set_)), plain);
  const std::string words = recent_words(set_, 2 * inner - 30);
  add(fmt::format("In the set: {}", words.empty() ? "nothing yet" : words), plain, 2);
  add("word adds, ?word tests, -word would forget, clear, quit", dim);
  lines.push_back(fmt::format(" > {}", visible_end(editor_.text(), inner - 3)));
  fit_height(lines, height);

  std::string text = "\x1b[?25l\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += fmt::format("{}{}\x1b[K", i == 0 ? "" : "\r\n", lines[i]);
  }
  // What is below the prompt goes, and the cursor stays behind it.
  return text + "\x1b[J\x1b[?25h";
}

int DemoScreen::run(const StopFlag& stop) {
  const FullScreen screen;
  std::optional<Size> drawn;
  while (!stop) {
    if (const Size size = screen_size(); size != drawn && !has_input(0)) {
      show(composed(size.width, size.height));
      drawn = size;
    }
    if (!has_input(kLookMilliseconds)) {
      editor_.rest();
      continue;
    }
    // Byte by byte, for what comes after "quit" is the shell's.
    char byte = 0;
    if (::read(STDIN_FILENO, &byte, 1) != 1) return kFound;  // the terminal is gone
    drawn.reset();
    switch (editor_.take(byte)) {
      case LineEditor::Event::none:
        break;
      case LineEditor::Event::interrupt:
        return kInterrupted;
      case LineEditor::Event::end:
        return kFound;
      case LineEditor::Event::enter:
        if (!obey(editor_.take_text())) return kFound;
    }
  }
  return kInterrupted;
}

}  // namespace probably::cli
