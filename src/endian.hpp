// Integers as files keep them, least byte first, on machines of either order.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

namespace probably::detail {

template <std::unsigned_integral T>
[[nodiscard]] constexpr T little_endian(T value) noexcept {
  if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bswap16(value);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(value);
  } else {
    static_assert(sizeof(T) == 8);
    return __builtin_bswap64(value);
  }
}

template <std::unsigned_integral T>
[[nodiscard]] T load_little_endian(const std::byte* from) noexcept {
  T value{};
  std::memcpy(&value, from, sizeof(value));
  return little_endian(value);
}

template <std::unsigned_integral T>
void store_little_endian(std::byte* to, T value) noexcept {
  value = little_endian(value);
  std::memcpy(to, &value, sizeof(value));
}

}  // namespace probably::detail
