// Layouts that walk from bit to bit, anywhere in memory: insertion, and many keys at a time.
// Nothing is vectorised here; the misses overlap.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "count_bits.hpp"
#include "key_chunks.hpp"
#include "probably/detail/atomic.hpp"
#include "probably/detail/probe.hpp"

namespace probably::detail {

// No layout has more hashes.
inline constexpr std::size_t kMaxPlaces = 64;

template <WalkLayout L>
bool insert(const L& layout, std::uint64_t* words, const typename L::Digest& digest) noexcept {
  std::array<std::uint64_t, kMaxPlaces> places;
  std::uint64_t unset = 0;
  auto walk = layout.walk(digest);
  for (std::uint32_t i = 0; i < layout.hashes; ++i) {
    places[i] = walk.next();
    const std::uint64_t word = load(words[places[i] / 64], std::memory_order_acquire);
    unset |= (~word >> (places[i] % 64) & 1) << i;
  }
  // A place that comes twice counts where it comes first: the protocol's order is one of distinct
  // bits.
  const auto comes_before = [&](int index) {
    for (int i = 0; i < index; ++i) {
      if (places[static_cast<std::size_t>(i)] == places[static_cast<std::size_t>(index)])
        return true;
    }
    return false;
  };
  while (unset != 0) {
    const int last = 63 - std::countl_zero(unset);
    if (!comes_before(last)) break;
    unset &= ~(std::uint64_t{1} << last);
  }
  if (unset == 0) return false;
  for (; (unset & (unset - 1)) != 0; unset &= unset - 1) {
    const std::uint64_t place = places[static_cast<std::size_t>(std::countr_zero(unset))];
    set_bits(words[place / 64], std::uint64_t{1} << (place % 64));
  }
  const std::uint64_t decider = places[static_cast<std::size_t>(std::countr_zero(unset))];
  std::uint64_t& word = words[decider / 64];
  const std::uint64_t bit = std::uint64_t{1} << (decider % 64);
  return set_bits_and_decide(word, load_relaxed(word) & ~bit, bit);
}

// The share of set bits to the power of the hashes: the rate that the bits give.
inline double fill_to_the(std::uint32_t hashes, std::uint64_t bits,
                          const std::uint64_t* words) noexcept {
  const std::uint64_t set = count_bits({words, (bits + 63) / 64});
  return std::pow(static_cast<double>(set) / static_cast<double>(bits), hashes);
}

// The misses of one chunk overlap, those of two do not.
inline constexpr std::size_t kWalkChunk = 1024;

// Calls use(i) for every digest, in order, each a while after its first `places` places were asked
// for.
template <WalkLayout L, class Use>
void for_each_prefetched(const L& layout, const std::uint64_t* words,
                         std::span<const typename L::Digest> digests, std::uint32_t places,
                         Use&& use) noexcept {
  // A core fetches about so many lines at a time; requests beyond that get lost.
  constexpr std::size_t kInFlight = 24;
  const std::size_t ahead = std::max<std::size_t>(1, kInFlight / places);
  const auto ask = [&](std::size_t i) {
    auto walk = layout.walk(digests[i]);
    for (std::uint32_t place = 0; place < places; ++place)
      __builtin_prefetch(words + walk.next() / 64);
  };
  const std::size_t warm = std::min(digests.size(), ahead);
  for (std::size_t i = 0; i < warm; ++i) ask(i);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (i + ahead < digests.size()) ask(i + ahead);
    use(i);
  }
}

template <WalkLayout L, class H>
void contains_batch(const L& layout, const std::uint64_t* words, const BasicKeySource<H>& keys,
                    bool* out) noexcept {
  // Half of the bits are set in a full filter, so an absent key rarely needs more than its first
  // places.
  const std::uint32_t places = std::min(layout.hashes, 3u);
  for_each_chunk<kWalkChunk>(
      keys, [&](std::span<const typename L::Digest> digests, std::size_t first) {
        for_each_prefetched(layout, words, digests, places, [&](std::size_t i) {
          out[first + i] = contains(layout, words, digests[i]);
        });
      });
}

template <WalkLayout L, class H>
std::uint64_t insert_batch(const L& layout, std::uint64_t* words, const BasicKeySource<H>& keys,
                           bool* was_new) noexcept {
  std::uint64_t fresh = 0;
  for_each_chunk<kWalkChunk>(
      keys, [&](std::span<const typename L::Digest> digests, std::size_t first) {
        for_each_prefetched(layout, words, digests, layout.hashes, [&](std::size_t i) {
          const bool is_new = insert(layout, words, digests[i]);
          fresh += is_new;
          if (was_new != nullptr) was_new[first + i] = is_new;
        });
      });
  return fresh;
}

}  // namespace probably::detail
