// The few ways in which filters touch shared words.
#pragma once

#include <atomic>
#include <cstdint>

#include "probably/detail/target.hpp"

namespace probably::detail {

static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

// atomic_ref of const arrives in C++26; a load does not write.
PROBABLY_INLINE std::uint64_t load(const std::uint64_t& word, std::memory_order order) noexcept {
  return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(word)).load(order);
}

PROBABLY_INLINE std::uint64_t load_relaxed(const std::uint64_t& word) noexcept {
  return load(word, std::memory_order_relaxed);
}

PROBABLY_INLINE std::uint64_t fetch_or(std::uint64_t& word, std::uint64_t mask) noexcept {
  // Release: whoever reads this word complete also sees the words that the insertion completed
  // before.
  return std::atomic_ref<std::uint64_t>(word).fetch_or(mask, std::memory_order_release);
}

}  // namespace probably::detail
