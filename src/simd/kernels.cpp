// The batch verbs, compiled once per vector target. Highway includes this file again for each of
// them.
//
// AVX-512 is left out: a line is two 256-bit loads, and a target that our tests cannot run is one
// that we do not ship.
#include "simd/kernels.hpp"

#define HWY_DISABLED_TARGETS (HWY_AVX3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>

#include "key_chunks.hpp"
#include "probably/detail/probe.hpp"
#include "probably/storage.hpp"

HWY_BEFORE_NAMESPACE();
namespace probably::detail::HWY_NAMESPACE {
namespace {

// Keys in flight between the prefetch of a line and its use, and how many are taken at a time.
// Measured: docs/decisions/0006-batches.md.
constexpr std::size_t kAhead = 32;
constexpr std::size_t kStep = 16;

std::uint32_t first_pattern(LinePattern pattern) { return pattern.first; }
std::uint32_t first_pattern(std::uint32_t pattern) { return pattern; }

// The baseline has no vectors in Highway's terms: there, and where vector code is switched off, the
// header's single-key path serves, which uses what the compiler's own baseline allows.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || PROBABLY_TSAN || \
    defined(PROBABLY_FORCE_SCALAR)

constexpr std::string_view kName = "baseline";

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

template <class Layout>
void pack_step(const Layout& layout, const Digest* digests, std::uint64_t* out) {
  for (std::size_t i = 0; i < kStep; ++i) {
    const auto place = layout.place(digests[i]);
    out[i] = place.block << 32 | first_pattern(place.pattern);
  }
}

#else

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::string_view kName = HWY_TARGET == HWY_AVX2    ? "avx2"
                                   : HWY_TARGET == HWY_SSE4  ? "sse4"
                                   : HWY_TARGET == HWY_SSSE3 ? "ssse3"
                                                             : "vector";

// Eight lanes of 32 bits, as one vector or as two.
using Tag = hn::CappedTag<std::uint32_t, 8>;
using Lanes = hn::Vec<Tag>;
constexpr std::size_t kLanes = HWY_MIN(8, HWY_LANES(std::uint32_t));

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

// The digests of a batch, a step of kStep keys at a time.
//
// Keys are hashed a step before they are asked for: a vector load of what scalar stores have just
// written would wait for them.
class Steps {
 public:
  HWY_INLINE explicit Steps(const KeySource& keys)
      : keys_(keys), given_(keys.digests()), whole_(keys.size() - keys.size() % kStep) {
    hash(0);
  }
  // The number of keys in whole steps.
  [[nodiscard]] HWY_INLINE std::size_t whole() const { return whole_; }
  // The digest of key i and those behind it in its step.
  // Requires: the step was the last one that advance() was called for, or one of the kAhead keys
  // before it.
  [[nodiscard]] HWY_INLINE const Digest* at(std::size_t i) const {
    return given_ != nullptr ? given_ + i : &room_.digests[i % kRing];
  }
  // Makes the digests of the step that begins with this key. To be called for all steps in order.
  HWY_INLINE void advance(std::size_t first) { hash(first + kStep); }
  // The digests of the keys behind the last whole step.
  [[nodiscard]] HWY_INLINE std::span<const Digest> rest() {
    return keys_.take(whole_, room_.first(keys_.size() - whole_));
  }

 private:
  static constexpr std::size_t kRing = kAhead + 2 * kStep;
  static_assert(std::has_single_bit(kRing));

  HWY_INLINE void hash(std::size_t first) {
    if (given_ == nullptr && first < whole_)
      keys_.hash(first, {&room_.digests[first % kRing], kStep});
  }

  const KeySource& keys_;
  const Digest* given_;
  std::size_t whole_;
  DigestRoom<kRing> room_;
};

// The places of a batch's keys: computed in vectors when a step is taken, and kept. Two halves of
// 64 bits hold the block and the pattern, the first if there are two; the second comes of the
// digest.
template <class Layout>
class PackedPlaces {
 public:
  HWY_INLINE PackedPlaces(const Layout& layout, const KeySource& keys)
      : layout_(layout), steps_(keys) {}

  [[nodiscard]] HWY_INLINE Steps& steps() { return steps_; }
  // To be called for all steps in order, with their first keys.
  HWY_INLINE void take(std::size_t first) {
    steps_.advance(first);
    pack_step(layout_, steps_.at(first), &packed_[first % kRing]);
  }
  [[nodiscard]] HWY_INLINE std::uint64_t block(std::size_t i) const {
    return packed_[i % kRing] >> 32;
  }
  [[nodiscard]] HWY_INLINE typename Layout::Place place(std::size_t i) const {
    return {block(i), pattern(layout_, static_cast<std::uint32_t>(packed_[i % kRing]), i)};
  }

 private:
  static constexpr std::size_t kRing = std::bit_ceil(kAhead + kStep);

