// The layout of `split_block`: Parquet's split-block Bloom filter, bit for bit.
//
//   block     ((digest >> 32) * blocks) >> 32, each of 256 bits
//   bits      eight 32-bit words; word j gets bit (uint32(digest) * kSalts[j]) >> 27
//
// Specification: Apache Parquet format, BloomFilter.md. Files of other software use
// Hasher::xxh64().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "probably/layout/blocked.hpp"

namespace probably {

struct SplitBlockLayout {
  static constexpr std::size_t kBlockWords = 4;
  using Pattern = std::uint32_t;
  using Masks = std::array<std::uint64_t, kBlockWords>;

  struct Place {
    std::uint64_t block;
    Pattern pattern;
  };

  std::uint64_t blocks = 1;  // 1 to 2^32 - 1: the block comes of 32 bits

  [[nodiscard]] constexpr Place place(Digest digest) const noexcept {
    return {((digest.value >> 32) * blocks) >> 32, static_cast<std::uint32_t>(digest.value)};
  }

  [[nodiscard]] constexpr std::uint64_t last_block() const noexcept { return blocks - 1; }

  [[nodiscard]] constexpr Masks masks(Pattern pattern) const noexcept {
    Masks out{};
    for (std::uint32_t word32 = 0; word32 < 8; ++word32) {
      const std::uint32_t bit = (pattern * kSalts[word32]) >> 27;
      out[word32 / 2] |= std::uint64_t{1} << (bit + 32 * (word32 % 2));
    }
    return out;
  }
};

}  // namespace probably
