#include "probably/capacity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "probably/plan.hpp"

namespace probably {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::string error_of(const Growth& growth) {
  const auto keys = design_keys(growth);
  if (keys) return "no error";
  EXPECT_EQ(keys.error().code, ErrorCode::invalid_argument);
  return keys.error().message;
}

std::string error_of(const Usage& usage) {
  const auto result = outlook(usage);
  if (result) return "no error";
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  return result.error().message;
}

TEST(Capacity, PlansForGrowthAndHeadroom) {
  // 10 million, 40 % more each year, for two years, 20 % kept free: 10 * 1.96 * 1.2 million.
  const std::uint64_t keys =
      design_keys({.current_keys = 10'000'000, .yearly_growth = 0.4, .years = 2, .headroom = 0.2})
          .value();
  EXPECT_GE(keys, 23'520'000u);
  EXPECT_LE(keys, 23'520'001u);
  // What that costs in memory, at 1 %: 9.585 bits for each.
  EXPECT_NEAR(static_cast<double>(solve({.keys = keys, .fpr = 0.01}).value().bits) / 8e6, 28.18,
              0.01);
  EXPECT_EQ(design_keys({.current_keys = 100}).value(), 120u);
  EXPECT_EQ(design_keys({.current_keys = 100, .headroom = 0}).value(), 100u);
  EXPECT_EQ(
      design_keys({.current_keys = 100, .yearly_growth = 1, .years = 3, .headroom = 0}).value(),
      800u);
  EXPECT_EQ(design_keys({.current_keys = 3, .headroom = 0.5}).value(), 5u) << "rounds up";
  EXPECT_EQ(design_keys({.current_keys = kMaxKeys, .years = 0, .headroom = 0}).value(), kMaxKeys);
}

TEST(Capacity, AShrinkingSetStillNeedsTheRoomOfToday) {
  EXPECT_EQ(
      design_keys({.current_keys = 1'000, .yearly_growth = -0.5, .years = 5, .headroom = 0.25})
          .value(),
      1'250u);
}

TEST(Capacity, GrowthErrorsNameArgumentValueAndRange) {
  EXPECT_EQ(error_of(Growth{.current_keys = 0}),
            "current_keys is 0; accepted is 1 to 1000000000000000.");
  EXPECT_EQ(error_of(Growth{.current_keys = kMaxKeys + 1}),
            "current_keys is 1000000000000001; accepted is 1 to 1000000000000000.");
  EXPECT_EQ(error_of(Growth{.current_keys = 1, .yearly_growth = -1}),
            "yearly_growth is -1; accepted is -0.99 to 100 (0.4 is 40 % a year).");
  EXPECT_EQ(error_of(Growth{.current_keys = 1, .yearly_growth = 101}),
            "yearly_growth is 101; accepted is -0.99 to 100 (0.4 is 40 % a year).");
  EXPECT_EQ(error_of(Growth{.current_keys = 1, .years = -1}), "years is -1; accepted is 0 to 100.");
  EXPECT_EQ(error_of(Growth{.current_keys = 1, .years = 101}),
            "years is 101; accepted is 0 to 100.");
  EXPECT_EQ(error_of(Growth{.current_keys = 1, .headroom = -0.1}),
            "headroom is -0.1; accepted is 0 to 100 (0.2 is 20 %).");
  EXPECT_EQ(error_of(Growth{.current_keys = 1, .headroom = kNan}),
            "headroom is nan; accepted is 0 to 100 (0.2 is 20 %).");
  EXPECT_EQ(error_of(Growth{.current_keys = 1, .yearly_growth = kNan}),
            "yearly_growth is nan; accepted is -0.99 to 100 (0.4 is 40 % a year).");
  EXPECT_EQ(error_of(Growth{.current_keys = 1, .years = kNan}),
            "years is nan; accepted is 0 to 100.");
}

TEST(Capacity, AForecastBeyondAllFiltersIsAnError) {
  EXPECT_EQ(
      error_of(Growth{.current_keys = 1'000'000, .yearly_growth = 9, .years = 10, .headroom = 0}),
      "The forecast is 1e+16 keys, more than a filter can be planned for "
      "(1000000000000000). Plan for fewer years.");
  EXPECT_EQ(error_of(Growth{.current_keys = 1, .yearly_growth = 100, .years = 100}).substr(0, 12),
            "The forecast");
}

TEST(Capacity, TellsWhenAFilterIsFull) {
  const Outlook steady =
      outlook({.keys = 500'000, .age_days = 50, .design_keys = 1'500'000}).value();
  EXPECT_DOUBLE_EQ(steady.keys_per_day, 10'000);
  EXPECT_DOUBLE_EQ(steady.days_until_full, 100);
}

TEST(Capacity, AFullFilterIsFullNow) {
  for (const double yearly_growth : {0.0, 0.5, -0.5}) {
    const Outlook now =
        outlook(
            {.keys = 1'000, .age_days = 10, .design_keys = 1'000, .yearly_growth = yearly_growth})
            .value();
    EXPECT_EQ(now.days_until_full, 0) << yearly_growth;
    EXPECT_GT(now.keys_per_day, 0) << yearly_growth;
    EXPECT_EQ(
        outlook(
            {.keys = 9'999, .age_days = 10, .design_keys = 1'000, .yearly_growth = yearly_growth})
            .value()
            .days_until_full,
        0);
  }
}

TEST(Capacity, AnEmptyFilterNeverFills) {
  for (const double yearly_growth : {0.0, 0.5, -0.5}) {
    const Outlook never =
        outlook({.keys = 0, .age_days = 10, .design_keys = 1'000, .yearly_growth = yearly_growth})
            .value();
    EXPECT_EQ(never.keys_per_day, 0) << yearly_growth;
    EXPECT_EQ(never.days_until_full, kInfinite) << yearly_growth;
  }
}

// The keys that arrive in `days` when the pace is keys_per_day at their end, and grew up to it:
// summed in small steps, without the formula under test.
double arrivals(double keys_per_day, double yearly_growth, double from_day, double to_day) {
  const int steps = 100'000;
  const double step = (to_day - from_day) / steps;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double day = from_day + (i + 0.5) * step;
    sum += keys_per_day * std::pow(1 + yearly_growth, day / 365.25) * step;
  }
  return sum;
}

TEST(Capacity, TheOutlookAgreesWithItsOwnArrivals) {
  for (const double yearly_growth : {-0.3, -0.01, 0.01, 0.4, 3.0, 50.0}) {
    const Usage usage{.keys = 1'000'000,
                      .age_days = 200,
                      .design_keys = 2'000'000,
                      .yearly_growth = yearly_growth};
    const Outlook result = outlook(usage).value();
    EXPECT_NEAR(arrivals(result.keys_per_day, yearly_growth, -usage.age_days, 0), usage.keys,
                usage.keys * 1e-6)
        << yearly_growth;
    EXPECT_NEAR(arrivals(result.keys_per_day, yearly_growth, 0, result.days_until_full),
                usage.design_keys - usage.keys, usage.keys * 1e-6)
        << yearly_growth;
  }
}

TEST(Capacity, ADyingPaceMayNeverFill) {
  // Halving each year, the arrivals to come sum to less than 1.5 years of today's pace.
  const Usage usage{
      .keys = 1'000, .age_days = 365.25, .design_keys = 10'000, .yearly_growth = -0.5};
  EXPECT_EQ(outlook(usage).value().days_until_full, kInfinite);
}

TEST(Capacity, SlowGrowthIsNearlySteady) {
  const Outlook steady = outlook({.keys = 1e6, .age_days = 50, .design_keys = 3e6}).value();
  for (const double yearly_growth : {1e-6, -1e-6, 1e-12}) {
    const Outlook slow =
        outlook({.keys = 1e6, .age_days = 50, .design_keys = 3e6, .yearly_growth = yearly_growth})
            .value();
    EXPECT_NEAR(slow.keys_per_day, steady.keys_per_day, 0.01 * steady.keys_per_day);
    EXPECT_NEAR(slow.days_until_full, steady.days_until_full, 0.01 * steady.days_until_full);
  }
}

TEST(Capacity, UsageErrorsNameArgumentValueAndRange) {
  const Usage good{.keys = 1, .age_days = 1, .design_keys = 1};
  EXPECT_EQ(error_of(good), "no error");
  for (const double keys : {-1.0, 1e16}) {
    Usage usage = good;
    usage.keys = keys;
    EXPECT_EQ(error_of(usage),
              "keys is " + std::string(keys < 0 ? "-1" : "1e+16") + "; accepted is 0 to 1e+15.");
  }
  Usage usage = good;
  usage.age_days = 0;
  EXPECT_EQ(error_of(usage), "age_days is 0; accepted is 1e-09 to 1000000.");
  usage = good;
  usage.design_keys = 0;
  EXPECT_EQ(error_of(usage), "design_keys is 0; accepted is 1 to 1e+15.");
  usage = good;
  usage.yearly_growth = -1;
  EXPECT_EQ(error_of(usage), "yearly_growth is -1; accepted is -0.99 to 100 (0.4 is 40 % a year).");
  for (double Usage::*field :
       {&Usage::keys, &Usage::age_days, &Usage::design_keys, &Usage::yearly_growth}) {
    usage = good;
    usage.*field = kNan;
    EXPECT_NE(error_of(usage).find(" is nan; accepted is "), std::string::npos);
  }
}

// Growth that is next to none is none, however small the number.
TEST(Capacity, ADenormalGrowthIsASteadyPace) {
  Usage usage{.keys = 32.5, .age_days = 32.5, .design_keys = 32.5 + 1e-9, .yearly_growth = 0};
  const Outlook steady = outlook(usage).value();
  for (const double growth : {5e-324, 5e-315, 1e-300, -1e-300}) {
    usage.yearly_growth = growth;
    const Outlook result = outlook(usage).value();
    EXPECT_EQ(result.keys_per_day, steady.keys_per_day) << growth;
    EXPECT_EQ(result.days_until_full, steady.days_until_full) << growth;
  }
}

// An operator's year: plan, fill at the forecast pace, ask; the answer is the planned date.
TEST(Capacity, PlanAndOutlookMeet) {
  const std::uint64_t design =
      design_keys({.current_keys = 1'000'000, .yearly_growth = 1, .years = 1, .headroom = 0})
          .value();
  // The set doubles in a year, so arrivals grow as the set does. It holds 1,000,000 after a long
  // past.
  const Outlook result = outlook({.keys = 1'000'000,
                                  .age_days = 100 * 365.25,
                                  .design_keys = static_cast<double>(design),
                                  .yearly_growth = 1})
                             .value();
  EXPECT_NEAR(result.days_until_full, 365.25, 0.01);
}

}  // namespace
}  // namespace probably
