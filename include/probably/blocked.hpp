// BlockedBloom: a Bloom filter in which a key touches one cache line. The default choice.
//
// Choose it when lookups dominate: a query costs one cache miss, for 5 % more bits than a classic
// filter at a rate of 1 %, 9 % at 0.1 %, 20 % at 0.01 %. Below that take bloom.hpp. For sets of
// unknown size see scalable.hpp; for Parquet's bits see split_block.hpp.
//
// Concurrency: as bit_filter.hpp says; insertion writes at most 8 words of one line, none for
// known keys.
//
// Format: words of 64 bits, little-endian; the places are in layout/blocked.hpp.
#pragma once

#include <cstdint>

#include "probably/bit_filter.hpp"
#include "probably/layout/blocked.hpp"

namespace probably {

struct BlockedParams {
  using Layout = BlockedLayout;
  using Hasher = probably::Hasher;

  std::uint64_t lines = 0;   // of 64 bytes, 1 to 2^51
  std::uint32_t slices = 0;  // bits that a key sets: 4, 8 or 16

  // The geometry with the fewest lines that keeps the promise at the promised number of keys.
  static Result<BlockedParams> from(const Plan& plan);
  [[nodiscard]] Result<void> validate() const;

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return lines * 64; }
  // Predicted rate and share of set bits with this many keys, also beyond the plan.
  [[nodiscard]] double fpr(std::uint64_t keys) const noexcept;
  [[nodiscard]] double fill(std::uint64_t keys) const noexcept;
  // The most keys at which the predicted rate is at most `rate`.
  [[nodiscard]] std::uint64_t capacity(double rate) const noexcept;

  [[nodiscard]] Layout layout() const noexcept { return {lines, slices}; }
  friend bool operator==(const BlockedParams&, const BlockedParams&) = default;
};

extern template class BitFilter<BlockedParams>;
using BlockedBloom = BitFilter<BlockedParams>;

}  // namespace probably
