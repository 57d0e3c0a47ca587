// Batches: many digests against one filter, with overlapping cache misses and run-time choice of
// vector code.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "probably/digest.hpp"
#include "probably/layout/blocked.hpp"
#include "probably/layout/classic.hpp"
#include "probably/layout/split_block.hpp"

namespace probably::detail {

// One implementation of the batch verbs, for one instruction set.
// `was_new` may be null; insertions return how many keys were new.
struct Kernels {
  std::string_view name;
  void (*contains_blocked)(const BlockedLayout&, const std::uint64_t*, std::span<const Digest>,
                           bool* out) noexcept;
  std::uint64_t (*insert_blocked)(const BlockedLayout&, std::uint64_t*, std::span<const Digest>,
                                  bool* was_new) noexcept;
  void (*contains_split_block)(const SplitBlockLayout&, const std::uint64_t*,
                               std::span<const Digest>, bool* out) noexcept;
  std::uint64_t (*insert_split_block)(const SplitBlockLayout&, std::uint64_t*,
                                      std::span<const Digest>, bool* was_new) noexcept;
};

// The ones that this machine can run, best first; the last is the baseline.
[[nodiscard]] std::span<const Kernels* const> supported_kernels() noexcept;

// The one in use: the best, or the one that the environment variable PROBABLY_TARGET names. Chosen
// at the first call.
[[nodiscard]] const Kernels& kernels() noexcept;
// Whoever makes a filter does that first call, so that no lookup ever waits for the choice.
inline void choose_kernels_now() noexcept { static_cast<void>(kernels()); }

inline void contains_batch(const BlockedLayout& layout, const std::uint64_t* words,
                           std::span<const Digest> digests, bool* out) noexcept {
  kernels().contains_blocked(layout, words, digests, out);
}
inline void contains_batch(const SplitBlockLayout& layout, const std::uint64_t* words,
                           std::span<const Digest> digests, bool* out) noexcept {
  kernels().contains_split_block(layout, words, digests, out);
}
inline std::uint64_t insert_batch(const BlockedLayout& layout, std::uint64_t* words,
                                  std::span<const Digest> digests, bool* was_new) noexcept {
  return kernels().insert_blocked(layout, words, digests, was_new);
}
inline std::uint64_t insert_batch(const SplitBlockLayout& layout, std::uint64_t* words,
                                  std::span<const Digest> digests, bool* was_new) noexcept {
  return kernels().insert_split_block(layout, words, digests, was_new);
}

// The classic layout has nothing to vectorise: its bits lie anywhere. Only the misses overlap.
void contains_batch(const ClassicLayout& layout, const std::uint64_t* words,
                    std::span<const Digest> digests, bool* out) noexcept;
std::uint64_t insert_batch(const ClassicLayout& layout, std::uint64_t* words,
                           std::span<const Digest> digests, bool* was_new) noexcept;

}  // namespace probably::detail
