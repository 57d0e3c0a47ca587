// The few ways in which filters touch shared words.
#pragma once

#include <atomic>
#include <bit>
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

// Sets all bits of the mask: one OR.
PROBABLY_INLINE void set_bits(std::uint64_t& word, std::uint64_t mask) noexcept {
  // Release: whoever reads one of these bits set also sees the bits that the insertion set before.
  std::atomic_ref<std::uint64_t>(word).fetch_or(mask, std::memory_order_release);
}

// Sets those bits of `from` that `to` lacks.
inline void add_bits(std::uint64_t* to, const std::uint64_t* from, std::uint64_t count) noexcept {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t missing = load_relaxed(from[i]) & ~load_relaxed(to[i]);
    if (missing != 0) set_bits(to[i], missing);
  }
}

// Sets one bit, in one step, and returns whether it was clear.
// Requires: `bit` is a power of two.
PROBABLY_INLINE bool set_bit(std::uint64_t& word, std::uint64_t bit) noexcept {
#if defined(__x86_64__) && !PROBABLY_TSAN
  // Neither g++ 12 nor clang 14 chooses this instruction for the code below; they make a loop of
  // it.
  bool was_set = false;
  asm volatile("lock btsq %[index], %[word]"
               : [word] "+m"(word), "=@ccc"(was_set)
               : [index] "r"(std::int64_t{std::countr_zero(bit)})
               : "memory");
  return !was_set;
#else
  // Release: as above.
  return (std::atomic_ref<std::uint64_t>(word).fetch_or(bit, std::memory_order_release) & bit) == 0;
#endif
}

// The decision of docs/concurrency.md: sets all bits of the mask, the highest with the others or
// after them, and returns whether it was still clear. `seen` is what the word held a moment ago.
// Requires: mask != 0 and (seen & mask) == 0.
PROBABLY_INLINE bool set_bits_and_decide(std::uint64_t& word, std::uint64_t seen,
                                         std::uint64_t mask) noexcept {
  // One step if nobody changed the word meanwhile, and three at most.
  // Release: as above.
  if (std::atomic_ref<std::uint64_t>(word).compare_exchange_strong(
          seen, seen | mask, std::memory_order_release, std::memory_order_relaxed)) [[likely]]
    return true;
  const std::uint64_t decider = std::bit_floor(mask);
  set_bits(word, mask ^ decider);
  return set_bit(word, decider);
}

}  // namespace probably::detail
