// One key against one line: the vector twins of layout/blocked.hpp and layout/split_block.hpp.
//
//   covers(layout, block, pattern)   are all bits of the pattern set in the block?
//   masks(layout, pattern)           the bits of the pattern in each word
//
// Equality with the layouts is tested for every target (tests/unit/kernels_test.cpp).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "probably/detail/atomic.hpp"
#include "probably/detail/target.hpp"
#include "probably/layout/blocked.hpp"
#include "probably/layout/split_block.hpp"

#if defined(PROBABLY_TARGET_AVX2) || defined(PROBABLY_TARGET_SSE2)
#include <immintrin.h>
#endif

namespace probably::detail {
inline namespace PROBABLY_TARGET_NAMESPACE {

#if defined(PROBABLY_TARGET_AVX2)

// A wide load beside concurrent ORs. Bits only ever go from 0 to 1, so whatever mixture of old and
// new bytes it returns lies between the state before and the state after, and a key whose insertion
// happened before has all its bits in either. Volatile keeps the load inside a caller's polling
// loop. ThreadSanitizer builds use the scalar twin with its relaxed atomic loads instead: see
// target.hpp.
PROBABLY_INLINE __m256i load_racy(const std::uint64_t* words) noexcept {
  return *reinterpret_cast<const volatile __m256i*>(words);
}

// Lane j: pattern * kSalts[j].
PROBABLY_INLINE __m256i lane_products(std::uint32_t pattern) noexcept {
  const __m256i salts = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kSalts.data()));
  return _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(pattern)), salts);
}

// Lane j: 1 << (the lane's top five bits).
PROBABLY_INLINE __m256i top_five_one_hot(__m256i lanes) noexcept {
  return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(lanes, 27));
}

PROBABLY_INLINE void store_words(std::uint64_t* out, __m256i lanes) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), lanes);
}

PROBABLY_INLINE bool half_covers(const std::uint64_t* half, std::uint32_t pattern) noexcept {
  return _mm256_testc_si256(load_racy(half), top_five_one_hot(lane_products(pattern))) != 0;
}

PROBABLY_INLINE void half_masks(std::uint64_t* out, std::uint32_t pattern) noexcept {
  store_words(out, top_five_one_hot(lane_products(pattern)));
}

// k = 8: the product's top bit chooses the lane's word in the lower or the upper half.
PROBABLY_INLINE bool eight_slices_cover(const std::uint64_t* line, std::uint32_t pattern) noexcept {
  const __m256i products = lane_products(pattern);
  const __m256i chosen = _mm256_castps_si256(
      _mm256_blendv_ps(_mm256_castsi256_ps(load_racy(line)),
                       _mm256_castsi256_ps(load_racy(line + 4)), _mm256_castsi256_ps(products)));
  return _mm256_testc_si256(chosen, top_five_one_hot(_mm256_add_epi32(products, products))) != 0;
}

PROBABLY_INLINE void eight_slices_masks(std::uint64_t* out, std::uint32_t pattern) noexcept {
  const __m256i products = lane_products(pattern);
  const __m256i upper = _mm256_srai_epi32(products, 31);
  const __m256i bits = top_five_one_hot(_mm256_add_epi32(products, products));
  store_words(out, _mm256_andnot_si256(upper, bits));
  store_words(out + 4, _mm256_and_si256(upper, bits));
}

// k = 4: the product's top two bits choose one of the lane's four words.
PROBABLY_INLINE bool four_slices_cover(const std::uint64_t* line, std::uint32_t pattern) noexcept {
  const __m128i salts = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kSalts.data()));
  const __m128i products = _mm_mullo_epi32(_mm_set1_epi32(static_cast<int>(pattern)), salts);
  const auto quarter = [line](std::size_t i) {
    return _mm_castsi128_ps(*reinterpret_cast<const volatile __m128i*>(line + 2 * i));
  };
  const __m128 first_bit = _mm_castsi128_ps(products);
  const __m128 second_bit = _mm_castsi128_ps(_mm_slli_epi32(products, 1));
  const __m128 lower = _mm_blendv_ps(quarter(0), quarter(1), second_bit);
  const __m128 upper = _mm_blendv_ps(quarter(2), quarter(3), second_bit);
  const __m128i chosen = _mm_castps_si128(_mm_blendv_ps(lower, upper, first_bit));
  const __m128i shift = _mm_srli_epi32(_mm_slli_epi32(products, 2), 27);
  return _mm_testc_si128(chosen, _mm_sllv_epi32(_mm_set1_epi32(1), shift)) != 0;
}

