#include "demo/picture.hpp"

#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace probably::cli {
namespace {

using Places = DemoSet::Places;

// A bit's columns, of which the first is a gap.
std::size_t cell_columns(std::size_t width) {
  for (const std::size_t cell : {4u, 3u}) {
    if (width > cell * DemoSet::kBits) return cell;
  }
  return 2;
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

// One cell for each bit; content(bit) is ASCII, at most as wide as a cell without its gap, and
// dress puts it into colours.
std::string row(std::size_t cell, const std::function<std::string(unsigned)>& content,
                const std::function<std::string(unsigned, const std::string&)>& dress) {
  std::string line;
  for (unsigned bit = 0; bit < DemoSet::kBits; ++bit) {
    line += fmt::format(" {}", dress(bit, fmt::format("{:^{}}", content(bit), cell - 1)));
  }
  return line;
}

std::string row(std::size_t cell, const std::function<std::string(unsigned)>& content) {
  std::string line = row(cell, content, [](unsigned, const std::string& text) { return text; });
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// The numbers of the word's places that fall on this bit, counted from 1; * if there is no room.
std::string numbers_at(unsigned bit, const Places& places, std::size_t columns) {
  std::string digits;
  std::string with_commas;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] != bit) continue;
    with_commas += fmt::format("{}{}", with_commas.empty() ? "" : ",", i + 1);
    digits += std::to_string(i + 1);
  }
  if (with_commas.size() <= columns) return with_commas;
  return digits.size() <= columns ? digits : "*";
}

std::vector<std::string> numbered(std::size_t cell) {
  const auto units = [](unsigned bit) { return std::to_string(bit % 10); };
  const auto tens = [](unsigned bit) { return bit < 10 ? "" : std::to_string(bit / 10); };
  if (cell == 2) return {row(cell, tens), row(cell, units)};
  return {row(cell, [](unsigned bit) { return std::to_string(bit); })};
}

}  // namespace

std::vector<std::string> draw_bits(const DemoSet& set, const std::optional<Places>& marks,
                                   std::size_t width, const Paint& paint) {
  const std::size_t cell = cell_columns(width);
  std::vector<std::string> lines = numbered(cell);
  for (std::string& line : lines) line = paint.dim(line);

  const auto nothing = [](unsigned) { return std::string(); };
  const std::string blocks = row(cell, nothing, [&](unsigned bit, const std::string& blanks) {
    if (!set.is_lit(bit)) return paint.dim(repeated("░", blanks.size()));
    const std::string block = repeated("█", blanks.size());
    return set.is_fresh(bit) ? paint.yellow(block) : paint.green(block);
  });
  lines.insert(lines.end(), {blocks, blocks});

  const auto marked = [&](unsigned bit) {
    return marks ? numbers_at(bit, *marks, cell - 1) : std::string();
  };
  const auto in_color = [&](unsigned bit, const std::string& text) {
    return set.is_lit(bit) ? paint.bold(text) : paint.red(text);
  };
  lines.push_back(row(
      cell, [&](unsigned bit) { return marked(bit).empty() ? "" : "^"; },
      [&](unsigned bit, std::string text) {
        const std::size_t at = text.find('^');
        if (at == std::string::npos) return text;
        return in_color(bit, text.replace(at, 1, "↑"));
      }));
  lines.push_back(row(cell, marked, [&](unsigned bit, const std::string& text) {
    return marked(bit).empty() ? text : in_color(bit, text);
  }));
  return lines;
}

std::vector<std::string> draw_plain_bits(const DemoSet& set, const std::optional<Places>& marks) {
  constexpr std::size_t kCell = 4;
  std::vector<std::string> lines = numbered(kCell);
  lines.push_back(row(kCell, [&](unsigned bit) { return set.is_lit(bit) ? "#" : "."; }));
  if (marks) {
    lines.push_back(row(kCell, [&](unsigned bit) { return numbers_at(bit, *marks, kCell - 1); }));
  }
  return lines;
}

}  // namespace probably::cli
