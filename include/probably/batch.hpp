// Many keys in one call: what may be given, and which vector code then runs.
//
//   filter.contains(std::span(keys), answers)                      keys of any type
//   filter.contains(PackedStrings{characters, offsets}, answers)   strings in one buffer
//   filter.contains(digests, answers)                              hashed already
//
// Hashing, prefetching and testing go on as one pipeline, so that cache misses overlap. The vector
// code is chosen once, at run time, for this machine. The environment variable PROBABLY_TARGET
// forces another: avx2, sse4, ssse3 or baseline, as far as the machine has it. The bits and the
// answers are the same under each.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "probably/detail/target.hpp"
#include "probably/digest.hpp"

namespace probably {

// The name of the target in use.
[[nodiscard]] std::string_view batch_target() noexcept;

// A key that may stand in a span of keys. Spans of characters are refused: they are one key.
template <class T>
concept BatchKey =
    Key<std::remove_const_t<T>> && !std::same_as<std::remove_const_t<T>, Digest> &&
    !std::same_as<std::remove_const_t<T>, std::byte> && !(std::integral<T> && sizeof(T) == 1);

// Strings one after the other in one buffer, as Apache Arrow keeps them: string i begins at
// offsets[i] and ends at offsets[i + 1].
// Requires: the offsets ascend, and the last is at most characters.size().
template <std::integral Offset>
struct PackedStrings {
  std::span<const char> characters;
  std::span<const Offset> offsets;  // one more than there are strings, or none at all

  [[nodiscard]] std::size_t size() const noexcept {
    return offsets.empty() ? 0 : offsets.size() - 1;
  }
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    const auto begin = static_cast<std::size_t>(offsets[i]);
    const auto end = static_cast<std::size_t>(offsets[i + 1]);
    assert(begin <= end && end <= characters.size());
    return {characters.data() + begin, end - begin};
  }
};

template <class Characters, class Offsets>
PackedStrings(const Characters&, const Offsets&)
    -> PackedStrings<std::remove_const_t<std::ranges::range_value_t<Offsets>>>;

// For insert_bulk().
struct BulkOptions {
  unsigned threads = 0;  // 0: one per processor
  // Memory for sorting keys by their part of the filter; 0: as much as pays, at most the size of
  // the filter. With less than half of that it would not pay, and keys are taken as they come, by
  // one thread.
  std::uint64_t scratch_bytes = 0;
};

namespace detail {

// Digests of keys that somebody knows the type of: from number `first` on.
template <class H>
using HashKeys = void (*)(const H&, const void* keys, std::size_t first,
                          std::span<typename H::Digest> out) noexcept;

// Each user's own, since his flags compile them.
inline namespace PROBABLY_TARGET_NAMESPACE {

template <class H, class K>
void hash_span(const H& hasher, const void* keys, std::size_t first,
               std::span<typename H::Digest> out) noexcept {
  const auto* const some = static_cast<const K*>(keys) + first;
  hasher.digest_each(out.data(), out.size(), [some](std::size_t i) -> const K& { return some[i]; });
}

template <class H, class Offset>
void hash_packed(const H& hasher, const void* keys, std::size_t first,
                 std::span<typename H::Digest> out) noexcept {
  const auto& strings = *static_cast<const PackedStrings<Offset>*>(keys);
  hasher.digest_each(out.data(), out.size(), [&](std::size_t i) { return strings[first + i]; });
}

}  // namespace PROBABLY_TARGET_NAMESPACE

// The digests of a batch: given, or made of keys a few at a time. It refers to the keys and to the
// hasher, and lives as long as the call.
template <class H>
class BasicKeySource {
 public:
  using Digest = typename H::Digest;

  explicit BasicKeySource(std::span<const Digest> digests) noexcept
      : keys_(digests.data()), size_(digests.size()) {}

  template <BatchKey K, std::size_t N>
  PROBABLY_INLINE BasicKeySource(const H& hasher, std::span<K, N> keys) noexcept
      : hasher_(&hasher), keys_(keys.data()), size_(keys.size()), hash_(&hash_span<H, K>) {}

  template <class Offset>
  PROBABLY_INLINE BasicKeySource(const H& hasher, const PackedStrings<Offset>& keys) noexcept
      : hasher_(&hasher), keys_(&keys), size_(keys.size()), hash_(&hash_packed<H, Offset>) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // `count` of the keys, from number `first` on.
  // Requires: first + count <= size().
  [[nodiscard]] BasicKeySource part(std::size_t first, std::size_t count) const noexcept {
    BasicKeySource some = *this;
    some.first_ += first;
    some.size_ = count;
    return some;
  }
  // Null if there are keys, which have to be hashed.
  [[nodiscard]] const Digest* digests() const noexcept {
    return hash_ == nullptr ? static_cast<const Digest*>(keys_) + first_ : nullptr;
  }
  // The digests of the keys from number `first` on.
  // Requires: digests() == nullptr, first + out.size() <= size().
  void hash(std::size_t first, std::span<Digest> out) const noexcept {
    hash_(*hasher_, keys_, first_ + first, out);
  }
  // The same whether they are given or made; these go into `room`.
  // Requires: first + room.size() <= size().
  [[nodiscard]] std::span<const Digest> take(std::size_t first,
                                             std::span<Digest> room) const noexcept {
    if (hash_ == nullptr) return {digests() + first, room.size()};
    hash(first, room);
    return room;
  }

 private:
  const H* hasher_ = nullptr;
  const void* keys_ = nullptr;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  HashKeys<H> hash_ = nullptr;
};

using KeySource = BasicKeySource<Hasher>;

template <class T>
inline constexpr bool is_batch = false;
template <BatchKey K, std::size_t N>
inline constexpr bool is_batch<std::span<K, N>> = true;
template <class Offset>
inline constexpr bool is_batch<PackedStrings<Offset>> = true;

}  // namespace detail

// Many keys: a span of them, or packed strings.
template <class T>
concept Batch = detail::is_batch<T>;

}  // namespace probably
