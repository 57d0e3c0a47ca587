// The arithmetic of filters that cut a block into slices and set one bit of a key in each: blocked
// and split_block.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "probably/detail/atomic.hpp"
#include "sizing.hpp"

namespace probably::detail {

struct SlicedBlocks {
  std::uint64_t blocks = 1;
  std::uint32_t block_words = 8;  // of 64 bits
  std::uint32_t slices = 8;  // 4, 8 or 16; 32-bit word w of a block belongs to slice w mod slices

  // Cells of one slice in one block.
  [[nodiscard]] double cells() const noexcept { return 64.0 * block_words / slices; }

  // Given a block's load, slices fill independently, so the rate is the power of one slice's fill;
  // the mean goes over the loads of blocks.
  [[nodiscard]] double fpr(std::uint64_t keys) const noexcept {
    const double mean_load = static_cast<double>(keys) / static_cast<double>(blocks);
    if (mean_load > 64 * cells()) return 1;  // e^-64 of the bits are left
    const double log_empty = std::log1p(-1 / cells());
    const double rate = mean_over_block_loads(
        keys, blocks, [&](double load) { return power(-std::expm1(load * log_empty)); });
    // Up to eight slices share one pattern of 32 bits; two keys of a block have the same with
    // chance 2^-32.
    const double same_pattern = slices <= 8 ? mean_load * 0x1p-32 : 0;
    return std::min(1.0, rate + same_pattern + digest_collision_fpr(keys));
  }

  [[nodiscard]] double fill(std::uint64_t keys) const noexcept {
    return hit_chance(cells() * static_cast<double>(blocks), static_cast<double>(keys));
  }

  [[nodiscard]] std::uint64_t capacity(double rate) const noexcept {
    return most_keys(rate, [this](std::uint64_t keys) { return fpr(keys); });
  }

  [[nodiscard]] Occupancy occupancy() const noexcept {
    return {.slices = slices,
            .cells = 64 * block_words / slices * blocks,
            .throws_per_key = 1,
            .blocks = blocks};
  }

  // In each block, the chance that one random bit of every slice is set; then the mean over the
  // blocks.
  [[nodiscard]] double observed_fpr(const std::uint64_t* words) const noexcept {
    double sum = 0;
    for (std::uint64_t block = 0; block < blocks; ++block) {
      std::array<int, 16> set{};
      for (std::uint32_t word = 0; word < block_words; ++word) {
        const std::uint64_t bits = load_relaxed(words[block * block_words + word]);
        set[2 * word % slices] += std::popcount(bits & 0xffffffff);
        set[(2 * word + 1) % slices] += std::popcount(bits >> 32);
      }
      double chance = 1;
      for (std::uint32_t slice = 0; slice < slices; ++slice) chance *= set[slice] / cells();
      sum += chance;
    }
    return sum / static_cast<double>(blocks);
  }

 private:
  // x^slices, by squaring.
  [[nodiscard]] double power(double x) const noexcept {
    for (std::uint32_t k = slices; k > 1; k /= 2) x *= x;
    return x;
  }
};

}  // namespace probably::detail
