// 128-bit integers: the type where the compiler has it, and the wide product on every compiler.
#pragma once

#include <concepts>
#include <cstdint>

namespace probably::detail {

// The number high * 2^64 + low.
struct Wide {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

#if defined(__SIZEOF_INT128__)
__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

template <class T>
concept WideInteger = std::same_as<T, Int128> || std::same_as<T, Uint128>;
#else
template <class T>
concept WideInteger = false;
#endif

// The schoolbook way, from four products of 32-bit halves; for compilers without a 128-bit type.
[[nodiscard]] constexpr Wide multiply_wide_portable(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t kLowHalf = 0xffffffff;
  const std::uint64_t low_low = (a & kLowHalf) * (b & kLowHalf);
  const std::uint64_t high_low = (a >> 32) * (b & kLowHalf);
  const std::uint64_t low_high = (a & kLowHalf) * (b >> 32);
  const std::uint64_t high_high = (a >> 32) * (b >> 32);
  // No overflow: the first two terms are below 2^32, the third is at most (2^32 - 1)^2.
  const std::uint64_t middle = (low_low >> 32) + (low_high & kLowHalf) + high_low;
  return {high_high + (low_high >> 32) + (middle >> 32), (middle << 32) | (low_low & kLowHalf)};
}

// One instruction where the machine has it.
[[nodiscard]] constexpr Wide multiply_wide(std::uint64_t a, std::uint64_t b) noexcept {
#if defined(__SIZEOF_INT128__)
  const Uint128 product = Uint128{a} * b;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
#else
  return multiply_wide_portable(a, b);
#endif
}

// Both halves of the product in one word, so that every bit of it depends on all bits of a and b.
[[nodiscard]] constexpr std::uint64_t multiply_fold(std::uint64_t a, std::uint64_t b) noexcept {
  const Wide product = multiply_wide(a, b);
  return product.high ^ product.low;
}

}  // namespace probably::detail
