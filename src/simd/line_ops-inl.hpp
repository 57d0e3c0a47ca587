// What a target does with one key and one line, and with a step of digests: the vector twins of
// layout/blocked.hpp and layout/split_block.hpp. Highway includes this file again for each target.
//
//   Ops::covers(block, pattern)   are all bits of the pattern set in the block?
//   Ops::masks(pattern)           the bits of the pattern in each word
//   Ops::set(block, pattern)      sets the bits, which nobody else touches; were all set already?
//   pack_step                     the places of kStep digests
#if defined(PROBABLY_LINE_OPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef PROBABLY_LINE_OPS_INL_HPP
#undef PROBABLY_LINE_OPS_INL_HPP
#else
#define PROBABLY_LINE_OPS_INL_HPP
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "probably/detail/line_kernels.hpp"
#include "probably/digest.hpp"
#include "probably/layout/blocked.hpp"
#include "probably/layout/split_block.hpp"

HWY_BEFORE_NAMESPACE();
namespace probably::detail::HWY_NAMESPACE {

// How many keys a batch takes at a time. Measured: docs/decisions/0006-batches.md.
inline constexpr std::size_t kStep = 16;

// The baseline has no vectors in Highway's terms: there, and where vector code is switched off, the
// header's single-key path serves, which uses what the compiler's own baseline allows. So it does
// where memory has the upper half of a word first: the lanes below are halves in the other order.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || PROBABLY_TSAN || \
    defined(PROBABLY_FORCE_SCALAR) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__

inline constexpr std::string_view kName = "baseline";

// Sets the bits, which nobody else touches, and returns whether all were set already.
template <std::size_t Words>
bool set_masks(std::uint64_t* block, const std::array<std::uint64_t, Words>& masks) noexcept {
  std::uint64_t missing = 0;
  for (std::size_t word = 0; word < Words; ++word) {
    missing |= masks[word] & ~block[word];
    block[word] |= masks[word];
  }
  return missing == 0;
}

template <std::uint32_t Slices>
struct BlockedOps {
  static bool covers(const std::uint64_t* line, LinePattern pattern) noexcept {
    return detail::covers(BlockedLayout{1, Slices}, line, pattern);
  }
  static BlockedLayout::Masks masks(LinePattern pattern) noexcept {
    return detail::masks(BlockedLayout{1, Slices}, pattern);
  }
  static bool set(std::uint64_t* line, LinePattern pattern) noexcept {
    return set_masks(line, masks(pattern));
  }
};

struct SplitBlockOps {
  static bool covers(const std::uint64_t* block, std::uint32_t pattern) noexcept {
    return detail::covers(SplitBlockLayout{}, block, pattern);
  }
  static SplitBlockLayout::Masks masks(std::uint32_t pattern) noexcept {
    return detail::masks(SplitBlockLayout{}, pattern);
  }
  static bool set(std::uint64_t* block, std::uint32_t pattern) noexcept {
    return set_masks(block, masks(pattern));
  }
};

inline std::uint32_t first_pattern(LinePattern pattern) { return pattern.first; }
inline std::uint32_t first_pattern(std::uint32_t pattern) { return pattern; }

template <class Layout>
void pack_step(const Layout& layout, const Digest* digests, std::uint64_t* out) {
  for (std::size_t i = 0; i < kStep; ++i) {
    const auto place = layout.place(digests[i]);
    out[i] = place.block << 32 | first_pattern(place.pattern);
  }
}

#else

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::string_view kName = HWY_TARGET == HWY_AVX2    ? "avx2"
                                          : HWY_TARGET == HWY_SSE4  ? "sse4"
                                          : HWY_TARGET == HWY_SSSE3 ? "ssse3"
                                                                    : "vector";

// Eight lanes of 32 bits, as one vector or as two.
using Tag = hn::CappedTag<std::uint32_t, 8>;
using Lanes = hn::Vec<Tag>;
inline constexpr std::size_t kLanes = HWY_MIN(8, HWY_LANES(std::uint32_t));

HWY_INLINE const std::uint32_t* words32(const std::uint64_t* words) {
  return reinterpret_cast<const std::uint32_t*>(words);
}
HWY_INLINE std::uint32_t* words32(std::uint64_t* words) {
  return reinterpret_cast<std::uint32_t*>(words);
}

// Lane j: pattern * kSalts[first + j].
HWY_INLINE Lanes lane_products(std::uint32_t pattern, std::size_t first) {
  const Tag d;
  return hn::Mul(hn::Set(d, pattern), hn::LoadU(d, kSalts.data() + first));
}

// Lane j: 1 << (the lane's top five bits).
template <class V>
HWY_INLINE V top_five_one_hot(V lanes) {
  const hn::DFromV<V> d;
  const V count = hn::ShiftRight<27>(lanes);
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  // Highway's shift goes through the float 2^31 there, which raises a floating-point exception:
  // see the twin in detail/line_kernels.hpp.
  const hn::RebindToSigned<decltype(d)> di;
  const hn::RebindToFloat<decltype(d)> df;
  const V minus_power = hn::Add(hn::ShiftLeft<23>(count), hn::Set(d, 0xbf800000u));
  return hn::BitCast(d, hn::Neg(hn::ConvertTo(di, hn::BitCast(df, minus_power))));
#else
  return hn::Shl(hn::Set(d, 1u), count);
#endif
}

// Lane by lane: `yes` where the top bit of `choice` is set, else `no`.
template <class V>
HWY_INLINE V if_top_bit(V choice, V yes, V no) {
  const hn::DFromV<V> d;
  const hn::RebindToSigned<decltype(d)> di;
  auto sign = hn::BitCast(di, choice);
#if HWY_TARGET == HWY_SSSE3
  // Without a blend instruction, Highway 1.0.3 takes all bits of the lane for the mask.
  sign = hn::BroadcastSignBit(sign);
#endif
  return hn::BitCast(d, hn::IfNegativeThenElse(sign, hn::BitCast(di, yes), hn::BitCast(di, no)));
}

// Whether the lanes hold all these bits.
template <class V>
HWY_INLINE bool holds(V lanes, V bits) {
#if HWY_TARGET == HWY_AVX2
  if constexpr (sizeof(bits.raw) == 32) {
    return _mm256_testc_si256(lanes.raw, bits.raw) != 0;
  } else {
    return _mm_testc_si128(lanes.raw, bits.raw) != 0;
  }
#elif HWY_TARGET == HWY_SSE4
  return _mm_testc_si128(lanes.raw, bits.raw) != 0;
#else
  const hn::DFromV<V> d;
  return hn::AllTrue(d, hn::Eq(hn::AndNot(lanes, bits), hn::Zero(d)));
#endif
}

// The loads of lookups race with concurrent ORs: see load_racy in detail/line_kernels.hpp for why
// that is harmless. ThreadSanitizer builds use the baseline.
HWY_INLINE Lanes load(const std::uint64_t* words, std::size_t lane) {
  return hn::LoadU(Tag{}, words32(words) + lane);
}
HWY_INLINE void store(Lanes lanes, std::uint64_t* words, std::size_t lane) {
  hn::StoreU(lanes, Tag{}, words32(words) + lane);
}

// Eight slices of one 32-bit word each: half a line, or a split block.
struct HalfOps {
  static HWY_INLINE bool covers(const std::uint64_t* half, std::uint32_t pattern) {
    bool all = true;
    for (std::size_t lane = 0; lane < 8; lane += kLanes) {
      all &= holds(load(half, lane), top_five_one_hot(lane_products(pattern, lane)));
    }
    return all;
  }
  static HWY_INLINE void masks(std::uint64_t* out, std::uint32_t pattern) {
    for (std::size_t lane = 0; lane < 8; lane += kLanes) {
      store(top_five_one_hot(lane_products(pattern, lane)), out, lane);
    }
  }
  // Sets the bits, which nobody else touches, and returns whether all were set already.
  static HWY_INLINE bool set(std::uint64_t* half, std::uint32_t pattern) {
    bool all = true;
    for (std::size_t lane = 0; lane < 8; lane += kLanes) {
      const Lanes bits = top_five_one_hot(lane_products(pattern, lane));
      const Lanes old = load(half, lane);
      all &= holds(old, bits);
      store(hn::Or(old, bits), half, lane);
    }
    return all;
  }
};

template <std::uint32_t Slices>
struct BlockedOps;

// The product's top two bits choose one of the lane's four words.
template <>
struct BlockedOps<4> {
  static HWY_INLINE bool covers(const std::uint64_t* line, LinePattern pattern) noexcept {
    const hn::FixedTag<std::uint32_t, 4> d;
    const auto products = hn::Mul(hn::Set(d, pattern.first), hn::LoadU(d, kSalts.data()));
    const auto quarter = [&](std::size_t i)
                             HWY_ATTR { return hn::LoadU(d, words32(line) + 4 * i); };
    const auto second_bit = hn::Add(products, products);
    const auto lower = if_top_bit(second_bit, quarter(1), quarter(0));
    const auto upper = if_top_bit(second_bit, quarter(3), quarter(2));
    const auto chosen = if_top_bit(products, upper, lower);
    return holds(chosen, top_five_one_hot(hn::ShiftLeft<2>(products)));
  }
  static HWY_INLINE BlockedLayout::Masks masks(LinePattern pattern) noexcept {
    return BlockedLayout{1, 4}.masks(pattern);
  }
  static HWY_INLINE bool set(std::uint64_t* line, LinePattern pattern) noexcept {
    const BlockedLayout::Masks bits = masks(pattern);
    bool all = true;
    for (std::size_t lane = 0; lane < 16; lane += kLanes) {
      const Lanes old = load(line, lane);
      const Lanes some = load(bits.data(), lane);
      all &= holds(old, some);
      store(hn::Or(old, some), line, lane);
    }
    return all;
  }
};

// The product's top bit chooses the lane's word in the lower or the upper half of the line.
template <>
struct BlockedOps<8> {
  static HWY_INLINE bool covers(const std::uint64_t* line, LinePattern pattern) noexcept {
    bool all = true;
    for (std::size_t lane = 0; lane < 8; lane += kLanes) {
      const Lanes products = lane_products(pattern.first, lane);
      const Lanes chosen = if_top_bit(products, load(line, 8 + lane), load(line, lane));
      all &= holds(chosen, top_five_one_hot(hn::Add(products, products)));
    }
    return all;
  }
  static HWY_INLINE BlockedLayout::Masks masks(LinePattern pattern) noexcept {
    BlockedLayout::Masks out;
    for (std::size_t lane = 0; lane < 8; lane += kLanes) {
      const Lanes products = lane_products(pattern.first, lane);
      const Lanes upper = upper_half(products);
      const Lanes bits = top_five_one_hot(hn::Add(products, products));
      store(hn::AndNot(upper, bits), out.data(), lane);
      store(hn::And(upper, bits), out.data(), 8 + lane);
    }
    return out;
  }
  static HWY_INLINE bool set(std::uint64_t* line, LinePattern pattern) noexcept {
    bool all = true;
    for (std::size_t lane = 0; lane < 8; lane += kLanes) {
      const Lanes products = lane_products(pattern.first, lane);
      const Lanes upper = upper_half(products);
      const Lanes bits = top_five_one_hot(hn::Add(products, products));
      const Lanes low = load(line, lane);
      const Lanes high = load(line, 8 + lane);
      all &= holds(if_top_bit(products, high, low), bits);
      store(hn::Or(low, hn::AndNot(upper, bits)), line, lane);
      store(hn::Or(high, hn::And(upper, bits)), line, 8 + lane);
    }
    return all;
  }

