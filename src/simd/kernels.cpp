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

#include "probably/detail/probe.hpp"

HWY_BEFORE_NAMESPACE();
namespace probably::detail::HWY_NAMESPACE {
namespace {

// The baseline has no vectors in Highway's terms: there, and where vector code is switched off, the
// header's single-key path serves, which uses what the compiler's own baseline allows.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || PROBABLY_TSAN || \
    defined(PROBABLY_FORCE_SCALAR)

constexpr std::string_view kName = "baseline";

template <std::uint32_t Slices>
struct BlockedOps {
  static bool covers(const std::uint64_t* line, LinePattern pattern) noexcept {
    return detail::covers(BlockedLayout{1, Slices}, line, pattern);
  }
  static BlockedLayout::Masks masks(LinePattern pattern) noexcept {
    return detail::masks(BlockedLayout{1, Slices}, pattern);
  }
};

struct SplitBlockOps {
  static bool covers(const std::uint64_t* block, std::uint32_t pattern) noexcept {
    return detail::covers(SplitBlockLayout{}, block, pattern);
  }
  static SplitBlockLayout::Masks masks(std::uint32_t pattern) noexcept {
    return detail::masks(SplitBlockLayout{}, pattern);
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
};

#endif

// Keys in flight between the prefetch of a line and its use.
constexpr std::size_t kAhead = 32;

// Calls use(i, place) for every digest, in order, each a while after its line was asked for.
template <class Layout, class Use>
HWY_INLINE void for_each_place(const Layout& layout, const std::uint64_t* words,
                               std::span<const Digest> digests, Use&& use) {
  using Place = typename Layout::Place;
  std::array<Place, kAhead> ring;
  const auto ask = [&](std::size_t i) {
    const Place place = layout.place(digests[i]);
    __builtin_prefetch(words + place.block * Layout::kBlockWords);
    ring[i % kAhead] = place;
  };
  const std::size_t count = digests.size();
  const std::size_t warm = std::min(count, kAhead);
  for (std::size_t i = 0; i < warm; ++i) ask(i);
  std::size_t i = 0;
  for (; i + kAhead < count; ++i) {
    const Place place = ring[i % kAhead];
    ask(i + kAhead);
    use(i, place);
  }
  for (; i < count; ++i) use(i, ring[i % kAhead]);
}

template <class Ops, class Layout>
void contains_with(const Layout& layout, const std::uint64_t* words,
                   std::span<const Digest> digests, bool* out) noexcept {
  for_each_place(layout, words, digests,
                 [&](std::size_t i, const typename Layout::Place& place) HWY_ATTR {
                   out[i] = Ops::covers(words + place.block * Layout::kBlockWords, place.pattern);
                 });
}

template <class Ops, class Layout>
std::uint64_t insert_with(const Layout& layout, std::uint64_t* words,
                          std::span<const Digest> digests, bool* was_new) noexcept {
  std::uint64_t fresh = 0;
  for_each_place(
      layout, words, digests, [&](std::size_t i, const typename Layout::Place& place) HWY_ATTR {
        const bool is_new =
            insert_masks(words + place.block * Layout::kBlockWords, Ops::masks(place.pattern));
        fresh += is_new;
        if (was_new != nullptr) was_new[i] = is_new;
      });
  return fresh;
}

void contains_blocked(const BlockedLayout& layout, const std::uint64_t* words,
                      std::span<const Digest> digests, bool* out) noexcept {
  if (layout.slices == 8) return contains_with<BlockedOps<8>>(layout, words, digests, out);
  if (layout.slices == 16) return contains_with<BlockedOps<16>>(layout, words, digests, out);
  contains_with<BlockedOps<4>>(layout, words, digests, out);
}

std::uint64_t insert_blocked(const BlockedLayout& layout, std::uint64_t* words,
                             std::span<const Digest> digests, bool* was_new) noexcept {
  if (layout.slices == 8) return insert_with<BlockedOps<8>>(layout, words, digests, was_new);
  if (layout.slices == 16) return insert_with<BlockedOps<16>>(layout, words, digests, was_new);
  return insert_with<BlockedOps<4>>(layout, words, digests, was_new);
}

}  // namespace

extern const Kernels kKernels;
const Kernels kKernels = {
    .name = kName,
    .contains_blocked = contains_blocked,
    .insert_blocked = insert_blocked,
    .contains_split_block = contains_with<SplitBlockOps, SplitBlockLayout>,
    .insert_split_block = insert_with<SplitBlockOps, SplitBlockLayout>,
};

}  // namespace probably::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

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

const Kernels& kernels() noexcept {
  static const Kernels* const chosen = choose_kernels();
  return *chosen;
}

}  // namespace probably::detail

std::string_view probably::batch_target() noexcept { return detail::kernels().name; }

#endif  // HWY_ONCE
