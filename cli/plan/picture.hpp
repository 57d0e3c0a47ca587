// The rate against the memory, drawn for a terminal or as SVG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/offers.hpp"
#include "terminal/terminal.hpp"

namespace probably::cli {

enum class Stroke : std::uint8_t { dotted, dashed, solid, dash_dotted };

struct PicturePoint {
  double bytes = 0;
  double log_rate = 0;  // to the base of 10
};

struct Curve {
  std::string name;
  Stroke stroke{};
  std::vector<PicturePoint> points;  // from left to right
};

struct Tick {
  double place = 0;  // in the units of its axis
  std::string label;
};

// What both drawings show. The axes go from 0 bytes to most_bytes, and from a rate of 1 down to
// 10^least_log_rate.
struct Picture {
  std::string title;
  double most_bytes = 0;
  double least_log_rate = 0;
  std::vector<Curve> curves;
  PicturePoint chosen;
  std::string chosen_kind;
  std::string chosen_label;
};

[[nodiscard]] Picture picture_of(const Offer& chosen);
[[nodiscard]] std::vector<Tick> rate_ticks(const Picture& picture, std::size_t at_most);
[[nodiscard]] std::vector<Tick> memory_ticks(const Picture& picture, std::size_t at_most);

// Lines of at most `width` columns, in Braille dots.
[[nodiscard]] std::string as_lines(const Picture& picture, const Paint& paint, std::size_t width);
[[nodiscard]] std::string as_svg(const Picture& picture);

}  // namespace probably::cli
