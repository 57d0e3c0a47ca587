// BitFilter: the verbs that all filters of plain bits share, written once.
//
// Use it through its kinds: Bloom (bloom.hpp), BlockedBloom (blocked.hpp), SplitBlockBloom
// (split_block.hpp). A kind is a Params type: exact geometry, its arithmetic, and the Layout that
// turns a digest into bits.
//
// Concurrency (docs/concurrency.md has the proofs):
//   insert, contains, merge, clone, observers   any number of threads, and none ever waits
//   clear, move, destroy                        no other call on the object may run
// An object that was moved from can be assigned to or destroyed, nothing else.
// A key is found by every thread that its insertion happens-before. Observers beside writers see
// some state between the one before and the one after.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "probably/detail/probe.hpp"
#include "probably/detail/require.hpp"
#include "probably/digest.hpp"
#include "probably/plan.hpp"
#include "probably/result.hpp"
#include "probably/storage.hpp"

namespace probably {

// A key that may stand in a span of keys. Spans of characters are refused: they are one key.
template <class T>
concept BatchKey =
    Key<std::remove_const_t<T>> && !std::same_as<std::remove_const_t<T>, Digest> &&
    !std::same_as<std::remove_const_t<T>, std::byte> && !(std::integral<T> && sizeof(T) == 1);

// What is neither a key nor many digests. Overloads that take it are deleted, for the compiler's
// message.
template <class T>
concept NotAKey = !Key<T> && !std::convertible_to<const T&, std::span<const Digest>>;

namespace detail {

// Hashes a span of keys in chunks and calls use(digests, index of the first).
template <class K, std::size_t N, class F>
void for_each_chunk(const Hasher& hasher, std::span<K, N> keys, F&& use) noexcept {
  std::array<Digest, 256> digests;
  for (std::size_t first = 0; first < keys.size(); first += digests.size()) {
    const std::size_t count = std::min(digests.size(), keys.size() - first);
    for (std::size_t i = 0; i < count; ++i) digests[i] = hasher(keys[first + i]);
    use(std::span<const Digest>(digests.data(), count), first);
  }
}

}  // namespace detail

template <class P>
class BitFilter {
 public:
  using Params = P;
  using Layout = typename P::Layout;

  // An empty filter. Fails with invalid_argument, saying what is accepted; throws std::bad_alloc
  // when memory is short, with nothing leaked.
  static Result<BitFilter> create(const Plan& plan, const Hasher& hasher = {},
                                  const StorageOptions& options = {});
  static Result<BitFilter> create(const Params& params, const Hasher& hasher = {},
                                  const StorageOptions& options = {});
  // A filter over memory that already holds its bits, or zeros for an empty one. Fails with
  // invalid_argument when the storage is read-only, when its size is not params.size_bytes() (whole
  // lines are accepted, too), and when bits are set that no key of such a filter can have.
  static Result<BitFilter> adopt(const Params& params, const Hasher& hasher, Storage storage);

  // Returns whether the key was new: false also for the share of new keys that the filter takes for
  // known. When several threads insert one new key, at most one of them is told so.
  PROBABLY_INLINE bool insert(Digest digest) noexcept {
    return detail::insert(layout_, words(), digest);
  }
  template <Key K>
  PROBABLY_INLINE bool insert(const K& key) noexcept {
    return insert(hasher_(key));
  }

  // False means no, for certain. True means probably.
  [[nodiscard]] PROBABLY_INLINE bool contains(Digest digest) const noexcept {
    return detail::contains(layout_, storage_.words(), digest);
  }
  template <Key K>
  [[nodiscard]] PROBABLY_INLINE bool contains(const K& key) const noexcept {
    return contains(hasher_(key));
  }

  // Compilers print these lines when a type is no key; docs/hashing.md has more.
  template <NotAKey T>
  bool insert(const T&) = delete;  // write probably_digest() for T, or give std::span(keys)
  template <NotAKey T>
  bool contains(const T&) const = delete;  // write probably_digest() for T, or give spans