  HWY_INLINE LinePattern pattern(const BlockedLayout& layout, std::uint32_t first,
                                 std::size_t i) const {
    return {first, layout.second_pattern(*steps_.at(i))};
  }
  HWY_INLINE std::uint32_t pattern(const SplitBlockLayout&, std::uint32_t first,
                                   std::size_t) const {
    return first;
  }

  const Layout& layout_;
  Steps steps_;
  alignas(32) std::array<std::uint64_t, kRing> packed_;
};

// The same for filters of more blocks than 32 bits count: computed at each use.
template <class Layout>
class ComputedPlaces {
 public:
  HWY_INLINE ComputedPlaces(const Layout& layout, const KeySource& keys)
      : layout_(layout), steps_(keys) {}

  [[nodiscard]] HWY_INLINE Steps& steps() { return steps_; }
  HWY_INLINE void take(std::size_t first) { steps_.advance(first); }
  [[nodiscard]] HWY_INLINE std::uint64_t block(std::size_t i) const { return place(i).block; }
  [[nodiscard]] HWY_INLINE typename Layout::Place place(std::size_t i) const {
    return layout_.place(*steps_.at(i));
  }

 private:
  const Layout& layout_;
  Steps steps_;
};

// Calls run(places) with the places of the keys, of either sort.
template <class Run>
HWY_INLINE void with_places(const BlockedLayout& layout, const KeySource& keys, Run&& run) {
  if (layout.lines >> 32 == 0) {
    PackedPlaces<BlockedLayout> places(layout, keys);
    run(places);
  } else {
    ComputedPlaces<BlockedLayout> places(layout, keys);
    run(places);
  }
}
template <class Run>
HWY_INLINE void with_places(const SplitBlockLayout& layout, const KeySource& keys, Run&& run) {
  PackedPlaces<SplitBlockLayout> places(layout, keys);
  run(places);
}

// Calls use(i, place) for every key, in order, with `prefetch` a while after its line was asked
// for.
template <class Layout, class Use>
HWY_INLINE void for_each_place(const Layout& layout, const std::uint64_t* words,
                               const KeySource& keys, bool prefetch, Use&& use) {
  with_places(layout, keys, [&](auto& places) HWY_ATTR {
    const auto ask = [&](std::size_t i) {
      __builtin_prefetch(words + places.block(i) * Layout::kBlockWords);
    };
    const std::size_t whole = places.steps().whole();
    std::size_t taken = 0;
    std::size_t used = 0;
    if (prefetch) {
      for (; taken < std::min(whole, kAhead); taken += kStep) {
        places.take(taken);
        for (std::size_t j = 0; j < kStep; ++j) ask(taken + j);
      }
      for (; taken < whole; taken += kStep, used += kStep) {
        places.take(taken);
        for (std::size_t j = 0; j < kStep; ++j) {
          ask(taken + j);
          use(used + j, places.place(used + j));
        }
      }
    } else {
      for (; taken < whole; taken += kStep, used += kStep) {
        places.take(taken);
        for (std::size_t j = 0; j < kStep; ++j) use(used + j, places.place(used + j));
      }
    }
    for (; used < whole; ++used) use(used, places.place(used));
    for (const Digest digest : places.steps().rest()) use(used++, layout.place(digest));
  });
}

template <class Ops, class Layout>
void contains_with(const Layout& layout, const std::uint64_t* words, const KeySource& keys,
                   bool prefetch, bool* out) noexcept {
  for_each_place(layout, words, keys, prefetch,
                 [&](std::size_t i, const typename Layout::Place& place) HWY_ATTR {
                   out[i] = Ops::covers(words + place.block * Layout::kBlockWords, place.pattern);
                 });
}

template <class Ops, class Layout>
std::uint64_t insert_with(const Layout& layout, std::uint64_t* words, const KeySource& keys,
                          bool prefetch, bool* was_new) noexcept {
  std::uint64_t fresh = 0;
  for_each_place(layout, words, keys, prefetch,
                 [&](std::size_t i, const typename Layout::Place& place) HWY_ATTR {
                   const bool is_new = insert_masks(words + place.block * Layout::kBlockWords,
                                                    Ops::masks(place.pattern));
                   fresh += is_new;
                   if (was_new != nullptr) was_new[i] = is_new;
                 });
  return fresh;
}

template <class Ops, class Layout>
std::uint64_t fill_with(const Layout& layout, std::uint64_t* words, const KeySource& keys,
                        bool prefetch) noexcept {
  std::uint64_t fresh = 0;
  for_each_place(layout, words, keys, prefetch,
                 [&](std::size_t, const typename Layout::Place& place) HWY_ATTR {
                   std::uint64_t* const block = words + place.block * Layout::kBlockWords;
                   fresh += !Ops::set(block, place.pattern);
                 });
  return fresh;
}

template <class Layout>
void distribute(const Layout& layout, const KeySource& keys, unsigned shift,
                Digest** ends) noexcept {
  const auto put = [ends](std::size_t part, Digest digest) {
    Digest* const end = ends[part]++;
    *end = digest;
    __builtin_prefetch(end + 2 * kCacheLineBytes / sizeof(Digest), 1);
  };
  with_places(layout, keys, [&](auto& places) HWY_ATTR {
    Steps& steps = places.steps();
    for (std::size_t first = 0; first < steps.whole(); first += kStep) {
      places.take(first);
      const Digest* const digests = steps.at(first);
      for (std::size_t j = 0; j < kStep; ++j) put(places.block(first + j) >> shift, digests[j]);
    }
    for (const Digest digest : steps.rest()) put(layout.place(digest).block >> shift, digest);
  });
}

// The kernels of a blocked layout: one per number of slices, chosen once per batch.
template <class Run>
HWY_INLINE auto with_slices(const BlockedLayout& layout, Run&& run) {
  if (layout.slices == 8) return run(BlockedOps<8>{});
  if (layout.slices == 16) return run(BlockedOps<16>{});
  return run(BlockedOps<4>{});
}

void contains_blocked(const BlockedLayout& layout, const std::uint64_t* words,
                      const KeySource& keys, bool prefetch, bool* out) noexcept {
  with_slices(layout,
              [&]<class Ops>(Ops) { contains_with<Ops>(layout, words, keys, prefetch, out); });
}

std::uint64_t insert_blocked(const BlockedLayout& layout, std::uint64_t* words,
                             const KeySource& keys, bool prefetch, bool* was_new) noexcept {
  return with_slices(layout, [&]<class Ops>(Ops) {
    return insert_with<Ops>(layout, words, keys, prefetch, was_new);
  });
}

std::uint64_t fill_blocked(const BlockedLayout& layout, std::uint64_t* words, const KeySource& keys,
                           bool prefetch) noexcept {
  return with_slices(layout,
                     [&]<class Ops>(Ops) { return fill_with<Ops>(layout, words, keys, prefetch); });
}

}  // namespace

extern const Kernels kKernels;
const Kernels kKernels = {
    .name = kName,
    .blocked = {contains_blocked, insert_blocked, fill_blocked, distribute<BlockedLayout>},
    .split_block = {contains_with<SplitBlockOps, SplitBlockLayout>,
                    insert_with<SplitBlockOps, SplitBlockLayout>,
                    fill_with<SplitBlockOps, SplitBlockLayout>, distribute<SplitBlockLayout>},
};

}  // namespace probably::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "probably/batch.hpp"

