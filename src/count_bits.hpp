// How many bits are set in words that others may set bits in meanwhile.
#pragma once

#include <cstdint>
#include <span>

namespace probably::detail {

[[nodiscard]] std::uint64_t count_bits(std::span<const std::uint64_t> words) noexcept;

}  // namespace probably::detail
