// Batches: many digests against one filter, with overlapping cache misses and run-time choice of
// vector code.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "probably/batch.hpp"
#include "probably/detail/probe.hpp"
#include "probably/layout/blocked.hpp"
#include "probably/layout/split_block.hpp"

namespace probably::detail {

// One implementation of the batch verbs, for one instruction set and one layout.
template <class Layout>
struct LayoutKernels {
  // With `prefetch`, lines are asked for some keys ahead: for filters that the cache does not hold.
  void (*contains)(const Layout&, const std::uint64_t* words, const KeySource& keys, bool prefetch,
                   bool* out) noexcept;
  // Returns how many keys were new. `was_new` may be null.
  std::uint64_t (*insert)(const Layout&, std::uint64_t* words, const KeySource& keys, bool prefetch,
                          bool* was_new) noexcept;
  // The same without atomic operations, for when nobody else touches these lines.
  std::uint64_t (*fill)(const Layout&, std::uint64_t* words, const KeySource& keys, bool prefetch,
                        bool* was_new) noexcept;
  // Appends the digests to bins: one whose block, shifted right by `shift`, is p goes to
  // *ends[p]++.
  void (*distribute)(const Layout&, const KeySource& keys, unsigned shift, Digest** ends) noexcept;
};

struct Kernels {
  std::string_view name;
  LayoutKernels<BlockedLayout> blocked;
  LayoutKernels<SplitBlockLayout> split_block;

  [[nodiscard]] const LayoutKernels<BlockedLayout>& of(const BlockedLayout&) const noexcept {
    return blocked;
  }
  [[nodiscard]] const LayoutKernels<SplitBlockLayout>& of(const SplitBlockLayout&) const noexcept {
    return split_block;
  }
};

// The ones that this machine can run, best first; the last is the baseline.
[[nodiscard]] std::span<const Kernels* const> supported_kernels() noexcept;

// The one in use: the best, or the one that the environment variable PROBABLY_TARGET names. Chosen
// at the first call.
[[nodiscard]] const Kernels& kernels() noexcept;

// Whether memory of this size stays in a core's own cache.
[[nodiscard]] bool is_cached(std::uint64_t bytes) noexcept;

// Both find out about the machine at their first call. Whoever makes a filter does that, so that no
// lookup ever waits for another's.
inline void learn_about_machine() noexcept {
  static_cast<void>(kernels());
  static_cast<void>(is_cached(0));
}

template <LineLayout L>
bool is_cached(const L& layout) noexcept {
  return is_cached((layout.last_block() + 1) * L::kBlockWords * sizeof(std::uint64_t));
}

template <LineLayout L>
void contains_batch(const L& layout, const std::uint64_t* words, const KeySource& keys,
                    bool* out) noexcept {
  kernels().of(layout).contains(layout, words, keys, !is_cached(layout), out);
}
template <LineLayout L>
std::uint64_t insert_batch(const L& layout, std::uint64_t* words, const KeySource& keys,
                           bool* was_new) noexcept {
  return kernels().of(layout).insert(layout, words, keys, !is_cached(layout), was_new);
}
template <LineLayout L>
std::uint64_t fill_batch(const L& layout, std::uint64_t* words, const KeySource& keys,
                         bool* was_new) noexcept {
  return kernels().of(layout).fill(layout, words, keys, !is_cached(layout), was_new);
}

}  // namespace probably::detail
