// A key's bits in shared words: test them, or set them and learn whether the key was new.
//
// Two shapes of layout exist. A line layout puts all bits of a key into one block and hands out a
// mask per word; a walk layout hands out places one by one. Both follow the insertion protocol of
// docs/concurrency.md: read all bits (acquire); the last missing one is the decider; set the
// missing ones in fixed order (release); the key was new if the decider was still clear when it was
// set. Among concurrent insertions of one key at most one is told so.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "probably/detail/atomic.hpp"
#include "probably/detail/line_kernels.hpp"
#include "probably/digest.hpp"

namespace probably::detail {

template <class L>
concept LineLayout = requires(const L& layout, Digest digest, typename L::Pattern pattern) {
  { L::kBlockWords } -> std::convertible_to<std::size_t>;
  { layout.place(digest) } -> std::same_as<typename L::Place>;
  { layout.masks(pattern) } -> std::same_as<typename L::Masks>;
};

template <class L>
concept WalkLayout = requires(const L& layout, const typename L::Digest& digest) {
  { layout.hashes } -> std::convertible_to<std::uint32_t>;
  { layout.walk(digest).next() } -> std::same_as<std::uint64_t>;
};

template <std::size_t Words>
PROBABLY_INLINE bool insert_masks(std::uint64_t* block,
                                  const std::array<std::uint64_t, Words>& masks) noexcept {
  std::array<std::uint64_t, Words> seen;
  unsigned incomplete = 0;
  for (std::size_t word = 0; word < Words; ++word) {
    seen[word] = load(block[word], std::memory_order_acquire);
    incomplete |= static_cast<unsigned>((masks[word] & ~seen[word]) != 0) << word;
  }
  if (incomplete == 0) return false;
  for (; (incomplete & (incomplete - 1)) != 0; incomplete &= incomplete - 1) {
    const auto word = static_cast<std::size_t>(std::countr_zero(incomplete));
    set_bits(block[word], masks[word]);
  }
  const auto last = static_cast<std::size_t>(std::countr_zero(incomplete));
  return set_bits_and_decide(block[last], seen[last], masks[last] & ~seen[last]);
}

// Where a key's first bits are: the index of a word, for prefetching.
template <LineLayout L>
PROBABLY_INLINE std::uint64_t first_word(const L& layout, Digest digest) noexcept {
  return layout.place(digest).block * L::kBlockWords;
}

template <WalkLayout L>
PROBABLY_INLINE std::uint64_t first_word(const L& layout,
                                         const typename L::Digest& digest) noexcept {
  return layout.walk(digest).next() / 64;
}

template <LineLayout L>
PROBABLY_INLINE bool contains(const L& layout, const std::uint64_t* words, Digest digest) noexcept {
  const auto place = layout.place(digest);
  return covers(layout, words + place.block * L::kBlockWords, place.pattern);
}

template <LineLayout L>
PROBABLY_INLINE bool insert(const L& layout, std::uint64_t* words, Digest digest) noexcept {
  const auto place = layout.place(digest);
  return insert_masks(words + place.block * L::kBlockWords, masks(layout, place.pattern));
}

template <WalkLayout L>
PROBABLY_INLINE bool contains(const L& layout, const std::uint64_t* words,
                              const typename L::Digest& digest) noexcept {
  auto walk = layout.walk(digest);
  for (std::uint32_t i = 0; i < layout.hashes; ++i) {
    const std::uint64_t place = walk.next();
    if ((load_relaxed(words[place / 64]) >> (place % 64) & 1) == 0) return false;
  }
  return true;
}

// Out of line, in src/walk_impl.hpp: many places.
template <WalkLayout L>
bool insert(const L& layout, std::uint64_t* words, const typename L::Digest& digest) noexcept;

}  // namespace probably::detail
