#include "terminal/visible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace probably::cli {
namespace {

struct Glyph {
  std::string text;
  std::size_t width;
};

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t N>
bool is_in(char32_t point, const std::array<Range, N>& ranges) {
  return std::ranges::any_of(
      ranges, [&](const Range& range) { return point >= range.first && point <= range.last; });
}

// Coarse, and right for what people type: marks that sit on the character before, and the blocks of
// East Asian characters and of pictures.
constexpr std::array kZeroWide{Range{0x300, 0x36f},   Range{0x483, 0x489},   Range{0x591, 0x5bd},
                               Range{0x610, 0x61a},   Range{0x64b, 0x65f},   Range{0x93c, 0x93c},
                               Range{0x941, 0x948},   Range{0x94d, 0x94d},   Range{0xe31, 0xe31},
                               Range{0xe34, 0xe3a},   Range{0xe47, 0xe4e},   Range{0x1ab0, 0x1aff},
                               Range{0x1dc0, 0x1dff}, Range{0x200b, 0x200d}, Range{0x20d0, 0x20ff},
                               Range{0xfe00, 0xfe0f}, Range{0xfe20, 0xfe2f}};
constexpr std::array kTwoWide{
    Range{0x1100, 0x115f},   Range{0x2e80, 0xa4cf},   Range{0xa960, 0xa97c},
    Range{0xac00, 0xd7a3},   Range{0xf900, 0xfaff},   Range{0xfe30, 0xfe6f},
    Range{0xff00, 0xff60},   Range{0xffe0, 0xffe6},   Range{0x1f300, 0x1f64f},
    Range{0x1f680, 0x1f6ff}, Range{0x1f900, 0x1faff}, Range{0x20000, 0x3fffd}};
// Controls, and what turns the direction of the text around it or breaks its line.
constexpr std::array kUnseen{Range{0, 0x1f},          Range{0x7f, 0x9f},     Range{0xad, 0xad},
                             Range{0x200e, 0x200f},   Range{0x2028, 0x202e}, Range{0x2060, 0x206f},
                             Range{0xd800, 0xdfff},   Range{0xfeff, 0xfeff}, Range{0xfff0, 0xfffb},
                             Range{0xe0000, 0x10ffff}};

// How many bytes a character has that begins with this one; 0 if none does.
std::size_t length_of(unsigned char first) noexcept {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xf0 && first < 0xf5) return 4;
  return 0;
}

// The character at the beginning, and how many bytes it has; 0 if there is none.
std::pair<char32_t, std::size_t> decode(std::string_view bytes) noexcept {
  const auto first = static_cast<unsigned char>(bytes.front());
  const std::size_t length = length_of(first);
  if (length == 0 || length > bytes.size()) return {0, 0};
  if (length == 1) return {first, 1};
  char32_t point = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(bytes[i]);
    if ((next & 0xc0u) != 0x80) return {0, 0};
    point = point << 6 | (next & 0x3fu);
  }
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  if (point < kLeast[length] || point > 0x10ffff) return {0, 0};
  return {point, length};
}

Glyph take_glyph(std::string_view& bytes) {
  const auto [point, decoded] = decode(bytes);
  const std::size_t length = std::max<std::size_t>(decoded, 1);
  const std::string_view taken = bytes.substr(0, length);
  bytes.remove_prefix(length);
  if (decoded == 0 || is_in(point, kUnseen)) {
    std::string text;
    for (const char c : taken) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    return {text, text.size()};
  }
  const std::size_t width = is_in(point, kZeroWide) ? 0 : is_in(point, kTwoWide) ? 2 : 1;
  return {std::string(taken), width};
}

std::vector<Glyph> glyphs_of(std::string_view bytes) {
  std::vector<Glyph> glyphs;
  while (!bytes.empty()) glyphs.push_back(take_glyph(bytes));
  return glyphs;
}

std::size_t width_of(const std::vector<Glyph>& glyphs) {
  std::size_t sum = 0;
  for (const Glyph& glyph : glyphs) sum += glyph.width;
  return sum;
}

}  // namespace

std::string visible(std::string_view bytes, std::size_t max_columns) {
  const std::vector<Glyph> glyphs = glyphs_of(bytes);
  const bool fits = width_of(glyphs) <= max_columns;
  std::size_t room = fits ? max_columns : std::max<std::size_t>(max_columns, 1) - 1;
  std::string text;
  for (const Glyph& glyph : glyphs) {
    if (glyph.width > room) break;
    room -= glyph.width;
    text += glyph.text;
  }
  return fits ? text : text + "…";
}

std::string visible_end(std::string_view bytes, std::size_t max_columns) {
  const std::vector<Glyph> glyphs = glyphs_of(bytes);
  if (width_of(glyphs) <= max_columns) return visible(bytes, max_columns);
  std::size_t room = std::max<std::size_t>(max_columns, 1) - 1;
  std::size_t first = glyphs.size();
  while (first > 0 && glyphs[first - 1].width <= room) room -= glyphs[--first].width;
  std::string text = "…";
  for (; first < glyphs.size(); ++first) text += glyphs[first].text;
  return text;
}

std::string as_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const auto [point, length] = decode(bytes);
    text += length == 0 ? std::string_view("\xef\xbf\xbd") : bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

std::size_t columns(std::string_view text) { return width_of(glyphs_of(text)); }

std::vector<std::string> wrapped(std::string_view text, std::size_t max_columns) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && columns(line) + 1 + columns(word) > max_columns) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  lines.push_back(std::move(line));
  return lines;
}

}  // namespace probably::cli