#elif defined(PROBABLY_TARGET_SSE2)

// See the AVX2 twin for why this load may race with ORs.
PROBABLY_INLINE __m128i load_racy(const std::uint64_t* words) noexcept {
  return *reinterpret_cast<const volatile __m128i*>(words);
}

// Lane j: pattern * kSalts[first + j]. SSE2 multiplies 32 bits only into 64, two lanes at a time.
PROBABLY_INLINE __m128i lane_products(std::uint32_t pattern, std::size_t first) noexcept {
  const __m128i salts = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kSalts.data() + first));
  const __m128i factor = _mm_set1_epi32(static_cast<int>(pattern));
  const __m128i lower = _mm_mul_epu32(factor, _mm_unpacklo_epi32(salts, salts));
  const __m128i upper = _mm_mul_epu32(factor, _mm_unpackhi_epi32(salts, salts));
  return _mm_castps_si128(
      _mm_shuffle_ps(_mm_castsi128_ps(lower), _mm_castsi128_ps(upper), _MM_SHUFFLE(2, 0, 2, 0)));
}

// Lane j: 1 << (the five bits of the lane that follow the first `Skipped`). SSE2 has no shift per
// lane: the count becomes the exponent of a float, whose conversion gives the power of two. It is
// negative on the way, since -2^31 fits an int; 2^31 does not, and would raise a floating-point
// exception.
template <int Skipped>
PROBABLY_INLINE __m128i five_bits_one_hot(__m128i lanes) noexcept {
  const __m128i in_place = _mm_srli_epi32(lanes, 4 - Skipped);
  const __m128i exponent = _mm_and_si128(in_place, _mm_set1_epi32(0x0f800000));
  const __m128i minus_power = _mm_add_epi32(exponent, _mm_set1_epi32(static_cast<int>(0xbf800000)));
  return _mm_sub_epi32(_mm_setzero_si128(), _mm_cvttps_epi32(_mm_castsi128_ps(minus_power)));
}

// Lane by lane: `yes` where the sign bit is set, else `no`.
PROBABLY_INLINE __m128i if_negative(__m128i sign, __m128i yes, __m128i no) noexcept {
  const __m128i negative = _mm_srai_epi32(sign, 31);
  return _mm_or_si128(_mm_and_si128(negative, yes), _mm_andnot_si128(negative, no));
}

PROBABLY_INLINE bool none_missing(__m128i missing) noexcept {
  return _mm_movemask_epi8(_mm_cmpeq_epi8(missing, _mm_setzero_si128())) == 0xffff;
}

PROBABLY_INLINE void store_words(std::uint64_t* out, __m128i lanes) noexcept {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), lanes);
}

PROBABLY_INLINE bool half_covers(const std::uint64_t* half, std::uint32_t pattern) noexcept {
  const __m128i low = five_bits_one_hot<0>(lane_products(pattern, 0));
  const __m128i high = five_bits_one_hot<0>(lane_products(pattern, 4));
  return none_missing(_mm_or_si128(_mm_andnot_si128(load_racy(half), low),
                                   _mm_andnot_si128(load_racy(half + 2), high)));
}

PROBABLY_INLINE void half_masks(std::uint64_t* out, std::uint32_t pattern) noexcept {
  store_words(out, five_bits_one_hot<0>(lane_products(pattern, 0)));
  store_words(out + 2, five_bits_one_hot<0>(lane_products(pattern, 4)));
}

// k = 8: the product's top bit chooses the lane's word in the lower or the upper half.
PROBABLY_INLINE bool eight_slices_cover(const std::uint64_t* line, std::uint32_t pattern) noexcept {
  __m128i missing = _mm_setzero_si128();
  for (std::size_t part = 0; part < 2; ++part) {
    const __m128i products = lane_products(pattern, 4 * part);
    const __m128i bits = five_bits_one_hot<1>(products);
    const __m128i chosen =
        if_negative(products, load_racy(line + 4 + 2 * part), load_racy(line + 2 * part));
    missing = _mm_or_si128(missing, _mm_andnot_si128(chosen, bits));
  }
  return none_missing(missing);
}

