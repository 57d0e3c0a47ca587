// Bloom: the classic Bloom filter. Any number of bits, a key sets k of them, anywhere.
//
// Choose it when memory counts more than speed: no other layout of plain bits needs fewer bits for
// a rate, above all below 0.01 %. A lookup costs up to k cache misses (two on average for absent
// keys); blocked.hpp costs one, for 5 % more bits at 1 % and 9 % more at 0.1 %.
//
// Concurrency: as bit_filter.hpp says; insertion writes at most k words.
// Format: words of 64 bits, little-endian; the places are in layout/classic.hpp.
#pragma once

#include <cstdint>

#include "probably/bit_filter.hpp"
#include "probably/layout/classic.hpp"

namespace probably {

struct BloomParams {
  using Layout = ClassicLayout;
  using Hasher = probably::Hasher;

  std::uint64_t bits = 0;    // m, 1 to 2^60
  std::uint32_t hashes = 0;  // k, 1 to 64

  // The fewest bits with which an integer k keeps the promise at the promised number of keys, at
  // least 512. The textbook's m (see solve()) takes k for a real number and misses the rate by up
  // to 1 % of it.
  static Result<BloomParams> from(const Plan& plan);
  [[nodiscard]] Result<void> validate() const;

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return (bits + 63) / 64 * 8; }
  // Predicted rate and share of set bits with this many keys, also beyond the plan.
  [[nodiscard]] double fpr(std::uint64_t keys) const noexcept;
  [[nodiscard]] double fill(std::uint64_t keys) const noexcept;
  // The most keys at which the predicted rate is at most `rate`.
  [[nodiscard]] std::uint64_t capacity(double rate) const noexcept;

  [[nodiscard]] Layout layout() const noexcept { return {bits, hashes}; }
  friend bool operator==(const BloomParams&, const BloomParams&) = default;
};

extern template bool detail::insert(const ClassicLayout&, std::uint64_t*, const Digest&) noexcept;
extern template class BitFilter<BloomParams>;
using Bloom = BitFilter<BloomParams>;

}  // namespace probably
