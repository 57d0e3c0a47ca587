// Plan: what the user wants; and the textbook's arithmetic of Bloom filters.
//
// Say any two of: how many keys, which false-positive rate, how much memory. Each kind makes its
// own exact geometry of it (`<Kind>Params::from(plan)`), at which its predicted rate keeps the
// promise.
//
//   Plan{.keys = 1'000'000, .fpr = 0.01}             the usual way
//   Plan{.keys = 1'000'000, .bits_per_key = 12}      memory per key, the rate follows
//   Plan{.keys = 1'000'000, .size_bytes = 1 << 20}   a budget, the rate follows
//   Plan{.fpr = 0.01, .size_bytes = 1 << 30}         a budget, the capacity follows
//   all of keys, fpr and size_bytes                  an error if the budget does not suffice
//
// A kind takes of a budget what its layout can use, whole words, lines or blocks, and never more. A
// budget that leads to a rate above kMaxFpr is an error.
//
// Concurrency: values and pure functions.
#pragma once

#include <cstdint>

#include "probably/result.hpp"

namespace probably {

inline constexpr std::uint64_t kMaxKeys = 1'000'000'000'000'000;  // 10^15
inline constexpr double kMinFpr = 1e-12;
inline constexpr double kMaxFpr = 0.5;

// A field at zero is unknown.
struct Plan {
  std::uint64_t keys = 0;        // distinct keys at which the promise still holds; up to kMaxKeys
  double fpr = 0;                // promised share of absent keys that are answered "probably"
  double bits_per_key = 0;       // 0.1 to 10^6; goes with keys, instead of size_bytes
  std::uint64_t size_bytes = 0;  // memory budget, up to 2^57
  unsigned hashes = 0;           // bits that a key sets; zero lets the kind choose
};

// The textbook's answer to a plan: an ideal classic filter, m = -n ln p / (ln 2)^2, k = m/n ln 2.
// Kinds differ from it by what their layout costs.
struct Solution {
  std::uint64_t keys = 0;   // what was asked for, or what the memory has room for, up to kMaxKeys
  double fpr = 0;           // what was promised, or what the memory gives with this integer k
  std::uint64_t bits = 0;   // m
  unsigned hashes = 0;      // k
  double bits_per_key = 0;  // m / n
  double fill = 0;          // share of bits set at `keys`
  double lower_bound_bits_per_key = 0;  // log2(1/p): no filter whatsoever does with less
};

// Fails with invalid_argument, naming the field, its value and the accepted range; or the memory
// that would do, if the budget is less.
Result<Solution> solve(const Plan& plan);

// Checks that a plan determines a filter: domains, and two of keys, rate and memory. All kinds call
// it.
Result<void> validate(const Plan& plan);

// The bits that a valid plan grants: its budget or keys * bits_per_key, rounded down; 0 when the
// rate decides.
[[nodiscard]] std::uint64_t granted_bits(const Plan& plan) noexcept;

// Least bits per key of any data structure with this rate: log2(1/p).
[[nodiscard]] double lower_bound_bits_per_key(double fpr) noexcept;

// Least bits for n keys at rate p with the ideal number of hashes, rounded up: ceil(-n ln p / (ln
// 2)^2).
[[nodiscard]] std::uint64_t textbook_bits(std::uint64_t keys, double fpr) noexcept;
// The best number of hashes for m bits and n keys: m/n ln 2, rounded, at least 1.
[[nodiscard]] unsigned textbook_hashes(std::uint64_t bits, std::uint64_t keys) noexcept;
// The standard formula: (1 - (1 - 1/m)^(kn))^k. 0 for no keys.
[[nodiscard]] double textbook_fpr(std::uint64_t bits, unsigned hashes, std::uint64_t keys) noexcept;

// A number that was measured or inferred, with its standard error.
struct Estimate {
  double value = 0;
  double standard_error = 0;
};

}  // namespace probably
