#include "plan/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "units.hpp"

namespace probably::cli {
namespace {

constexpr std::size_t kSamples = 300;

Curve lower_bound(const Picture& picture, std::uint64_t keys) {
  const double bits_per_key = picture.most_bytes * 8 / static_cast<double>(keys);
  return {
      "lower bound", Stroke::dotted, {{0, 0}, {picture.most_bytes, -bits_per_key * std::log10(2)}}};
}

// What the kind itself makes of each amount of memory.
Curve curve_of(Kind kind, Stroke stroke, const Picture& picture, std::uint64_t keys) {
  Curve curve{std::string(probably::name(kind)), stroke, {}};
  for (std::size_t i = 1; i <= kSamples; ++i) {
    const double bytes = picture.most_bytes * static_cast<double>(i) / kSamples;
    const auto rate = rate_in(kind, keys, static_cast<std::uint64_t>(bytes));
    if (rate && *rate > 0) curve.points.push_back({bytes, std::log10(*rate)});
  }
  return curve;
}

// 1, 2 or 5 times a power of ten, such that so many steps or fewer make the whole.
double even_step(double whole, double at_most) {
  const double least = whole / at_most;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

// 1 in 10k
std::string one_in(double log_rate) {
  constexpr std::array<std::string_view, 5> kThousands{"", "k", "M", "G", "T"};
  const auto zeros = static_cast<std::size_t>(std::lround(-log_rate));
  if (zeros / 3 >= kThousands.size()) return fmt::format("1 in 1e{}", zeros);
  return fmt::format("1 in 1{}{}", std::string(zeros % 3, '0'), kThousands[zeros / 3]);
}

}  // namespace

Picture picture_of(const Offer& chosen) {
  Picture picture;
  picture.title = fmt::format("The rate against the memory, for {}", show_keys(chosen.keys));
  // Room to the right and below, for what more memory would bring.
  picture.most_bytes = std::max(64.0, static_cast<double>(chosen.bytes)) * 1.6;
  picture.chosen = {static_cast<double>(chosen.bytes), std::log10(chosen.fpr)};
  picture.least_log_rate = std::floor(picture.chosen.log_rate * 1.3 - 0.7);
  picture.chosen_kind = probably::name(chosen.kind);
  picture.chosen_label = fmt::format("{}, {}", show_bytes(chosen.bytes), show_percent(chosen.fpr));
  picture.curves.push_back(lower_bound(picture, chosen.keys));
  picture.curves.push_back(curve_of(Kind::bloom, Stroke::dashed, picture, chosen.keys));
  picture.curves.push_back(curve_of(Kind::blocked, Stroke::solid, picture, chosen.keys));
  if (chosen.kind != Kind::bloom && chosen.kind != Kind::blocked) {
    picture.curves.push_back(curve_of(chosen.kind, Stroke::dash_dotted, picture, chosen.keys));
  }
  // Kinds that take no memory have no curve.
  std::erase_if(picture.curves, [](const Curve& curve) { return curve.points.empty(); });
  return picture;
}

std::vector<Tick> rate_ticks(const Picture& picture, std::size_t at_most) {
  const double step =
      std::max(1.0, std::ceil(-picture.least_log_rate / static_cast<double>(at_most)));
  std::vector<Tick> ticks;
  for (double place = 0; place >= picture.least_log_rate; place -= step) {
    ticks.push_back({place, one_in(place)});
  }
  return ticks;
}

std::vector<Tick> memory_ticks(const Picture& picture, std::size_t at_most) {
  constexpr std::array<std::string_view, 7> kUnits{"bytes", "KiB", "MiB", "GiB",
                                                   "TiB",   "PiB", "EiB"};
  double unit = 1;
  std::size_t number = 0;
  for (; picture.most_bytes / unit >= 1024 && number + 1 < kUnits.size(); ++number) unit *= 1024;
  const double step = even_step(picture.most_bytes / unit, static_cast<double>(at_most));
  std::vector<Tick> ticks{{0, "0"}};
  for (int i = 1; i * step * unit <= picture.most_bytes; ++i) {
    ticks.push_back({i * step * unit, fmt::format("{:g} {}", i * step, kUnits[number])});
  }
  return ticks;
}

}  // namespace probably::cli
