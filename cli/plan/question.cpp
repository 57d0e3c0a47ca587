#include "plan/question.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "filters/filter_file.hpp"
#include "trouble.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

constexpr double kDaysPerYear = 365.25;
constexpr double kMonthsPerYear = 12;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 57;
// As design_keys() accepts them; here the messages name options.
constexpr double kMostGrowth = 100;
constexpr double kMostYears = 100;
constexpr double kMostHeadroom = 100;

void check_values(const PlanOptions& options) {
  if (options.keys && (*options.keys == 0 || *options.keys > kMaxKeys)) {
    throw Trouble(fmt::format("--keys {} cannot be planned for: from 1 to {}.",
                              show_count(*options.keys), show_count(kMaxKeys)));
  }
  if (options.fpr && !(*options.fpr >= kMinFpr && *options.fpr <= kMaxFpr)) {
    throw Trouble(fmt::format("--fpr {} cannot be planned for: from {:g} (1 in {}) to {}.",
                              rate_argument(*options.fpr), kMinFpr, show_count(1 / kMinFpr),
                              show_percent(kMaxFpr)));
  }
  if (options.bytes && (*options.bytes == 0 || *options.bytes > kMaxBytes)) {
    throw Trouble(fmt::format("--memory {} cannot be planned with: from 1 byte to {}.",
                              show_bytes(*options.bytes), show_bytes(kMaxBytes)));
  }
}

void check_growth(const PlanOptions& options) {
  if (options.days && !options.yearly_growth) {
    throw Trouble("--for says how long the keys grow: add --growth, for example --growth 40%.");
  }
  if ((options.yearly_growth || options.headroom) && !options.keys) {
    throw Trouble(fmt::format("{} turns the keys of today into those to plan for: add --keys.",
                              options.yearly_growth ? "--growth" : "--headroom"));
  }
  if (options.yearly_growth.value_or(0) > kMostGrowth) {
    throw Trouble(fmt::format("--growth goes up to {:.0f}% a year.", kMostGrowth * 100));
  }
  if (options.days.value_or(0) > kMostYears * kDaysPerYear) {
    throw Trouble(fmt::format("--for goes up to {} years.", kMostYears));
  }
  if (options.headroom.value_or(0) > kMostHeadroom) {
    throw Trouble(fmt::format("--headroom goes up to {:.0f}%.", kMostHeadroom * 100));
  }
}

std::optional<Growth> growth_of(const PlanOptions& options) {
  if (!options.yearly_growth && !options.headroom) return std::nullopt;
  return Growth{.current_keys = *options.keys,
                .yearly_growth = options.yearly_growth.value_or(0),
                .years = options.days.value_or(kDaysPerYear) / kDaysPerYear,
                .headroom = options.headroom.value_or(0)};
}

Milestone milestone(const Growth& growth, double years) {
  Growth until = growth;
  until.years = years;
  until.headroom = 0;
  return {years, expect(design_keys(until))};
}

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

// The largest unit that leaves a short whole number.
template <std::size_t N>
std::string in_units(std::uint64_t number, const std::array<Unit, N>& units) {
  constexpr std::uint64_t kShort = 100'000;
  for (const Unit& unit : units) {
    if (number % unit.size == 0 && number / unit.size < kShort && number != 0) {
      return fmt::format("{}{}", number / unit.size, unit.name);
    }
  }
  return fmt::format("{}", number);
}

}  // namespace

Question question_of(const PlanOptions& options) {
  check_values(options);
  check_growth(options);
  if (!options.keys && !options.bytes) {
    throw Trouble(options.fpr ? "A rate alone decides nothing: add --keys or --memory."
                              : "Say what you know: --keys 10M, or --memory 64MiB, or both; and "
                                "--fpr 0.1% with one of them.");
  }
  Question question;
  question.growth = growth_of(options);
  Plan& plan = question.plan;
  plan.keys = question.growth ? expect(design_keys(*question.growth)) : options.keys.value_or(0);
  plan.size_bytes = options.bytes.value_or(0);
  if (options.keys && options.bytes && !options.fpr) {
    question.unknown = Unknown::rate;
    return question;
  }
  question.unknown = options.keys ? Unknown::memory : Unknown::keys;
  question.has_default_fpr = !options.fpr;
  plan.fpr = options.fpr.value_or(kDefaultFpr);
  return question;
}

std::vector<Milestone> forecast(const Growth& growth) {
  constexpr double kMostSteps = 6;
  constexpr std::array kSteps{1 / kDaysPerYear,
                              7 / kDaysPerYear,
                              1 / kMonthsPerYear,
                              3 / kMonthsPerYear,
                              1.0,
                              2.0,
                              5.0,
                              10.0,
                              20.0};
  double step = kSteps.back();
  for (std::size_t i = kSteps.size(); i-- > 0;) {
    if (growth.years / kSteps[i] <= kMostSteps) step = kSteps[i];
  }
  std::vector<Milestone> milestones{milestone(growth, 0)};
  if (growth.yearly_growth <= 0) return milestones;
  // A last step of next to nothing is none.
  for (int i = 1; i * step < growth.years - step / 100; ++i) {
    milestones.push_back(milestone(growth, i * step));
  }
  if (growth.years > 0) milestones.push_back(milestone(growth, growth.years));
  return milestones;
}

std::string show_years(double years) {
  const auto with_unit = [](double number, std::string_view unit) {
    const std::string digits = fmt::format("{:.3g}", number);
    return fmt::format("{} {}{}", digits, unit, digits == "1" ? "" : "s");
  };
  const double months = years * kMonthsPerYear;
  if (std::abs(years - std::round(years)) < 0.005 && years > 0.5) return with_unit(years, "year");
  if (months >= 36) return with_unit(years, "year");
  if (std::abs(months - std::round(months)) < 0.005 && months > 0.5) {
    return with_unit(months, "month");
  }
  const double days = years * kDaysPerYear;
  return days >= 1 ? with_unit(days, "day") : with_unit(days * 24, "hour");
}

std::string show_keys(std::uint64_t keys) { return show_number(keys, "key"); }

std::string count_argument(std::uint64_t count) {
  return in_units(count, std::array{Unit{"T", 1'000'000'000'000}, Unit{"G", 1'000'000'000},
                                    Unit{"M", 1'000'000}, Unit{"k", 1'000}});
}

std::string bytes_argument(std::uint64_t bytes) {
  return in_units(
      bytes, std::array{Unit{"TiB", std::uint64_t{1} << 40}, Unit{"GiB", std::uint64_t{1} << 30},
                        Unit{"MiB", std::uint64_t{1} << 20}, Unit{"KiB", 1024},
                        Unit{"TB", 1'000'000'000'000}, Unit{"GB", 1'000'000'000},
                        Unit{"MB", 1'000'000}, Unit{"kB", 1'000}});
}

std::string rate_argument(double rate) {
  for (int digits = 1; digits <= 4 && rate >= 1e-6; ++digits) {
    std::string percent = fmt::format("{:.{}g}%", rate * 100, digits);
    const bool is_plain = percent.find('e') == std::string::npos;
    if (is_plain && parse_rate(percent) == rate) return percent;
  }
  return fmt::format("{}", rate);
}

}  // namespace probably::cli
