#include "probably/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "probably/plan.hpp"
#include "text.hpp"

namespace probably {
namespace {

using detail::domain_error;
using detail::text;

constexpr double kDaysPerYear = 365.25;

// Written so that NaN is outside of every range.
bool within(double value, double low, double high) noexcept {
  return value >= low && value <= high;
}

}  // namespace

Result<std::uint64_t> design_keys(const Growth& growth) {
  if (growth.current_keys < 1 || growth.current_keys > kMaxKeys) {
    return domain_error("current_keys", growth.current_keys, "1 to " + text(kMaxKeys));
  }
  if (!within(growth.yearly_growth, -0.99, 100)) {
    return domain_error("yearly_growth", growth.yearly_growth, "-0.99 to 100 (0.4 is 40 % a year)");
  }
  if (!within(growth.years, 0, 100)) return domain_error("years", growth.years, "0 to 100");
  if (!within(growth.headroom, 0, 100)) {
    return domain_error("headroom", growth.headroom, "0 to 100 (0.2 is 20 %)");
  }
  // A Bloom filter never shrinks: with a shrinking set it still holds the keys of today.
  const double factor = std::max(1.0, std::pow(1 + growth.yearly_growth, growth.years));
  const double keys =
      std::ceil(static_cast<double>(growth.current_keys) * factor * (1 + growth.headroom));
  if (keys > static_cast<double>(kMaxKeys)) {
    return Error{ErrorCode::invalid_argument, "The forecast is " + text(keys) +
                                                  " keys, more than a filter can be planned for (" +
                                                  text(kMaxKeys) + "). Plan for fewer years."};
  }
  return static_cast<std::uint64_t>(keys);
}

Result<Outlook> outlook(const Usage& usage) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const auto max_keys = static_cast<double>(kMaxKeys);
  if (!within(usage.keys, 0, max_keys))
    return domain_error("keys", usage.keys, "0 to " + text(max_keys));
  if (!within(usage.age_days, 1e-9, 1e6))
    return domain_error("age_days", usage.age_days, "1e-09 to 1000000");
  if (!within(usage.design_keys, 1, max_keys)) {
    return domain_error("design_keys", usage.design_keys, "1 to " + text(max_keys));
  }
  if (!within(usage.yearly_growth, -0.99, 100)) {
    return domain_error("yearly_growth", usage.yearly_growth, "-0.99 to 100 (0.4 is 40 % a year)");
  }
  // Arrivals at time t run at pace r e^(gt); the keys so far are their integral from 0 to the age.
  const double g = std::log1p(usage.yearly_growth) / kDaysPerYear;
  const double remaining = usage.design_keys - usage.keys;
  Outlook out;
  // A growth this slow changes nothing within a million years, and its products would underflow.
  if (std::abs(g) < 1e-15) {
    out.keys_per_day = usage.keys / usage.age_days;
    out.days_until_full = remaining / out.keys_per_day;
  } else {
    out.keys_per_day = usage.keys * g / -std::expm1(-g * usage.age_days);
    const double growth_needed = remaining * g / out.keys_per_day;
    out.days_until_full = growth_needed <= -1 ? kInfinite : std::log1p(growth_needed) / g;
  }
  if (remaining <= 0) {
    out.days_until_full = 0;
  } else if (usage.keys == 0) {
    out.days_until_full = kInfinite;
  }
  return out;
}

}  // namespace probably
