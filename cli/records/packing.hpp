// Compression that files tell of by their first bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace probably::cli {

// What xz and bzip2 pack is recognised, but not read.
enum class Packing : std::uint8_t { none, gzip, zstd, xz, bzip2 };

namespace detail {

inline constexpr std::array kGzipMark{std::byte{0x1f}, std::byte{0x8b}};
inline constexpr std::array kZstdMark{std::byte{0x28}, std::byte{0xb5}, std::byte{0x2f},
                                      std::byte{0xfd}};

inline constexpr std::array kXzMark{std::byte{0xfd}, std::byte{'7'}, std::byte{'z'},
                                    std::byte{'X'},  std::byte{'Z'}, std::byte{0}};
// Behind "BZh" and a digit, the digits of pi.
inline constexpr std::array kBzip2Mark{std::byte{0x31}, std::byte{0x41}, std::byte{0x59},
                                       std::byte{0x26}, std::byte{0x53}, std::byte{0x59}};
inline constexpr std::array kBzip2Begin{std::byte{'B'}, std::byte{'Z'}, std::byte{'h'}};

inline bool begins_with(std::span<const std::byte> bytes, std::span<const std::byte> mark) {
  return bytes.size() >= mark.size() && std::ranges::equal(bytes.first(mark.size()), mark);
}

}  // namespace detail

// No mark is longer.
inline constexpr std::size_t kMostMarkBytes = 10;

// What these first bytes of a file say.
[[nodiscard]] inline Packing packing_by_mark(std::span<const std::byte> first) {
  if (detail::begins_with(first, detail::kGzipMark)) return Packing::gzip;
  if (detail::begins_with(first, detail::kZstdMark)) return Packing::zstd;
  if (detail::begins_with(first, detail::kXzMark)) return Packing::xz;
  constexpr std::size_t kBehindDigit = detail::kBzip2Begin.size() + 1;
  if (detail::begins_with(first, detail::kBzip2Begin) && first.size() > kBehindDigit &&
      detail::begins_with(first.subspan(kBehindDigit), detail::kBzip2Mark)) {
    return Packing::bzip2;
  }
  return Packing::none;
}

// Whether more bytes are needed to say it.
[[nodiscard]] inline bool could_become_mark(std::span<const std::byte> first) {
  const auto is_part_of = [first](std::span<const std::byte> mark) {
    return first.size() < mark.size() && detail::begins_with(mark, first);
  };
  const bool could_be_bzip2 =
      is_part_of(detail::kBzip2Begin) ||
      (detail::begins_with(first, detail::kBzip2Begin) && first.size() < kMostMarkBytes);
  return is_part_of(detail::kGzipMark) || is_part_of(detail::kZstdMark) ||
         is_part_of(detail::kXzMark) || could_be_bzip2;
}

}  // namespace probably::cli
