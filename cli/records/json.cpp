#include "records/json.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace probably::cli {
namespace {

constexpr int kMaxDepth = 512;

// Goes over a text from left to right. Once something is not JSON, everything that follows fails.
class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : rest_(text) {}

  // Skips to the value that the steps lead to, and returns its text.
  std::optional<std::string_view> find(const std::vector<std::string>& steps) {
    for (const std::string& step : steps) {
      if (!enter(step)) return std::nullopt;
    }
    skip_blanks();
    const std::string_view before = rest_;
    if (!skip_value(0)) return std::nullopt;
    return before.substr(0, before.size() - rest_.size());
  }

 private:
  void skip_blanks() noexcept {
    const std::size_t end = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
  }
  bool take(char wanted) noexcept {
    skip_blanks();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // Goes to the value of a member or an element.
  bool enter(const std::string& step) {
    if (take('{')) return enter_member(step);
    if (take('[')) return enter_element(step);
    return false;
  }
  bool enter_member(const std::string& name) {
    do {
      skip_blanks();
      const std::string_view before = rest_;
      if (!skip_string()) return false;
      const std::string_view quoted = before.substr(0, before.size() - rest_.size());
      if (!take(':')) return false;
      std::string decoded;
      if (quoted.substr(1, quoted.size() - 2) == name ||
          (quoted.find('\\') != std::string_view::npos && decode(quoted, decoded) &&
           decoded == name)) {
        return true;
      }
      if (!skip_value(0)) return false;
    } while (take(','));
    return false;
  }
  bool enter_element(const std::string& number) {
    std::uint64_t index = 0;
    const char* const end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, index);
    const bool has_leading_zero = number.size() > 1 && number.front() == '0';
    if (number.empty() || error != std::errc{} || stop != end || has_leading_zero) return false;
    for (; index > 0; --index) {
      if (!skip_value(0) || !take(',')) return false;
    }
    skip_blanks();
    return !rest_.empty() && rest_.front() != ']';
  }

  bool skip_value(int depth) {
    skip_blanks();
    if (rest_.empty() || depth > kMaxDepth) return false;
    switch (rest_.front()) {
      case '"':
        return skip_string();
      case '{':
        return skip_object(depth);
      case '[':
        return skip_array(depth);
      default:
        return skip_word();
    }
  }
  // From its quote to its quote.
  bool skip_string() noexcept {
    if (rest_.empty() || rest_.front() != '"') return false;
    for (std::size_t at = 1; at < rest_.size(); ++at) {
      if (rest_[at] == '\\') {
        ++at;
      } else if (rest_[at] == '"') {
        rest_.remove_prefix(at + 1);
        return true;
      }
    }
    return false;
  }
  bool skip_object(int depth) {
    rest_.remove_prefix(1);
    if (take('}')) return true;
    do {
      skip_blanks();
      if (!skip_string() || !take(':') || !skip_value(depth + 1)) return false;
    } while (take(','));
    return take('}');
  }
  bool skip_array(int depth) {
    rest_.remove_prefix(1);
    if (take(']')) return true;
    do {
      if (!skip_value(depth + 1)) return false;
    } while (take(','));
    return take(']');
  }
  // A number, true, false or null.
  bool skip_word() noexcept {
    const std::size_t end =
        std::min(rest_.find_first_not_of("+-.0123456789abcdefghijklmnopqrstuvwxyzE"), rest_.size());
    rest_.remove_prefix(end);
    return end != 0;
  }

 public:
  // The characters of a string with its quotes, in UTF-8. False if an escape is none.
  static bool decode(std::string_view quoted, std::string& out) {
    std::string_view rest = quoted.substr(1, quoted.size() - 2);
    while (!rest.empty()) {
      const std::size_t escape = std::min(rest.find('\\'), rest.size());
      out += rest.substr(0, escape);
      rest.remove_prefix(escape);
      if (rest.empty()) return true;
      if (!decode_escape(rest, out)) return false;
    }
    return true;
  }

 private:
  static bool decode_escape(std::string_view& rest, std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (rest.size() < 2) return false;
    const char letter = rest[1];
    rest.remove_prefix(2);
    if (const std::size_t at = kLetters.find(letter); at != std::string_view::npos) {
      out += kMeanings[at];
      return true;
    }
    if (letter != 'u') return false;
    auto point = hexadecimal(rest);
    if (!point) return false;
    // Two halves stand for a character beyond 16 bits. A half alone stays what it is, so that two
    // texts that differ remain different keys.
    if (*point >= 0xd800 && *point < 0xdc00 && rest.starts_with("\\u")) {
      std::string_view next = rest.substr(2);
      const auto low = hexadecimal(next);
      if (low && *low >= 0xdc00 && *low < 0xe000) {
        *point = 0x10000 + ((*point - 0xd800) << 10) + (*low - 0xdc00);
        rest = next;
      }
    }
    append_utf8(*point, out);
    return true;
  }
  static std::optional<std::uint32_t> hexadecimal(std::string_view& rest) {
    std::uint32_t value = 0;
    if (rest.size() < 4) return std::nullopt;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + 4, value, 16);
    if (error != std::errc{} || end != rest.data() + 4) return std::nullopt;
    rest.remove_prefix(4);
    return value;
  }
  static void append_utf8(std::uint32_t point, std::string& out) {
    const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (point < 0x80) {
      put(point);
    } else if (point < 0x800) {
      put(0xc0 | point >> 6);
      put(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
      put(0xe0 | point >> 12);
      put(0x80 | (point >> 6 & 0x3f));
      put(0x80 | (point & 0x3f));
    } else {
      put(0xf0 | point >> 18);
      put(0x80 | (point >> 12 & 0x3f));
      put(0x80 | (point >> 6 & 0x3f));
      put(0x80 | (point & 0x3f));
    }
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::string_view> find_in_json(std::string_view text,
                                             const std::vector<std::string>& steps, KeyRoom& room) {
  const auto value = Scanner(text).find(steps);
  if (!value || value->front() != '"') return value;
  if (value->find('\\') == std::string_view::npos) return value->substr(1, value->size() - 2);
  std::string& decoded = room.emplace_back();
  if (!Scanner::decode(*value, decoded)) return std::nullopt;
  return decoded;
}

}  // namespace probably::cli