  // Same answers as one call per digest, but the cache misses overlap.
  // Requires, checked in all builds: out.size() == digests.size(), was_new.size() likewise.
  void contains(std::span<const Digest> digests, std::span<bool> out) const noexcept;
  // The same for insertion, in order; returns how many keys were new.
  std::uint64_t insert(std::span<const Digest> digests) noexcept;
  std::uint64_t insert(std::span<const Digest> digests, std::span<bool> was_new) noexcept;

  // Spans of keys, for example contains(std::span(names), answers).
  template <BatchKey K, std::size_t N>
  void contains(std::span<K, N> keys, std::span<bool> out) const noexcept {
    detail::require(out.size() == keys.size(), "contains: there must be an answer for each key.");
    detail::for_each_chunk(hasher_, keys, [&](std::span<const Digest> digests, std::size_t first) {
      contains(digests, out.subspan(first, digests.size()));
    });
  }
  template <BatchKey K, std::size_t N>
  std::uint64_t insert(std::span<K, N> keys) noexcept {
    std::uint64_t fresh = 0;
    detail::for_each_chunk(hasher_, keys, [&](std::span<const Digest> digests, std::size_t) {
      fresh += insert(digests);
    });
    return fresh;
  }
  template <BatchKey K, std::size_t N>
  std::uint64_t insert(std::span<K, N> keys, std::span<bool> was_new) noexcept {
    detail::require(was_new.size() == keys.size(), "insert: there must be an answer for each key.");
    std::uint64_t fresh = 0;
    detail::for_each_chunk(hasher_, keys, [&](std::span<const Digest> digests, std::size_t first) {
      fresh += insert(digests, was_new.subspan(first, digests.size()));
    });
    return fresh;
  }

  // Takes over all keys of the other. Fails with incompatible, changing nothing, unless params()
  // and hasher() are equal. The rate grows with the union: see estimated_fpr().
  Result<void> merge(const BitFilter& other);
  // Forgets all keys.
  void clear() noexcept;
  // An independent copy, in memory of its own. Throws std::bad_alloc, and BadResult if this machine
  // cannot do what the options ask for.
  [[nodiscard]] BitFilter clone(const StorageOptions& options = {}) const;

  // The three observers below read the whole filter, at memory speed.

  // How many distinct keys went in, judged by the bits; infinite when every bit is set.
  [[nodiscard]] Estimate approximate_size() const noexcept;
  // Share of bits that are set.
  [[nodiscard]] double fill_ratio() const noexcept;
  // The rate right now: the chance that a random absent key meets only set bits, from the bits
  // themselves.
  [[nodiscard]] double estimated_fpr() const noexcept;

  [[nodiscard]] const Params& params() const noexcept { return params_; }
  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }
  [[nodiscard]] const Storage& storage() const noexcept { return storage_; }
  // The bits as they are stored: params().size_bytes() bytes.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return std::as_bytes(std::span(storage_.words(), params_.size_bytes() / sizeof(std::uint64_t)));
  }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return params_.size_bytes(); }
  // Starts loading the line that a later insert or contains of this digest needs first.
  PROBABLY_INLINE void prefetch(Digest digest) const noexcept {
    __builtin_prefetch(storage_.words() + detail::first_word(layout_, digest));
  }

  // Same geometry, hasher and bits.
  friend bool operator==(const BitFilter& a, const BitFilter& b) noexcept { return a.equals(b); }

 private:
  BitFilter(const Params& params, const Hasher& hasher, Storage storage) noexcept
      : layout_(params.layout()), params_(params), hasher_(hasher), storage_(std::move(storage)) {}

  [[nodiscard]] std::uint64_t* words() noexcept { return storage_.mutable_words(); }
  [[nodiscard]] std::uint64_t count_bits() const noexcept;
  [[nodiscard]] bool equals(const BitFilter& other) const noexcept;

  Layout layout_;
  Params params_;
  Hasher hasher_;
  Storage storage_;
};

}  // namespace probably
