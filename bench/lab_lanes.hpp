// Eight 32-bit lanes: one AVX2 register, two SSE2 registers or an array, as the user's flags allow.
//
// The candidates of the layout lab are written once, in these few operations. Define LAB_SCALAR to
// see what a target without vectors would do.
#pragma once

#include <array>

#include "lab.hpp"

#if !defined(LAB_SCALAR) && defined(__SSE2__)
#include <immintrin.h>
#endif

namespace lab {

using Salts = std::array<u32, 8>;

#if !defined(LAB_SCALAR) && defined(__AVX2__)

inline constexpr const char* kTarget = "AVX2";

struct Lanes {
  __m256i v;

  static Lanes load(const u64* from) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))};
  }
  void store(u64* to) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v); }
  static Lanes products(u32 x, const Salts& salts) {
    const auto* from = reinterpret_cast<const __m256i*>(salts.data());
    return {_mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(x)), _mm256_loadu_si256(from))};
  }
  friend Lanes operator|(Lanes a, Lanes b) { return {_mm256_or_si256(a.v, b.v)}; }
  friend Lanes operator&(Lanes a, Lanes b) { return {_mm256_and_si256(a.v, b.v)}; }
  friend Lanes operator^(Lanes a, Lanes b) { return {_mm256_xor_si256(a.v, b.v)}; }
  Lanes operator<<(int count) const { return {_mm256_slli_epi32(v, count)}; }
  Lanes operator>>(int count) const { return {_mm256_srli_epi32(v, count)}; }
  // `b` without the bits of `a`.
  friend Lanes without(Lanes b, Lanes a) { return {_mm256_andnot_si256(a.v, b.v)}; }
  // All ones where the lane's top bit is set.
  [[nodiscard]] Lanes sign() const { return {_mm256_srai_epi32(v, 31)}; }
  // 1 << lane. Requires: lane < 32.
  [[nodiscard]] Lanes bit() const { return {_mm256_sllv_epi32(_mm256_set1_epi32(1), v)}; }
  // Each pair of lanes becomes two copies of its even or odd lane.
  [[nodiscard]] Lanes even() const { return {_mm256_shuffle_epi32(v, 0xa0)}; }
  [[nodiscard]] Lanes odd() const { return {_mm256_shuffle_epi32(v, 0xf5)}; }
  // `high` where the top bit of the lane in `by` is set, else `low`.
  friend Lanes choose(Lanes by, Lanes low, Lanes high) {
    return {_mm256_castps_si256(_mm256_blendv_ps(
        _mm256_castsi256_ps(low.v), _mm256_castsi256_ps(high.v), _mm256_castsi256_ps(by.v)))};
  }
  // Whether all bits of `want` are set in `have`.
  friend bool covers(Lanes have, Lanes want) { return _mm256_testc_si256(have.v, want.v) != 0; }
  // Bit w tells whether the 64-bit word w has any bit set.
  [[nodiscard]] u32 nonzero_words() const {
    const __m256i zero = _mm256_cmpeq_epi64(v, _mm256_setzero_si256());
    return static_cast<u32>(_mm256_movemask_pd(_mm256_castsi256_pd(zero))) ^ 15;
  }
};

#elif !defined(LAB_SCALAR) && defined(__SSE2__)

inline constexpr const char* kTarget = "SSE2";

struct Lanes {
  __m128i v, w;

  static Lanes load(const u64* from) {
    const auto* p = reinterpret_cast<const __m128i*>(from);
    return {_mm_loadu_si128(p), _mm_loadu_si128(p + 1)};
  }
  void store(u64* to) const {
    auto* p = reinterpret_cast<__m128i*>(to);
    _mm_storeu_si128(p, v);
    _mm_storeu_si128(p + 1, w);
  }
  static Lanes products(u32 x, const Salts& salts) {
    const __m128i xs = _mm_set1_epi32(static_cast<int>(x));
    const auto* from = reinterpret_cast<const __m128i*>(salts.data());
    return {multiply(xs, _mm_loadu_si128(from)), multiply(xs, _mm_loadu_si128(from + 1))};
  }
  friend Lanes operator|(Lanes a, Lanes b) {
    return {_mm_or_si128(a.v, b.v), _mm_or_si128(a.w, b.w)};
  }
  friend Lanes operator&(Lanes a, Lanes b) {
    return {_mm_and_si128(a.v, b.v), _mm_and_si128(a.w, b.w)};
  }
  friend Lanes operator^(Lanes a, Lanes b) {
    return {_mm_xor_si128(a.v, b.v), _mm_xor_si128(a.w, b.w)};
  }
  Lanes operator<<(int n) const { return {_mm_slli_epi32(v, n), _mm_slli_epi32(w, n)}; }
  Lanes operator>>(int n) const { return {_mm_srli_epi32(v, n), _mm_srli_epi32(w, n)}; }
  friend Lanes without(Lanes b, Lanes a) {
    return {_mm_andnot_si128(a.v, b.v), _mm_andnot_si128(a.w, b.w)};
  }
  [[nodiscard]] Lanes sign() const { return {_mm_srai_epi32(v, 31), _mm_srai_epi32(w, 31)}; }
  [[nodiscard]] Lanes bit() const { return {power(v), power(w)}; }
  [[nodiscard]] Lanes even() const {
    return {_mm_shuffle_epi32(v, 0xa0), _mm_shuffle_epi32(w, 0xa0)};
  }
  [[nodiscard]] Lanes odd() const {
    return {_mm_shuffle_epi32(v, 0xf5), _mm_shuffle_epi32(w, 0xf5)};
  }
  friend Lanes choose(Lanes by, Lanes low, Lanes high) {
    const Lanes s = by.sign();
    return (s & high) | without(low, s);
  }
  friend bool covers(Lanes have, Lanes want) {
    const Lanes missing = without(want, have);
    const __m128i any = _mm_or_si128(missing.v, missing.w);
    return _mm_movemask_epi8(_mm_cmpeq_epi8(any, _mm_setzero_si128())) == 0xffff;
  }
  [[nodiscard]] u32 nonzero_words() const { return nonzero_pair(v) | nonzero_pair(w) << 2; }

