#include "probably/plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sizing.hpp"
#include "text.hpp"

namespace probably {
namespace {

using detail::domain_error;
using detail::text;

constexpr double kLn2 = std::numbers::ln2;
constexpr unsigned kMaxHashes = 64;
// Beyond what any address space holds, and small enough that no later arithmetic overflows.
constexpr std::uint64_t kMaxBits = std::uint64_t{1} << 60;
constexpr std::uint64_t kMaxBitsPerKey = 1'000'000;

// Total, because the textbook's functions take any rate: what is no number, or negative, is 0.
std::uint64_t to_bits(double bits) noexcept {
  if (!(bits > 0)) return 0;
  return bits >= static_cast<double>(kMaxBits) ? kMaxBits : static_cast<std::uint64_t>(bits);
}

// The most keys at which m bits with k hashes (0: the best k) keep the rate.
std::uint64_t most_keys(std::uint64_t bits, double fpr, unsigned hashes) noexcept {
  const auto m = static_cast<double>(bits);
  if (hashes == 0) return static_cast<std::uint64_t>(-m * kLn2 * kLn2 / std::log(fpr));
  const double k = hashes;
  return static_cast<std::uint64_t>(-m / k * std::log1p(-std::pow(fpr, 1 / k)));
}

std::uint64_t bits_for(std::uint64_t keys, double fpr, unsigned hashes) noexcept {
  if (hashes == 0) return textbook_bits(keys, fpr);
  const double k = hashes;
  return to_bits(std::ceil(-k * static_cast<double>(keys) / std::log1p(-std::pow(fpr, 1 / k))));
}

double expected_fill(std::uint64_t bits, unsigned hashes, std::uint64_t keys) noexcept {
  return detail::hit_chance(static_cast<double>(bits), static_cast<double>(keys) * hashes);
}

}  // namespace

double lower_bound_bits_per_key(double fpr) noexcept { return -std::log2(fpr); }

std::uint64_t textbook_bits(std::uint64_t keys, double fpr) noexcept {
  // Extended precision keeps the rounding of 10^9 keys and more where the exact value has it.
  const long double ln2 = std::numbers::ln2_v<long double>;
  const long double bits =
      -static_cast<long double>(keys) * std::log(static_cast<long double>(fpr)) / (ln2 * ln2);
  return std::max<std::uint64_t>(1, to_bits(static_cast<double>(std::ceil(bits))));
}

unsigned textbook_hashes(std::uint64_t bits, std::uint64_t keys) noexcept {
  const double hashes =
      kLn2 * static_cast<double>(bits) / static_cast<double>(std::max<std::uint64_t>(keys, 1));
  return static_cast<unsigned>(
      std::clamp(std::round(hashes), 1.0, static_cast<double>(kMaxHashes)));
}

double textbook_fpr(std::uint64_t bits, unsigned hashes, std::uint64_t keys) noexcept {
  return std::pow(expected_fill(bits, hashes, keys), hashes);
}

Result<void> validate(const Plan& plan) {
  if (plan.keys > kMaxKeys) return domain_error("keys", plan.keys, "1 to " + text(kMaxKeys));
  if (plan.fpr != 0 && !(plan.fpr >= kMinFpr && plan.fpr <= kMaxFpr)) {
    return domain_error("fpr", plan.fpr,
                        "a rate from " + text(kMinFpr) + " to " + text(kMaxFpr) + " (1 % is 0.01)");
  }
  // Very many keys cannot have as many bits each as fewer could.
  const std::uint64_t bits_of_each = kMaxBits / std::max<std::uint64_t>(plan.keys, 1);
  const std::uint64_t most = std::min(kMaxBitsPerKey, bits_of_each);
  if (plan.bits_per_key != 0 &&
      !(plan.bits_per_key >= 0.1 && plan.bits_per_key <= static_cast<double>(most))) {
    return domain_error("bits_per_key", plan.bits_per_key,
                        "0.1 to " + text(most) +
                            (most < kMaxBitsPerKey ? " for " + text(plan.keys) + " keys" : ""));
  }
  if (plan.size_bytes > kMaxBits / 8) {
    return domain_error("size_bytes", plan.size_bytes, "1 to " + text(kMaxBits / 8));
  }
  if (plan.hashes > kMaxHashes)
    return domain_error("hashes", plan.hashes, "1 to " + text(kMaxHashes));
  if (plan.bits_per_key != 0 && plan.size_bytes != 0) {
    return Error{ErrorCode::invalid_argument,
                 "bits_per_key and size_bytes are two ways to say one thing; give one of them."};
  }
  if (plan.bits_per_key != 0 && plan.keys == 0) {
    return Error{ErrorCode::invalid_argument,
                 "bits_per_key needs keys; for a rate in a budget give size_bytes."};
  }
  const int known = (plan.keys != 0) + (plan.fpr != 0) + detail::has_budget(plan);
  if (known < 2) {
    return Error{ErrorCode::invalid_argument,
                 "A plan needs two of: keys, fpr, memory (size_bytes or bits_per_key). "
                 "0 counts as not given. For example keys = 1000000, fpr = 0.01."};
  }
  return {};
}

std::uint64_t granted_bits(const Plan& plan) noexcept {
  if (plan.size_bytes != 0) return plan.size_bytes * 8;
  return to_bits(plan.bits_per_key * static_cast<double>(plan.keys));
}

Result<Solution> solve(const Plan& plan) {
  if (auto valid = validate(plan); !valid) return valid.error();
  Solution s{.keys = plan.keys, .fpr = plan.fpr, .bits = granted_bits(plan), .hashes = plan.hashes};
  if (s.keys == 0) {
    s.keys = std::clamp<std::uint64_t>(most_keys(s.bits, s.fpr, s.hashes), 1, kMaxKeys);
  }
  if (plan.keys != 0 && plan.fpr != 0) {
    s.bits = bits_for(s.keys, s.fpr, s.hashes);
    // Only few hashes for many keys at a low rate get here.
    if (s.bits == kMaxBits) {
      return Error{ErrorCode::invalid_argument,
                   text(s.keys) + " keys at a rate of " + text(s.fpr) + " with " + text(s.hashes) +
                       " hashes need more than " + text(kMaxBits / 8) + " bytes."};
    }
    if (auto paid = detail::within_budget(plan, s.bits); !paid) return paid.error();
  }
  s.bits = std::max<std::uint64_t>(s.bits, 1);
  if (s.hashes == 0) s.hashes = textbook_hashes(s.bits, s.keys);
  // With memory in plenty the rate underflows; it is small, never zero.
  if (s.fpr == 0) {
    s.fpr = std::max(textbook_fpr(s.bits, s.hashes, s.keys), std::numeric_limits<double>::min());
    // By the bits and not by the rate, which rounding may put next to the highest accepted: what
    // solve() gives for that rate is enough.
    const std::uint64_t enough = bits_for(s.keys, kMaxFpr, plan.hashes);
    if (s.bits < enough) return detail::too_little_memory(plan, s.fpr, (enough + 7) / 8);
  }
  s.bits_per_key = static_cast<double>(s.bits) / static_cast<double>(s.keys);
  s.fill = expected_fill(s.bits, s.hashes, s.keys);
  s.lower_bound_bits_per_key = lower_bound_bits_per_key(s.fpr);
  return s;
}

}  // namespace probably