namespace probably::detail {
namespace {

// Fixed in size: nothing here may allocate, since lookups never do.
struct Supported {
  std::array<const Kernels*, 4> list{};
  std::size_t count = 0;

  // Best first. A target that the compiler's baseline contains is that baseline.
  Supported() noexcept {
#if !PROBABLY_TSAN && !defined(PROBABLY_FORCE_SCALAR)
#if HWY_TARGETS & HWY_AVX2
    add(HWY_AVX2, N_AVX2::kKernels);
#endif
#if HWY_TARGETS & HWY_SSE4
    add(HWY_SSE4, N_SSE4::kKernels);
#endif
#if HWY_TARGETS & HWY_SSSE3
    add(HWY_SSSE3, N_SSSE3::kKernels);
#endif
#endif
    if (count == 0 || list[count - 1] != &HWY_NAMESPACE::kKernels)
      list[count++] = &HWY_NAMESPACE::kKernels;
  }

  void add(std::int64_t target, const Kernels& kernels) noexcept {
    if ((hwy::SupportedTargets() & target) != 0) list[count++] = &kernels;
  }
};

const Kernels* choose_kernels() noexcept {
  const auto supported = supported_kernels();
  const char* wanted = std::getenv("PROBABLY_TARGET");
  if (wanted == nullptr || *wanted == '\0') return supported.front();
  for (const Kernels* candidate : supported) {
    if (candidate->name == wanted) return candidate;
  }
  std::fprintf(stderr,
               "probably: PROBABLY_TARGET=%s is not one of this machine's targets:", wanted);
  for (const Kernels* candidate : supported) std::fprintf(stderr, " %s", candidate->name.data());
  std::fprintf(stderr, "; using %s.\n", supported.front()->name.data());
  return supported.front();
}

}  // namespace

std::span<const Kernels* const> supported_kernels() noexcept {
  static const Supported supported;
  return {supported.list.data(), supported.count};
}

bool is_cached(std::uint64_t bytes) noexcept {
  static const long l2_bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  constexpr std::uint64_t kUnknown = 256 * 1024;
  return bytes <= (l2_bytes > 0 ? static_cast<std::uint64_t>(l2_bytes) : kUnknown);
}

const Kernels& kernels() noexcept {
  static const Kernels* const chosen = choose_kernels();
  return *chosen;
}

}  // namespace probably::detail

std::string_view probably::batch_target() noexcept { return detail::kernels().name; }

#endif  // HWY_ONCE
