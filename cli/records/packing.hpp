// Compression that files tell of by their first bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace probably::cli {

enum class Packing : std::uint8_t { none, gzip, zstd };

namespace detail {

inline constexpr std::array kGzipMark{std::byte{0x1f}, std::byte{0x8b}};
inline constexpr std::array kZstdMark{std::byte{0x28}, std::byte{0xb5}, std::byte{0x2f},
                                      std::byte{0xfd}};

inline bool begins_with(std::span<const std::byte> bytes, std::span<const std::byte> mark) {
  return bytes.size() >= mark.size() && std::ranges::equal(bytes.first(mark.size()), mark);
}

}  // namespace detail

// What these first bytes of a file say.
[[nodiscard]] inline Packing packing_by_mark(std::span<const std::byte> first) {
  if (detail::begins_with(first, detail::kGzipMark)) return Packing::gzip;
  if (detail::begins_with(first, detail::kZstdMark)) return Packing::zstd;
  return Packing::none;
}

// Whether more bytes are needed to say it.
[[nodiscard]] inline bool could_become_mark(std::span<const std::byte> first) {
  const auto is_part_of = [first](std::span<const std::byte> mark) {
    return first.size() < mark.size() && detail::begins_with(mark, first);
  };
  return is_part_of(detail::kGzipMark) || is_part_of(detail::kZstdMark);
}

}  // namespace probably::cli
