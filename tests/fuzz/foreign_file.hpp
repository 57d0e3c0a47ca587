// Any bytes as a file of other software: refused, or a filter that can be used, is written and read
// again.
#pragma once

#include <cmath>
#include <optional>
#include <span>

#include "fuzz/harness.hpp"
#include "probably/any_filter.hpp"
#include "probably/interop.hpp"

namespace probably::fuzz {

inline constexpr interop::ReadOptions kReadOptions{.max_bytes = kLimitBytes};

// It does what filters do, whatever its bits.
template <class F>
void use(F& filter) {
  require(filter.size_bytes() <= kLimitBytes);
  require(filter.estimated_fpr() >= 0 && filter.estimated_fpr() <= 1);
  require(!std::isnan(filter.approximate_size().value));
  const bool was_there = filter.contains("a key");
  require(filter.insert("a key") != was_there);
  require(filter.contains("a key"));
}

template <class Write, class T>
Bytes written(Write&& write, const T& value) {
  BufferSink sink;
  require(write(value, sink).has_value());
  return sink.bytes();
}

// What read() makes of the bytes, if it accepts them. A source may have more in it than it has
// bytes: so much is then `hidden_bytes`.
template <class Read, class Write>
auto read_and_write(std::span<const std::byte> bytes, Read&& read, Write&& write,
                    std::uint64_t hidden_bytes = 0) {
  const auto read_from = [&](ByteSource&& source, std::uint64_t claimed_bytes) {
    return within(2 * (bytes.size() + claimed_bytes) + kReaderBytes,
                  [&] { return read(source, kReadOptions); });
  };
  // Where the length is known, nothing is believed that would not fit.
  auto result = read_from(BufferSource(bytes), hidden_bytes);
  const auto streamed = read_from(PiecewiseSource(bytes), kLimitBytes);
  require(result.has_value() == streamed.has_value());
  if (!result) {
    require_sentence(result.error());
    require_sentence(streamed.error());
    return result;
  }
  const Bytes first = written(write, *result);
  require(written(write, *streamed) == first);
  const auto again = read_from(BufferSource(first), kLimitBytes);
  require(again.has_value());
  require(written(write, *again) == first);
  return result;
}

}  // namespace probably::fuzz
