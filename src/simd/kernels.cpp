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
#include <cstddef>

#include "key_chunks.hpp"
#include "probably/detail/probe.hpp"

HWY_BEFORE_NAMESPACE();
namespace probably::detail::HWY_NAMESPACE {
namespace {

// The baseline has no vectors in Highway's terms: there, and where vector code is switched off, the
// header's single-key path serves, which uses what the compiler's own baseline allows.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || PROBABLY_TSAN || \
    defined(PROBABLY_FORCE_SCALAR)

constexpr std::string_view kName = "baseline";

// Sets the bits, which nobody else touches, and returns whether one was missing.
template <std::size_t Words>
bool set_masks(std::uint64_t* block, const std::array<std::uint64_t, Words>& masks) noexcept {
  std::uint64_t missing = 0;
  for (std::size_t word = 0; word < Words; ++word) {
    missing |= masks[word] & ~block[word];
    block[word] |= masks[word];
  }
  return missing != 0;
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

HWY_INLINE bool none_missing(Lanes missing) {
  const Tag d;
  return hn::AllTrue(d, hn::Eq(missing, hn::Zero(d)));
}

// The bits of eight slices of 32 bits that are missing in half a line. The loads race with
// concurrent ORs: see load_racy in detail/line_kernels.hpp for why that is harmless.
// ThreadSanitizer builds use the baseline.
HWY_INLINE Lanes half_missing(const std::uint64_t* half, std::uint32_t pattern) {
  const Tag d;
  Lanes missing = hn::Zero(d);
  for (std::size_t lane = 0; lane < 8; lane += kLanes) {
    const Lanes bits = top_five_one_hot(lane_products(pattern, lane));
    missing = hn::Or(missing, hn::AndNot(hn::LoadU(d, words32(half) + lane), bits));
  }
  return missing;
}

// Sets the bits of some lanes, which nobody else touches, and returns those that were missing.
HWY_INLINE Lanes set_lanes(std::uint64_t* words, std::size_t lane, Lanes bits) {
  const Tag d;
  const Lanes old = hn::LoadU(d, words32(words) + lane);
  hn::StoreU(hn::Or(old, bits), d, words32(words) + lane);
  return hn::AndNot(old, bits);
}

HWY_INLINE Lanes set_half(std::uint64_t* half, std::uint32_t pattern) {
  Lanes missing = hn::Zero(Tag{});
  for (std::size_t lane = 0; lane < 8; lane += kLanes) {
    const Lanes bits = top_five_one_hot(lane_products(pattern, lane));
    missing = hn::Or(missing, set_lanes(half, lane, bits));
  }
  return missing;
}

HWY_INLINE void half_masks(std::uint64_t* out, std::uint32_t pattern) {
  const Tag d;
  for (std::size_t lane = 0; lane < 8; lane += kLanes) {
    hn::StoreU(top_five_one_hot(lane_products(pattern, lane)), d, words32(out) + lane);
  }
}

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
    const auto bits = top_five_one_hot(hn::ShiftLeft<2>(products));
    return hn::AllTrue(d, hn::Eq(hn::AndNot(chosen, bits), hn::Zero(d)));
  }
  static HWY_INLINE BlockedLayout::Masks masks(LinePattern pattern) noexcept {
    return BlockedLayout{1, 4}.masks(pattern);
  }
  static HWY_INLINE bool set(std::uint64_t* line, LinePattern pattern) noexcept {
    const BlockedLayout::Masks bits = masks(pattern);
    Lanes missing = hn::Zero(Tag{});
    for (std::size_t lane = 0; lane < 16; lane += kLanes) {
      const Lanes some = hn::LoadU(Tag{}, words32(bits.data()) + lane);
      missing = hn::Or(missing, set_lanes(line, lane, some));
    }
    return !none_missing(missing);
  }
};

// The product's top bit chooses the lane's word in the lower or the upper half of the line.
template <>
struct BlockedOps<8> {
  static HWY_INLINE bool covers(const std::uint64_t* line, LinePattern pattern) noexcept {
    const Tag d;
    Lanes missing = hn::Zero(d);
    for (std::size_t lane = 0; lane < 8; lane += kLanes) {
      const Lanes products = lane_products(pattern.first, lane);
      const Lanes low = hn::LoadU(d, words32(line) + lane);
      const Lanes high = hn::LoadU(d, words32(line) + 8 + lane);
      const Lanes chosen = if_top_bit(products, high, low);
      const Lanes bits = top_five_one_hot(hn::Add(products, products));
      missing = hn::Or(missing, hn::AndNot(chosen, bits));
    }
    return none_missing(missing);
  }
  static HWY_INLINE BlockedLayout::Masks masks(LinePattern pattern) noexcept {
    const Tag d;
    const hn::RebindToSigned<Tag> di;
    BlockedLayout::Masks out;
    for (std::size_t lane = 0; lane < 8; lane += kLanes) {
      const Lanes products = lane_products(pattern.first, lane);
      const Lanes upper = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(di, products)));
      const Lanes bits = top_five_one_hot(hn::Add(products, products));
      hn::StoreU(hn::AndNot(upper, bits), d, words32(out.data()) + lane);
      hn::StoreU(hn::And(upper, bits), d, words32(out.data()) + 8 + lane);
    }
    return out;
  }
  static HWY_INLINE bool set(std::uint64_t* line, LinePattern pattern) noexcept {
    const Tag d;
    const hn::RebindToSigned<Tag> di;
    Lanes missing = hn::Zero(d);
    for (std::size_t lane = 0; lane < 8; lane += kLanes) {
      const Lanes products = lane_products(pattern.first, lane);
      const Lanes upper = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(di, products)));
      const Lanes bits = top_five_one_hot(hn::Add(products, products));
      missing = hn::Or(missing, set_lanes(line, lane, hn::AndNot(upper, bits)));
      missing = hn::Or(missing, set_lanes(line, 8 + lane, hn::And(upper, bits)));
    }
    return !none_missing(missing);
  }
};