 private:
  // All bits of the lanes whose word is in the upper half.
  static HWY_INLINE Lanes upper_half(Lanes products) {
    const hn::RebindToSigned<Tag> signed_lanes;
    return hn::BitCast(Tag{}, hn::BroadcastSignBit(hn::BitCast(signed_lanes, products)));
  }
};

template <>
struct BlockedOps<16> {
  static HWY_INLINE bool covers(const std::uint64_t* line, LinePattern pattern) noexcept {
    return HalfOps::covers(line, pattern.first) & HalfOps::covers(line + 4, pattern.second);
  }
  static HWY_INLINE BlockedLayout::Masks masks(LinePattern pattern) noexcept {
    BlockedLayout::Masks out;
    HalfOps::masks(out.data(), pattern.first);
    HalfOps::masks(out.data() + 4, pattern.second);
    return out;
  }
  static HWY_INLINE bool set(std::uint64_t* line, LinePattern pattern) noexcept {
    return HalfOps::set(line, pattern.first) & HalfOps::set(line + 4, pattern.second);
  }
};

struct SplitBlockOps : HalfOps {
  static HWY_INLINE SplitBlockLayout::Masks masks(std::uint32_t pattern) noexcept {
    SplitBlockLayout::Masks out;
    HalfOps::masks(out.data(), pattern);
    return out;
  }
};

using Tag64 = hn::Repartition<std::uint64_t, Tag>;

// The places of kStep digests, packed.
HWY_INLINE void pack_step(const BlockedLayout& layout, const Digest* digests, std::uint64_t* out) {
  const Tag d32;
  const Tag64 d;
  const auto lines = hn::Set(d32, static_cast<std::uint32_t>(layout.lines));
  for (std::size_t i = 0; i < kStep; i += hn::Lanes(d)) {
    const auto values = hn::LoadU(d, &digests[i].value);
    const auto high = hn::MulEven(hn::BitCast(d32, hn::ShiftRight<32>(values)), lines);
    const auto low = hn::MulEven(hn::BitCast(d32, values), lines);
    hn::Store(hn::Add(high, hn::ShiftRight<32>(low)), d, out + i);
  }
}
HWY_INLINE void pack_step(const SplitBlockLayout& layout, const Digest* digests,
                          std::uint64_t* out) {
  const Tag d32;
  const Tag64 d;
  const auto blocks = hn::Set(d32, static_cast<std::uint32_t>(layout.blocks));
  const auto upper = hn::Set(d, 0xffffffff00000000u);
  for (std::size_t i = 0; i < kStep; i += hn::Lanes(d)) {
    const auto values = hn::LoadU(d, &digests[i].value);
    const auto product = hn::MulEven(hn::BitCast(d32, hn::ShiftRight<32>(values)), blocks);
    hn::Store(hn::Or(hn::And(upper, product), hn::AndNot(upper, values)), d, out + i);
  }
}

#endif

}  // namespace probably::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the guard
