// The arithmetic that kinds share: searching a geometry, and the statistics of bits thrown into
// cells.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "probably/plan.hpp"
#include "probably/result.hpp"
#include "text.hpp"

namespace probably::detail {

// The chance that an absent key has the very digest of one of n keys: no filter on 64-bit digests
// does better.
inline double digest_collision_fpr(std::uint64_t keys) noexcept {
  return static_cast<double>(keys) * 0x1p-64;
}

// 1 - (1 - 1/cells)^throws: the chance that a cell is hit.
inline double hit_chance(double cells, double throws) noexcept {
  if (cells <= 1) return throws > 0 ? 1 : 0;
  return -std::expm1(throws * std::log1p(-1 / cells));
}

// The least x from `low` on for which good(x) holds, given that it holds for all x beyond some
// point; limit + 1 when that point lies beyond the limit. `guess` speeds up the search.
template <class Good>
std::uint64_t least(std::uint64_t low, std::uint64_t guess, std::uint64_t limit, Good&& good) {
  std::uint64_t high = std::clamp(guess, low, limit);
  while (!good(high)) {
    if (high == limit) return limit + 1;
    low = high + 1;
    high = high > limit / 2 ? limit : high * 2;
  }
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (good(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

// The most keys, up to kMaxKeys, at which predict(keys), which grows with them, is at most `rate`;
// none at a rate that is no number.
template <class Predict>
std::uint64_t most_keys(double rate, Predict&& predict) {
  return least(0, 1024, kMaxKeys - 1,
               [&](std::uint64_t keys) { return !(predict(keys + 1) <= rate); });
}

// Whether a plan limits the memory. A budget of less than a bit does, too, though granted_bits() is
// 0.
inline bool has_budget(const Plan& plan) noexcept {
  return plan.bits_per_key != 0 || plan.size_bytes != 0;
}

// How many units (bits, lines, blocks) of `unit_bits` bits a valid plan asks for, where
// predict(units, keys) is the rate. From keys and a rate: the fewest that keep it, whatever the
// budget; from a budget: all that fit, which are then units of whole bytes.
template <class Predict>
Result<std::uint64_t> units_for(const Plan& plan, std::uint64_t unit_bits, std::uint64_t max_units,
                                Predict&& predict) {
  const std::uint64_t granted = granted_bits(plan);
  if (plan.keys == 0 || plan.fpr == 0) {
    const std::uint64_t max_bits = max_units * unit_bits;
    if (granted >= unit_bits && granted <= max_bits) return granted / unit_bits;
    return Error{ErrorCode::invalid_argument, "The memory granted is " + text(granted / 8) +
                                                  " bytes; accepted is " + text(unit_bits / 8) +
                                                  " to " + text(max_bits / 8) + " bytes."};
  }
  const std::uint64_t guess = textbook_bits(plan.keys, plan.fpr) / unit_bits;
  const std::uint64_t units = least(
      1, guess, max_units, [&](std::uint64_t n) { return predict(n, plan.keys) <= plan.fpr; });
  if (units > max_units) {
    return Error{
        ErrorCode::invalid_argument,
        "A rate of " + text(plan.fpr) + " for " + text(plan.keys) +
            " keys is out of reach of this kind; with the most memory it can use, the rate is " +
            text(predict(max_units, plan.keys)) + "."};
  }
  return units;
}

// Refuses bits that a plan with keys, rate and memory does not pay for. Called with the best
// geometry that was found, so that the error names the least memory that would do.
inline Result<void> within_budget(const Plan& plan, std::uint64_t bits) {
  const std::uint64_t granted = granted_bits(plan);
  if (!has_budget(plan) || bits <= granted) return {};
  return Error{ErrorCode::invalid_argument, text(plan.keys) + " keys at a rate of " +
                                                text(plan.fpr) + " need " + text((bits + 7) / 8) +
                                                " bytes, more than the " + text(granted / 8) +
                                                " granted."};
}

// What a plan of keys and memory gets whose rate no plan could ask for.
inline Error too_little_memory(const Plan& plan, double fpr, std::uint64_t enough_bytes) {
  return {ErrorCode::invalid_argument, text(plan.keys) + " keys in " +
                                           text(granted_bits(plan) / 8) + " bytes give a rate of " +
                                           text(fpr) + "; accepted is at most " + text(kMaxFpr) +
                                           ". " + text(enough_bytes) + " bytes would do."};
}

// The best params that were found for a plan, unless they cost more than it grants or give a rate
// above all that a plan may ask for.
template <class Params>
Result<Params> checked(const Plan& plan, const Params& best) {
  if (auto paid = within_budget(plan, best.size_bytes() * 8); !paid) return paid.error();
  if (plan.fpr != 0 || best.fpr(plan.keys) <= kMaxFpr) return best;
  const auto enough = Params::from({.keys = plan.keys, .fpr = kMaxFpr, .hashes = plan.hashes});
  if (!enough) return enough.error();
  return too_little_memory(plan, best.fpr(plan.keys), enough->size_bytes());
}

// The mean of rate(load) over the loads of blocks when keys fall into them at random: the binomial
// distribution, which for many blocks is Poisson's. Weights are built outwards from the mode,
// relative to it, so nothing over- or underflows; the tails end where even a rate of 1 adds
// nothing.
template <class Rate>
double mean_over_block_loads(std::uint64_t keys, std::uint64_t blocks, Rate&& rate) {
  if (blocks == 1) return rate(static_cast<double>(keys));
  const auto n = static_cast<double>(keys);
  const double odds = 1 / (static_cast<double>(blocks) - 1);
  const double mode = std::floor((n + 1) / static_cast<double>(blocks));
  constexpr double kNothing = 1e-24;
  double weights = 0;
  double sum = 0;
  for (double load = mode, weight = 1; weight > kNothing && load <= n; ++load) {
    weights += weight;
    sum += weight * rate(load);
    weight *= (n - load) / (load + 1) * odds;
  }
  for (double load = mode, weight = 1; load >= 1;) {
    weight *= load / ((n - load + 1) * odds);
    --load;
    if (weight <= kNothing) break;
    weights += weight;
    sum += weight * rate(load);
  }
  return sum / weights;
}

// A filter's bits as a game of throws: `slices` sets of `cells` cells, into each of which a key
// throws `throws_per_key` times. In blocked kinds all of a key's throws share one of `blocks`
// blocks; 0 means no blocks.
struct Occupancy {
  std::uint64_t slices = 1;
  std::uint64_t cells = 1;
  std::uint64_t throws_per_key = 1;
  std::uint64_t blocks = 0;

  // Keys judged by the number of set cells: the inversion of the expected fill (Swamidass and
  // Baldi, 2007). The standard error comes of the variance of the number of empty cells (Whang et
  // al., 1990, "linear counting"), summed over the slices. Slices are independent but for the block
  // loads that they share: the second term.
  [[nodiscard]] Estimate estimate_keys(std::uint64_t set_cells) const noexcept {
    const auto m = static_cast<double>(cells);
    const auto s = static_cast<double>(slices);
    const auto t = static_cast<double>(throws_per_key);
    const double empty = 1 - static_cast<double>(set_cells) / (s * m);
    if (empty <= 0) {
      return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    }
    if (set_cells == 0) return {0, 0};
    const double keys = cells == 1 ? 0 : std::log(empty) / std::log1p(-1 / m) / t;
    const double load = keys * t / m;
    double variance = s * m * empty * (1 - (1 + load) * empty);
    if (blocks > 1) {
      const double cells_per_block = m / static_cast<double>(blocks);
      const double x = keys / static_cast<double>(blocks) / (cells_per_block * cells_per_block);
      variance += s * (s - 1) * static_cast<double>(blocks) * cells_per_block * cells_per_block *
                  empty * empty * (std::expm1(x) - x);
    }
    return {keys, std::sqrt(std::max(variance, 0.0)) / (s * t * empty)};
  }
};

}  // namespace probably::detail
