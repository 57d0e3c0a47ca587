#include "count_bits.hpp"

#include <bit>

#include "probably/detail/atomic.hpp"

namespace probably::detail {
namespace {

PROBABLY_INLINE std::uint64_t count_each(std::span<const std::uint64_t> words) noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t& word : words) {
    sum += static_cast<std::uint64_t>(std::popcount(load_relaxed(word)));
  }
  return sum;
}

#if defined(__x86_64__)
// The instruction is younger than the architecture; without it a word costs a call.
[[gnu::target("popcnt")]] std::uint64_t count_by_instruction(
    std::span<const std::uint64_t> words) noexcept {
  return count_each(words);
}
#endif

}  // namespace

std::uint64_t count_bits(std::span<const std::uint64_t> words) noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("popcnt")) return count_by_instruction(words);
#endif
  return count_each(words);
}

}  // namespace probably::detail