template <>
struct BlockedOps<16> {
  static HWY_INLINE bool covers(const std::uint64_t* line, LinePattern pattern) noexcept {
    return none_missing(
        hn::Or(half_missing(line, pattern.first), half_missing(line + 4, pattern.second)));
  }
  static HWY_INLINE BlockedLayout::Masks masks(LinePattern pattern) noexcept {
    BlockedLayout::Masks out;
    half_masks(out.data(), pattern.first);
    half_masks(out.data() + 4, pattern.second);
    return out;
  }
  static HWY_INLINE bool set(std::uint64_t* line, LinePattern pattern) noexcept {
    return !none_missing(hn::Or(set_half(line, pattern.first), set_half(line + 4, pattern.second)));
  }
};

struct SplitBlockOps {
  static HWY_INLINE bool covers(const std::uint64_t* block, std::uint32_t pattern) noexcept {
    return none_missing(half_missing(block, pattern));
  }
  static HWY_INLINE SplitBlockLayout::Masks masks(std::uint32_t pattern) noexcept {
    SplitBlockLayout::Masks out;
    half_masks(out.data(), pattern);
    return out;
  }
  static HWY_INLINE bool set(std::uint64_t* block, std::uint32_t pattern) noexcept {
    return !none_missing(set_half(block, pattern));
  }
};

#endif

// Keys in flight between the prefetch of a line and its use, and how many are hashed at a time.
// Measured: docs/decisions/0006-batches.md.
constexpr std::size_t kAhead = 32;
constexpr std::size_t kStep = 8;

// Calls use(i, place) for every key, in order, with `prefetch` a while after its line was asked
// for. The place is computed twice: to keep it would cost more.
template <class Layout, class Use>
HWY_INLINE void for_each_place(const Layout& layout, const std::uint64_t* words,
                               const KeySource& keys, bool prefetch, Use&& use) {
  const std::size_t count = keys.size();
  const auto ask = [&](Digest digest) {
    __builtin_prefetch(words + layout.place(digest).block * Layout::kBlockWords);
  };
  std::size_t i = 0;
  if (const Digest* const digests = keys.digests()) {
    if (prefetch) {
      for (std::size_t j = 0; j < std::min(count, kAhead); ++j) ask(digests[j]);
      for (; i + kAhead < count; ++i) {
        ask(digests[i + kAhead]);
        use(i, layout.place(digests[i]));
      }
    }
    for (; i < count; ++i) use(i, layout.place(digests[i]));
    return;
  }
  constexpr std::size_t kRing = 2 * kAhead;
  DigestRoom<kRing> room;
  const std::span<Digest> ring = room.first(kRing);
  if (!prefetch) {
    while (i < count) {
      const std::size_t first = i;
      const std::size_t end = std::min(count, first + kRing);
      keys.hash(first, ring.first(end - first));
      for (; i < end; ++i) use(i, layout.place(ring[i - first]));
    }
    return;
  }
  std::size_t hashed = 0;
  const auto hash_some = [&] {
    const std::size_t some = std::min(count - hashed, kStep);
    const std::span<Digest> slots = ring.subspan(hashed % kRing, some);
    keys.hash(hashed, slots);
    for (const Digest digest : slots) ask(digest);
    hashed += some;
  };
  while (hashed < std::min(count, kAhead)) hash_some();
  while (i < count) {
    if (hashed < count) hash_some();
    for (const std::size_t end = std::min(count, i + kStep); i < end; ++i) {
      use(i, layout.place(ring[i % kRing]));
    }
  }
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
                   fresh += Ops::set(block, place.pattern);
                 });
  return fresh;
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
    .blocked = {contains_blocked, insert_blocked, fill_blocked},
    .split_block = {contains_with<SplitBlockOps, SplitBlockLayout>,
                    insert_with<SplitBlockOps, SplitBlockLayout>,
                    fill_with<SplitBlockOps, SplitBlockLayout>},
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