 private:
  // SSE2 multiplies 32-bit lanes two at a time, into 64 bits.
  static __m128i multiply(__m128i x, __m128i salts) {
    const __m128i even = _mm_mul_epu32(x, salts);
    const __m128i odd = _mm_mul_epu32(x, _mm_srli_epi64(salts, 32));
    const __m128i low = _mm_and_si128(even, _mm_set1_epi64x(0xffffffff));
    return _mm_or_si128(low, _mm_slli_epi64(odd, 32));
  }
  // SSE2 shifts all lanes alike, so the count becomes the exponent of a float. 2^31 does not fit
  // in a signed lane; the conversion then gives 0x80000000, which is the bit wanted.
  static __m128i power(__m128i n) {
    const __m128i exponent = _mm_add_epi32(_mm_slli_epi32(n, 23), _mm_set1_epi32(0x3f800000));
    return _mm_cvttps_epi32(_mm_castsi128_ps(exponent));
  }
  static u32 nonzero_pair(__m128i a) {
    const __m128i zero = _mm_cmpeq_epi32(a, _mm_setzero_si128());
    const __m128i both = _mm_and_si128(zero, _mm_shuffle_epi32(zero, 0xb1));
    return static_cast<u32>(_mm_movemask_pd(_mm_castsi128_pd(both))) ^ 3;
  }
};

#else

inline constexpr const char* kTarget = "scalar";

struct Lanes {
  std::array<u32, 8> v;

  template <class F>
  static Lanes each(F&& f) {
    Lanes r;
    for (u32 i = 0; i < 8; ++i) r.v[i] = f(i);
    return r;
  }
  static Lanes load(const u64* from) {
    return each([&](u32 i) { return static_cast<u32>(from[i / 2] >> 32 * (i % 2)); });
  }
  void store(u64* to) const {
    for (u32 i = 0; i < 4; ++i) to[i] = v[2 * i] | u64{v[2 * i + 1]} << 32;
  }
  static Lanes products(u32 x, const Salts& salts) {
    return each([&](u32 i) { return x * salts[i]; });
  }
  friend Lanes operator|(const Lanes& a, const Lanes& b) {
    return each([&](u32 i) { return a.v[i] | b.v[i]; });
  }
  friend Lanes operator&(const Lanes& a, const Lanes& b) {
    return each([&](u32 i) { return a.v[i] & b.v[i]; });
  }
  friend Lanes operator^(const Lanes& a, const Lanes& b) {
    return each([&](u32 i) { return a.v[i] ^ b.v[i]; });
  }
  Lanes operator<<(int count) const {
    return each([&](u32 i) { return v[i] << count; });
  }
  Lanes operator>>(int count) const {
    return each([&](u32 i) { return v[i] >> count; });
  }
  friend Lanes without(const Lanes& b, const Lanes& a) {
    return each([&](u32 i) { return b.v[i] & ~a.v[i]; });
  }
  [[nodiscard]] Lanes sign() const {
    return each([&](u32 i) { return u32{0} - (v[i] >> 31); });
  }
  [[nodiscard]] Lanes bit() const {
    return each([&](u32 i) { return u32{1} << v[i]; });
  }
  [[nodiscard]] Lanes even() const {
    return each([&](u32 i) { return v[i & 6]; });
  }
  [[nodiscard]] Lanes odd() const {
    return each([&](u32 i) { return v[i | 1]; });
  }
  friend Lanes choose(const Lanes& by, const Lanes& low, const Lanes& high) {
    return each([&](u32 i) { return by.v[i] >> 31 != 0 ? high.v[i] : low.v[i]; });
  }
  friend bool covers(const Lanes& have, const Lanes& want) {
    u32 missing = 0;
    for (u32 i = 0; i < 8; ++i) missing |= want.v[i] & ~have.v[i];
    return missing == 0;
  }
  [[nodiscard]] u32 nonzero_words() const {
    u32 result = 0;
    for (u32 i = 0; i < 4; ++i) {
      result |= static_cast<u32>((v[2 * i] | v[2 * i + 1]) != 0) << i;
    }
    return result;
  }
};

#endif

inline Lanes constant(const Salts& lanes) { return Lanes::products(1, lanes); }

}  // namespace lab