PROBABLY_INLINE void eight_slices_masks(std::uint64_t* out, std::uint32_t pattern) noexcept {
  for (std::size_t part = 0; part < 2; ++part) {
    const __m128i products = lane_products(pattern, 4 * part);
    const __m128i upper = _mm_srai_epi32(products, 31);
    const __m128i bits = five_bits_one_hot<1>(products);
    store_words(out + 2 * part, _mm_andnot_si128(upper, bits));
    store_words(out + 4 + 2 * part, _mm_and_si128(upper, bits));
  }
}

// k = 4: the product's top two bits choose one of the lane's four words.
PROBABLY_INLINE bool four_slices_cover(const std::uint64_t* line, std::uint32_t pattern) noexcept {
  const __m128i products = lane_products(pattern, 0);
  const __m128i doubled = _mm_add_epi32(products, products);
  const __m128i lower = if_negative(doubled, load_racy(line + 2), load_racy(line));
  const __m128i upper = if_negative(doubled, load_racy(line + 6), load_racy(line + 4));
  const __m128i chosen = if_negative(products, upper, lower);
  return none_missing(_mm_andnot_si128(chosen, five_bits_one_hot<2>(products)));
}

#endif

#if defined(PROBABLY_TARGET_AVX2) || defined(PROBABLY_TARGET_SSE2)

PROBABLY_INLINE bool covers(const SplitBlockLayout&, const std::uint64_t* block,
                            std::uint32_t pattern) noexcept {
  return half_covers(block, pattern);
}

PROBABLY_INLINE SplitBlockLayout::Masks masks(const SplitBlockLayout&,
                                              std::uint32_t pattern) noexcept {
  SplitBlockLayout::Masks out;
  half_masks(out.data(), pattern);
  return out;
}

PROBABLY_INLINE bool covers(const BlockedLayout& layout, const std::uint64_t* line,
                            LinePattern pattern) noexcept {
  if (layout.slices == 8) [[likely]]
    return eight_slices_cover(line, pattern.first);
  if (layout.slices == 4) return four_slices_cover(line, pattern.first);
  return half_covers(line, pattern.first) && half_covers(line + 4, pattern.second);
}

PROBABLY_INLINE BlockedLayout::Masks masks(const BlockedLayout& layout,
                                           LinePattern pattern) noexcept {
  BlockedLayout::Masks out;
  if (layout.slices == 8) [[likely]] {
    eight_slices_masks(out.data(), pattern.first);
  } else if (layout.slices == 16) {
    half_masks(out.data(), pattern.first);
    half_masks(out.data() + 4, pattern.second);
  } else {
    out = layout.masks(pattern);
  }
  return out;
}

#else

// Tests the bits of Slices slices one by one, without a branch; relaxed atomic loads.
template <std::uint32_t Slices>
PROBABLY_INLINE bool covers_bit_by_bit(const std::uint64_t* line, LinePattern pattern) noexcept {
  constexpr int kWordBits = std::countr_zero(16 / Slices);
  std::uint64_t all = 1;
  for (std::uint32_t slice = 0; slice < Slices; ++slice) {
    const std::uint32_t product = (slice < 8 ? pattern.first : pattern.second) * kSalts[slice % 8];
    const auto cell = static_cast<std::uint32_t>(std::uint64_t{product} << (kWordBits + 5) >> 32);
    const std::uint32_t word32 = slice + Slices * (cell / 32);
    all &= load_relaxed(line[word32 / 2]) >> (cell % 32 + 32 * (word32 % 2));
  }
  return all != 0;
}

template <class Layout>
PROBABLY_INLINE bool covers(const Layout& layout, const std::uint64_t* block,
                            typename Layout::Pattern pattern) noexcept {
  const typename Layout::Masks wanted = layout.masks(pattern);
  std::uint64_t missing = 0;
  for (std::size_t word = 0; word < wanted.size(); ++word) {
    missing |= wanted[word] & ~load_relaxed(block[word]);
  }
  return missing == 0;
}

PROBABLY_INLINE bool covers(const BlockedLayout& layout, const std::uint64_t* line,
                            LinePattern pattern) noexcept {
  if (layout.slices == 8) [[likely]]
    return covers_bit_by_bit<8>(line, pattern);
  if (layout.slices == 4) return covers_bit_by_bit<4>(line, pattern);
  return covers_bit_by_bit<16>(line, pattern);
}

template <class Layout>
PROBABLY_INLINE typename Layout::Masks masks(const Layout& layout,
                                             typename Layout::Pattern pattern) noexcept {
  return layout.masks(pattern);
}

#endif

}  // namespace PROBABLY_TARGET_NAMESPACE
}  // namespace probably::detail
