// The layout of `blocked`: digest -> one 64-byte line, and k bits in it.
//
//   line      high half of the 128-bit product digest * lines
//   slices    the line's 512 bits are cut into k slices; a key sets one bit in each
//
// The line has sixteen 32-bit words. Slice i owns the words i, i + k, i + 2k, ...: 16/k of them.
// For slice i, take the 32-bit product pattern * kSalts[i mod 8]; its top log2(16/k) bits choose
// the word, the next five bits the bit in it. `pattern` is the top half of the low half of
// digest * lines: what the choice of the line left unused. The slices 8 to 15 of k = 16 use the
// digest's low half times 0x9e3779b1 instead.
//
//   k = 8:   word 0  1  2  3  4  5  6  7 | 8  9 10 11 12 13 14 15
//           slice 0  1  2  3  4  5  6  7 | 0  1  2  3  4  5  6  7      one bit of 64 in each slice
//
// This file is the specification of the bits. Vector code elsewhere is tested equal to it.
// Why this layout: docs/decisions/0002-blocked-layout.md.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "probably/detail/wide.hpp"
#include "probably/digest.hpp"

namespace probably {

// Eight odd multipliers, one per slice: the ones of the Parquet specification.
inline constexpr std::array<std::uint32_t, 8> kSalts = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

// What is left of a digest once the line is chosen.
struct LinePattern {
  std::uint32_t first = 0;   // slices 0 to 7
  std::uint32_t second = 0;  // slices 8 to 15
};

struct BlockedLayout {
  static constexpr std::size_t kBlockWords = 8;
  using Pattern = LinePattern;
  using Masks = std::array<std::uint64_t, kBlockWords>;

  struct Place {
    std::uint64_t block;
    Pattern pattern;
  };

  std::uint64_t lines = 1;   // at least 1
  std::uint32_t slices = 8;  // 4, 8 or 16

  [[nodiscard]] constexpr Place place(Digest digest) const noexcept {
    const auto product = detail::multiply_wide(digest.value, lines);
    const auto first = static_cast<std::uint32_t>(product.low >> 32);
    return {product.high, {first, second_pattern(digest)}};
  }
  // Not the digest's low half itself, which in a filter of 2^32 lines is the first pattern.
  [[nodiscard]] static constexpr std::uint32_t second_pattern(Digest digest) noexcept {
    return static_cast<std::uint32_t>(digest.value) * 0x9e3779b1u;
  }

  [[nodiscard]] constexpr std::uint64_t last_block() const noexcept { return lines - 1; }

  // The bits of the pattern in each 64-bit word of the line.
  [[nodiscard]] constexpr Masks masks(Pattern pattern) const noexcept {
    Masks out{};
    const int word_bits = std::countr_zero(16 / slices);
    for (std::uint32_t slice = 0; slice < slices; ++slice) {
      const std::uint32_t product =
          (slice < 8 ? pattern.first : pattern.second) * kSalts[slice % 8];
      const auto cell = static_cast<std::uint32_t>(std::uint64_t{product} << (word_bits + 5) >> 32);
      const std::uint32_t word32 = slice + slices * (cell / 32);
      out[word32 / 2] |= std::uint64_t{1} << (cell % 32 + 32 * (word32 % 2));
    }
    return out;
  }
};

}  // namespace probably
