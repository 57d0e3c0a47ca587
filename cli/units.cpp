#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "trouble.hpp"

namespace probably::cli {
namespace {

constexpr double kTwoTo64 = 18446744073709551616.0;

struct Suffix {
  std::string_view text;  // in lower case
  double factor;
};

constexpr std::array kCounts{Suffix{"", 1},     Suffix{"k", 1e3},        Suffix{"thousand", 1e3},
                             Suffix{"m", 1e6},  Suffix{"million", 1e6},  Suffix{"g", 1e9},
                             Suffix{"b", 1e9},  Suffix{"bn", 1e9},       Suffix{"billion", 1e9},
                             Suffix{"t", 1e12}, Suffix{"trillion", 1e12}};
constexpr std::array kBytes{Suffix{"", 1},
                            Suffix{"b", 1},
                            Suffix{"byte", 1},
                            Suffix{"bytes", 1},
                            Suffix{"k", 1e3},
                            Suffix{"kb", 1e3},
                            Suffix{"kib", 1024.0},
                            Suffix{"m", 1e6},
                            Suffix{"mb", 1e6},
                            Suffix{"mib", 1048576.0},
                            Suffix{"g", 1e9},
                            Suffix{"gb", 1e9},
                            Suffix{"gib", 1073741824.0},
                            Suffix{"t", 1e12},
                            Suffix{"tb", 1e12},
                            Suffix{"tib", 1099511627776.0},
                            Suffix{"pb", 1e15},
                            Suffix{"pib", 1125899906842624.0},
                            Suffix{"eb", 1e18},
                            Suffix{"eib", 1152921504606846976.0}};
constexpr std::array kDays{
    Suffix{"s", 1.0 / 86400}, Suffix{"min", 1.0 / 1440}, Suffix{"h", 1.0 / 24},
    Suffix{"d", 1},           Suffix{"day", 1},          Suffix{"days", 1},
    Suffix{"w", 7},           Suffix{"week", 7},         Suffix{"weeks", 7},
    Suffix{"month", 30.4375}, Suffix{"months", 30.4375}, Suffix{"y", 365.25},
    Suffix{"year", 365.25},   Suffix{"years", 365.25}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether text[at] separates thousands, as in 10,000: behind one to three digits, or another group,
// and before exactly three. Everything else may be a decimal comma, which we do not guess at.
bool separates_thousands(std::string_view text, std::size_t at) {
  if (text[at] != ',' && text[at] != '_') return false;
  std::size_t begin = at;
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  const std::size_t before = at - begin;
  const bool follows_group = begin > 0 && (text[begin - 1] == ',' || text[begin - 1] == '_');
  const bool is_first = !follows_group && (begin == 0 || text[begin - 1] != '.');
  if (!(is_first && before >= 1 && before <= 3 && text[begin] != '0') &&
      !(follows_group && before == 3)) {
    return false;
  }
  std::size_t end = at + 1;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at - 1 == 3;
}

// Without blanks at either end, in lower case, without separators of thousands.
std::string plain(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (separates_thousands(text, at)) continue;
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(text[at])));
  }
  return out;
}

// A number that is not negative, and what follows it.
std::optional<std::pair<double, std::string_view>> leading_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || std::signbit(value)) return std::nullopt;
  std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  return std::pair(value, rest);
}

template <std::size_t N>
std::optional<double> number_with(std::string_view text, const std::array<Suffix, N>& suffixes) {
  const std::string clean = plain(text);
  const auto number = leading_number(clean);
  if (!number) return std::nullopt;
  const auto* const suffix = std::ranges::find(suffixes, number->second, &Suffix::text);
  if (suffix == suffixes.end()) return std::nullopt;
  return number->first * suffix->factor;
}

// Whole, and below 2^64.
std::optional<std::uint64_t> whole(std::optional<double> value) {
  if (!value) return std::nullopt;
  const double rounded = std::round(*value);
  if (rounded >= kTwoTo64 || std::abs(*value - rounded) > 1e-9 * rounded) return std::nullopt;
  return static_cast<std::uint64_t>(rounded);
}

// Numbers that a double cannot hold are taken as they are.
std::optional<std::uint64_t> digits_only(std::string_view text) {
  const std::string clean = plain(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(clean.data(), clean.data() + clean.size(), value);
  if (clean.empty() || error != std::errc{} || end != clean.data() + clean.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::uint64_t parse_count(std::string_view text) {
  if (const auto digits = digits_only(text)) return *digits;
  if (const auto count = whole(number_with(text, kCounts))) return *count;
  throw Trouble(fmt::format(
      "'{}' is not a number of things: write 250, 10,000, 1e9, 10M or '2.5 billion'.", text));
}

std::uint64_t parse_bytes(std::string_view text) {
  if (const auto digits = digits_only(text)) return *digits;
  if (const auto bytes = whole(number_with(text, kBytes))) return *bytes;
  throw Trouble(
      fmt::format("'{}' is not a number of bytes: write 4096, 64MiB, 1.5GB or 2G.", text));
}

double parse_rate(std::string_view text) {
  const std::string clean = plain(text);
  std::optional<double> rate;
  if (const auto number = leading_number(clean)) {
    const auto [value, rest] = *number;
    if (rest.empty()) {
      rate = value;
    } else if (rest == "%") {
      rate = value / 100;
    } else if (rest.starts_with("in ") || rest.starts_with("/")) {
      rate = number_with(rest.substr(rest.front() == '/' ? 1 : 3), kCounts);
      if (rate) rate = value / *rate;
    }
  }
  if (rate && *rate > 0 && *rate < 1) return *rate;
  throw Trouble(fmt::format(
      "'{}' is not a rate between 0 and 1: write 0.001, 0.1%, 1e-3 or '1 in 1,000'.", text));
}

double parse_share(std::string_view text) {
  const std::string clean = plain(text);
  if (const auto number = leading_number(clean)) {
    if (number->second.empty()) return number->first;
    if (number->second == "%") return number->first / 100;
  }
  throw Trouble(fmt::format("'{}' is not a share: write 20% or 0.2.", text));
}

double parse_days(std::string_view text) {
  if (const auto days = number_with(text, kDays)) return *days;
  throw Trouble(fmt::format("'{}' is not a time: write 12h, 7d, 4w or 1y.", text));
}

std::string show_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string show_count(double count) {
  if (!(count < kTwoTo64 / 2)) return fmt::format("{:.3g}", count);
  return show_count(static_cast<std::uint64_t>(std::llround(std::max(count, 0.0))));
}

std::string show_number(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", show_count(count), thing, count == 1 ? "" : "s");
}

std::string show_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes == 1) return "1 byte";
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // What would be shown as 1024 of a unit is one of the next.
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string show_percent(double share) {
  const double percent = share * 100;
  return percent != 0 && percent < 1e-4 ? fmt::format("{:.2e} %", percent)
                                        : fmt::format("{:.3g} %", percent);
}

std::string show_rate(double rate) {
  if (!(rate > 0)) return "0 %";
  if (rate >= 0.1) return show_percent(rate);
  return fmt::format("{} (1 in {})", show_percent(rate), show_count(1 / rate));
}

std::string show_seconds(double seconds) {
  if (seconds < 0.0995) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole_seconds = static_cast<std::uint64_t>(std::llround(seconds));
  const std::uint64_t minutes = whole_seconds / 60;
  if (minutes < 60) return fmt::format("{} min {} s", minutes, whole_seconds % 60);
  if (minutes < 48 * 60) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  return fmt::format("{} days", show_count(minutes / (24 * 60)));
}

}  // namespace probably::cli
