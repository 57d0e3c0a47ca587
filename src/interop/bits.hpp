// What readers and writers of other software's files share: integers and words in either order, and
// memory that is asked for only when the file can fill it.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "endian.hpp"
#include "probably/interop.hpp"
#include "snapshot/body.hpp"
#include "text.hpp"

namespace probably::interop {

using detail::corrupt;
using detail::expect_end;
using detail::text;

enum class Order : std::uint8_t { least_first, highest_first };

template <std::unsigned_integral T>
[[nodiscard]] constexpr T in_order(T value, Order order) noexcept {
  value = detail::little_endian(value);
  if (order == Order::least_first || sizeof(T) == 1) return value;
  T swapped = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    swapped = static_cast<T>(swapped | static_cast<T>((value >> (8 * i)) & 0xff)
                                           << (8 * (sizeof(T) - 1 - i)));
  }
  return swapped;
}

template <std::unsigned_integral T>
Result<T> read_integer(ByteSource& source, Order order) {
  T value{};
  if (auto got = detail::read_all(source, std::as_writable_bytes(std::span(&value, 1))); !got) {
    return got.error();
  }
  return in_order(value, order);
}

template <std::unsigned_integral T>
Result<void> write_integer(T value, ByteSink& sink, Order order) {
  const T ordered = in_order(value, order);
  return sink.write(std::as_bytes(std::span(&ordered, 1)));
}

// Memory for params.size_bytes() with the first words of it from the source: `stored_words`, of
// which those that do not fit are read and dropped. Bits behind the last are cleared.
Result<Storage> read_words(ByteSource& source, std::uint64_t bits, std::uint64_t stored_words,
                           Order order, const ReadOptions& options);

Result<void> write_words(std::span<const std::uint64_t> words, ByteSink& sink, Order order);

// Fails with too_large beyond so many bytes.
Result<std::vector<std::byte>> read_to_end(ByteSource& source, std::uint64_t max_bytes);

// Refuses what would answer "no" to every key, and what has more hashes than we have room for.
Result<void> check_geometry(const std::string& name, std::uint64_t bits, std::uint64_t hashes);

// The words of a filter that has one array of them.
template <class P>
std::span<const std::uint64_t> words_of(const BitFilter<P>& filter) noexcept {
  return {filter.storage().words(), filter.size_bytes() / sizeof(std::uint64_t)};
}

}  // namespace probably::interop
