#include "probably/bloom.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "bit_filter_impl.hpp"

namespace probably {
namespace {

constexpr std::uint64_t kMaxBits = std::uint64_t{1} << 60;
constexpr std::uint32_t kMaxHashes = 64;
// Below one cache line nothing is saved.
constexpr std::uint64_t kLeastPlannedBits = 512;

// The mean of fill^k, exactly: the chance that k throws hit only places that the other throws hit.
// The order does not matter, so the k come first: the distribution of how many different places
// they hit, and then, throw by throw, of how many of these are still to be hit again. The answer is
// the chance that none is left.
double exact_mean_power(double cells, std::uint32_t hashes, std::uint64_t throws) noexcept {
  std::array<double, kMaxHashes + 2> hit;  // the chance that a throw hits one of so many places
  for (std::uint32_t i = 0; i < hit.size(); ++i) hit[i] = i / cells;
  std::array<double, kMaxHashes + 2> chance{1};  // of so many places
  for (std::uint32_t i = 0; i < hashes; ++i) {
    for (std::uint32_t places = hashes; places >= 1; --places) {
      chance[places] = chance[places] * hit[places] + chance[places - 1] * (1 - hit[places - 1]);
    }
    chance[0] = 0;
  }
  for (std::uint64_t i = 0; i < throws; ++i) {
    for (std::uint32_t places = 0; places <= hashes; ++places) {
      chance[places] = chance[places] * (1 - hit[places]) + chance[places + 1] * hit[places + 1];
    }
  }
  return chance[0];
}

// The standard formula takes the fill for its mean. The mean of fill^k is larger (Bose et al.,
// 2008): to the second order by the factor 1 + excess, and by e^excess if the logarithm of the fill
// is about normal. That holds to 0.1 %, and never falls short by more than 10^-8, where the throws
// are many and the excess is small. Elsewhere the mean is exact; since the excess is below
// k^2 / (8 throws), that takes at most 4 k^3 steps, or 4096 k.
double predicted_fpr(std::uint64_t bits, std::uint32_t hashes, std::uint64_t keys) noexcept {
  constexpr double kFewThrows = 4096;
  constexpr double kLargeExcess = 1.0 / 32;
  if (keys == 0) return 0;
  const auto m = static_cast<double>(bits);
  const double throws = static_cast<double>(keys) * hashes;
  const double fill = detail::hit_chance(m, throws);
  const double empty = 1 - fill;
  if (empty <= 0) return 1;
  const double variance = std::max(0.0, empty * (1 - (1 + throws / m) * empty) / m);
  const double excess = hashes * (hashes - 1.0) / 2 * variance / (fill * fill);
  const bool is_exact = hashes <= kMaxHashes && (throws <= kFewThrows || excess > kLargeExcess);
  const double rate = is_exact ? exact_mean_power(m, hashes, keys * hashes)
                               : std::pow(fill, hashes) * std::exp(excess);
  return std::min(1.0, rate + detail::digest_collision_fpr(keys));
}

// Around which number of hashes to look for the best one, and at which number of keys.
Result<Solution> ideal_for(const Plan& plan) {
  if (plan.keys == 0) return solve(plan);
  if (plan.fpr != 0) return solve({.keys = plan.keys, .fpr = plan.fpr, .hashes = plan.hashes});
  return Solution{.keys = plan.keys, .hashes = textbook_hashes(granted_bits(plan), plan.keys)};
}

}  // namespace

Result<BloomParams> BloomParams::from(const Plan& plan) {
  if (auto valid = probably::validate(plan); !valid) return valid.error();
  const auto ideal = ideal_for(plan);
  if (!ideal) return ideal.error();
  // A rate takes any number of bits, a budget pays for whole words.
  const bool rate_decides = plan.keys != 0 && plan.fpr != 0;
  const std::uint64_t unit_bits = rate_decides ? 1 : 64;
  BloomParams best;
  // An integer number of hashes next to the ideal one; the better of the two.
  const std::uint32_t first = plan.hashes != 0 ? plan.hashes : std::max(1u, ideal->hashes - 1);
  const std::uint32_t last =
      plan.hashes != 0 ? plan.hashes : std::min(kMaxHashes, ideal->hashes + 1);
  double best_fpr = 2;
  for (std::uint32_t hashes = first; hashes <= last; ++hashes) {
    const auto predict = [&](std::uint64_t count, std::uint64_t keys) {
      return predicted_fpr(std::max(count, kLeastPlannedBits), hashes, keys);
    };
    const auto units = detail::units_for(plan, unit_bits, kMaxBits / unit_bits, predict);
    if (!units) return units.error();
    const BloomParams candidate{std::max(*units * unit_bits, rate_decides ? kLeastPlannedBits : 1),
                                hashes};
    const double fpr = candidate.fpr(ideal->keys);
    if (best.bits == 0 || candidate.bits < best.bits ||
        (candidate.bits == best.bits && fpr < best_fpr)) {
      best = candidate;
      best_fpr = fpr;
    }
  }
  return detail::checked(plan, best);
}

Result<void> BloomParams::validate() const {
  if (bits < 1 || bits > kMaxBits)
    return detail::domain_error("bits", bits, "1 to " + detail::text(kMaxBits));
  if (hashes < 1 || hashes > kMaxHashes) {
    return detail::domain_error("hashes", hashes, "1 to " + detail::text(kMaxHashes));
  }
  return {};
}

double BloomParams::fpr(std::uint64_t keys) const noexcept {
  return predicted_fpr(bits, hashes, keys);
}

double BloomParams::fill(std::uint64_t keys) const noexcept {
  return detail::hit_chance(static_cast<double>(bits), static_cast<double>(keys) * hashes);
}

std::uint64_t BloomParams::capacity(double rate) const noexcept {
  return detail::most_keys(rate, [this](std::uint64_t keys) { return fpr(keys); });
}

static detail::Occupancy occupancy(const BloomParams& params) noexcept {
  return {.slices = 1, .cells = params.bits, .throws_per_key = params.hashes, .blocks = 0};
}

static std::uint64_t last_word_bits(const BloomParams& params) noexcept {
  return ~std::uint64_t{0} >> ((64 - params.bits % 64) % 64);
}

static double observed_fpr(const BloomParams& params, const std::uint64_t* words) noexcept {
  return detail::fill_to_the(params.hashes, params.bits, words);
}

template bool detail::insert(const ClassicLayout&, std::uint64_t*, const Digest&) noexcept;
template class BitFilter<BloomParams>;

}  // namespace probably
