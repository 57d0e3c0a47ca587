// The digests of a batch and their places, taken a step at a time and kept for a while. Highway
// includes this file again for each target.
#if defined(PROBABLY_PLACES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef PROBABLY_PLACES_INL_HPP
#undef PROBABLY_PLACES_INL_HPP
#else
#define PROBABLY_PLACES_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "key_chunks.hpp"
#include "probably/batch.hpp"
#include "simd/line_ops-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace probably::detail::HWY_NAMESPACE {

// Keys in flight between the prefetch of a line and its use. Measured:
// docs/decisions/0006-batches.md.
inline constexpr std::size_t kAhead = 32;

// The digests of a batch, a step of kStep keys at a time.
//
// Keys are hashed a step before they are asked for: a vector load of what scalar stores have just
// written would wait for them.
class Digests {
 public:
  HWY_INLINE explicit Digests(const KeySource& keys)
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
  // Begins the step of this key, whose digests are there, and makes those of the next. To be called
  // for all steps in order.
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

// The places of a batch's keys, computed in vectors when a step is taken, and kept: the block in
// the upper half of 64 bits, the pattern in the lower, the first if there are two. The second comes
// of the digest.
template <class Layout>
class PackedPlaces {
 public:
  // The places of a step's keys, by their number in the step.
  class Step {
   public:
    HWY_INLINE Step(const std::uint64_t* packed, const Digest* digests)
        : packed_(packed), digests_(digests) {}

    [[nodiscard]] HWY_INLINE Digest digest(std::size_t j) const { return digests_[j]; }
    [[nodiscard]] HWY_INLINE std::uint64_t block(std::size_t j) const { return packed_[j] >> 32; }
    [[nodiscard]] HWY_INLINE typename Layout::Place place(std::size_t j) const {
      return {block(j), pattern(Layout{}, j)};
    }

   private:
    [[nodiscard]] HWY_INLINE LinePattern pattern(const BlockedLayout&, std::size_t j) const {
      return {static_cast<std::uint32_t>(packed_[j]), BlockedLayout::second_pattern(digests_[j])};
    }
    [[nodiscard]] HWY_INLINE std::uint32_t pattern(const SplitBlockLayout&, std::size_t j) const {
      return static_cast<std::uint32_t>(packed_[j]);
    }

    const std::uint64_t* packed_;
    const Digest* digests_;
  };

  HWY_INLINE PackedPlaces(const Layout& layout, const KeySource& keys)
      : layout_(layout), digests_(keys) {}

  [[nodiscard]] HWY_INLINE Digests& digests() { return digests_; }
  // To be called for all steps in order.
  HWY_INLINE Step take(std::size_t first) {
    digests_.advance(first);
    pack_step(layout_, digests_.at(first), &packed_[first % kRing]);
    return step(first);
  }
  // A step that was taken, not more than kAhead keys ago.
  [[nodiscard]] HWY_INLINE Step step(std::size_t first) const {
    return {&packed_[first % kRing], digests_.at(first)};
  }

 private:
  static constexpr std::size_t kRing = std::bit_ceil(kAhead + kStep);

  const Layout& layout_;
  Digests digests_;
  alignas(32) std::array<std::uint64_t, kRing> packed_;
};

// The same for filters of more blocks than 32 bits count: computed at each use.
template <class Layout>
class ComputedPlaces {
 public:
  class Step {
   public:
    HWY_INLINE Step(const Layout& layout, const Digest* digests)
        : layout_(layout), digests_(digests) {}

    [[nodiscard]] HWY_INLINE Digest digest(std::size_t j) const { return digests_[j]; }
    [[nodiscard]] HWY_INLINE std::uint64_t block(std::size_t j) const { return place(j).block; }
    [[nodiscard]] HWY_INLINE typename Layout::Place place(std::size_t j) const {
      return layout_.place(digests_[j]);
    }

   private:
    const Layout& layout_;
    const Digest* digests_;
  };

  HWY_INLINE ComputedPlaces(const Layout& layout, const KeySource& keys)
      : layout_(layout), digests_(keys) {}

  [[nodiscard]] HWY_INLINE Digests& digests() { return digests_; }
  HWY_INLINE Step take(std::size_t first) {
    digests_.advance(first);
    return step(first);
  }
  [[nodiscard]] HWY_INLINE Step step(std::size_t first) const {
    return {layout_, digests_.at(first)};
  }

 private:
  const Layout& layout_;
  Digests digests_;
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
  if (!prefetch) {
    for_each_chunk<4 * kStep>(keys, [&](std::span<const Digest> digests, std::size_t i) HWY_ATTR {
      for (const Digest digest : digests) use(i++, layout.place(digest));
    });
    return;
  }
  with_places(layout, keys, [&](auto& places) HWY_ATTR {
    const auto ask = [words](std::uint64_t block) {
      __builtin_prefetch(words + block * Layout::kBlockWords);
    };
    const std::size_t whole = places.digests().whole();
    std::size_t taken = 0;
    for (; taken < std::min(whole, kAhead); taken += kStep) {
      const auto next = places.take(taken);
      for (std::size_t j = 0; j < kStep; ++j) ask(next.block(j));
    }
    std::size_t used = 0;
    for (; taken < whole; taken += kStep, used += kStep) {
      const auto next = places.take(taken);
      const auto step = places.step(used);
      for (std::size_t j = 0; j < kStep; ++j) {
        ask(next.block(j));
        use(used + j, step.place(j));
      }
    }
    for (; used < whole; used += kStep) {
      const auto step = places.step(used);
      for (std::size_t j = 0; j < kStep; ++j) use(used + j, step.place(j));
    }
    for (const Digest digest : places.digests().rest()) use(used++, layout.place(digest));
  });
}

}  // namespace probably::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the guard
