// Capacity planning as operators do it: how large must a filter be to last, and when is this one
// full?
//
// Concurrency: values and pure functions.
#pragma once

#include <cstdint>

#include "probably/result.hpp"

namespace probably {

// How the set of keys grows.
struct Growth {
  std::uint64_t current_keys = 0;  // at least 1
  double yearly_growth = 0;        // 0.4 means 40 % more keys each year, compounded; -0.99 to 100
  double years = 1;                // until the next rebuild; 0 to 100
  double headroom = 0.2;           // kept free on top of the forecast, for bad forecasts; 0 to 100
};

// The keys to plan for: current * (1 + yearly_growth)^years * (1 + headroom), rounded up, never
// fewer than the current keys with headroom. Fails with invalid_argument outside the ranges above
// or above kMaxKeys.
Result<std::uint64_t> design_keys(const Growth& growth);

// How far a filter in use has come.
struct Usage {
  double keys = 0;         // inserted so far: a count, or approximate_size().value
  double age_days = 0;     // since the filter was empty; above 0
  double design_keys = 0;  // where the promised rate ends; above 0
  double yearly_growth =
      0;  // of the arrival rate, compounded; 0 means keys arrive at a steady pace
};

struct Outlook {
  double keys_per_day = 0;     // the pace of arrivals now
  double days_until_full = 0;  // 0 when full already, infinite when that pace never fills it
};

// When is the filter full? Extrapolates the arrivals so far: at a steady pace, or at one that grows
// by yearly_growth. Fails with invalid_argument outside the domains above.
Result<Outlook> outlook(const Usage& usage);

}  // namespace probably
