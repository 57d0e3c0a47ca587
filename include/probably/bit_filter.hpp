// BitFilter: the verbs that all filters of plain bits share, written once.
//
// Use it through its kinds: Bloom (bloom.hpp), BlockedBloom (blocked.hpp), SplitBlockBloom
// (split_block.hpp). A kind is a Params type: exact geometry, its arithmetic, and the Layout that
// turns a digest into bits.
//
// Concurrency (docs/concurrency.md has the proofs):
//   insert, contains, merge, clone, observers   any number of threads, and none ever waits
//   insert_alone, insert_bulk, clear,
//   move, destroy                               no other call on the object may run
// An object that was moved from can be assigned to or destroyed, nothing else.
// A key is found by every thread that its insertion happens-before. Observers beside writers see
// some state between the one before and the one after.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "probably/batch.hpp"
#include "probably/detail/key_verbs.hpp"
#include "probably/detail/probe.hpp"
#include "probably/digest.hpp"
#include "probably/plan.hpp"
#include "probably/result.hpp"
#include "probably/storage.hpp"

namespace probably {

template <class P>
class BitFilter : public detail::KeyVerbs<BitFilter<P>, typename P::Hasher> {
  using KeySource = detail::BasicKeySource<typename P::Hasher>;

 public:
  using Params = P;
  using Layout = typename P::Layout;
  using Hasher = typename P::Hasher;
  using Digest = typename Hasher::Digest;

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

  // Of a key, a digest or many of either: detail/key_verbs.hpp has the overloads.
  using detail::KeyVerbs<BitFilter, Hasher>::insert;
  using detail::KeyVerbs<BitFilter, Hasher>::contains;

  // Returns whether the key was new: false also for the share of new keys that the filter takes for
  // known. When several threads insert one new key, at most one of them is told so.
  PROBABLY_INLINE bool insert(const Digest& digest) noexcept {
    return detail::insert(layout_, words(), digest);
  }

  // False means no, for certain. True means probably.
  [[nodiscard]] PROBABLY_INLINE bool contains(const Digest& digest) const noexcept {
    return detail::contains(layout_, storage_.words(), digest);
  }

  // For millions of keys: on several threads, without atomic operations, and with the keys sorted
  // by their part of the filter, so that each part is filled while it is in the cache. No other
  // call on this filter may run meanwhile. Returns how many keys were new. Throws std::bad_alloc,
  // changing nothing.
  std::uint64_t insert_bulk(std::span<const Digest> digests,
                            const BulkOptions& options = {}) requires detail::LineLayout<Layout> {
    return insert_bulk_each(KeySource(digests), options);
  }
  template <Batch B>
  requires detail::LineLayout<Layout> PROBABLY_INLINE std::uint64_t insert_bulk(
      const B& keys, const BulkOptions& options = {}) {
    return insert_bulk_each(KeySource(hasher_, keys), options);
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
  // The bits as memory holds them: params().size_bytes() bytes. Where the least byte of a word
  // comes first, they are those of a snapshot, too.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return std::as_bytes(std::span(storage_.words(), params_.size_bytes() / sizeof(std::uint64_t)));
  }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return params_.size_bytes(); }
  // Starts loading the line that a later insert or contains of this digest needs first.
  PROBABLY_INLINE void prefetch(const Digest& digest) const noexcept {
    __builtin_prefetch(storage_.words() + detail::first_word(layout_, digest));
  }

  // Same geometry, hasher and bits.
  friend bool operator==(const BitFilter& a, const BitFilter& b) noexcept { return a.equals(b); }

 private:
  BitFilter(const Params& params, const Hasher& hasher, Storage storage) noexcept
      : layout_(params.layout()), params_(params), hasher_(hasher), storage_(std::move(storage)) {}

  // Takes read-only storage, too; such a filter must stay const.
  static Result<BitFilter> adopt_any(const Params& params, const Hasher& hasher, Storage storage);

  friend struct detail::SnapshotAccess;
  friend class detail::KeyVerbs<BitFilter, Hasher>;
  void contains_each(const KeySource& keys, bool* out) const noexcept;
  std::uint64_t insert_each(const KeySource& keys, bool* was_new) noexcept;
  std::uint64_t insert_alone_each(const KeySource& keys, bool* was_new) noexcept;
  std::uint64_t insert_bulk_each(const KeySource& keys, const BulkOptions& options);

  [[nodiscard]] std::uint64_t* words() noexcept { return storage_.mutable_words(); }
  [[nodiscard]] std::uint64_t count_bits() const noexcept;
  [[nodiscard]] bool equals(const BitFilter& other) const noexcept;

  Layout layout_;
  Params params_;
  Hasher hasher_;
  Storage storage_;
};

}  // namespace probably
