// ScalableBloom: a Bloom filter for sets of unknown size. It grows, and the total rate keeps the
// promise.
//
// A chain of blocked filters. The newest link takes the insertions; when it is full, a larger one
// is added. Link i plans for growth^i times the keys of the first, and for a rate of fpr * w(i),
// with weights w that fall as (i + 1)^-1.5 and sum to 1: however long the chain grows, the rates of
// its links sum to at most fpr.
//
// Choose it when nobody can say how many keys will come. When somebody can, blocked.hpp costs one
// cache miss instead of one per link, and fewer bits: docs/filters/scalable.md shows both after a
// growth by 1,000.
//
// Concurrency (docs/concurrency.md has the proofs):
//   insert, contains, merge, clone, observers   any number of threads, and none ever waits
//   clear, move, destroy                        no other call on the object may run
// An object that was moved from can be assigned to or destroyed, nothing else.
// A key is found by every thread that its insertion happens-before; of concurrent insertions of one
// new key at most one returns true, also while the chain grows. Whoever brings a new key and finds
// the newest link full makes the next one; if several do, the first is taken. A link takes at most
// one key per thread more than it was made for.
#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "probably/blocked.hpp"
#include "probably/detail/striped_counter.hpp"

namespace probably {

struct ScalableParams {
  std::uint64_t first_keys = 4096;  // planned keys of the first link, 1 to kMaxKeys
  double fpr = 0.01;         // promised total rate, 1e-9 to kMaxFpr: each link gets a share of it
  std::uint32_t growth = 2;  // how much larger each link is than the one before: 2 to 16

  // plan.keys is what is expected at first, and may be left out; the filter grows beyond it. Memory
  // fields are refused.
  static Result<ScalableParams> from(const Plan& plan);
  [[nodiscard]] Result<void> validate() const;

  // The planned keys, rate and geometry of link i. Fails with invalid_argument where no such link
  // can be planned.
  [[nodiscard]] std::uint64_t link_keys(std::uint32_t link) const noexcept;
  [[nodiscard]] double link_fpr(std::uint32_t link) const noexcept;
  [[nodiscard]] Result<BlockedParams> link_params(std::uint32_t link) const;

  friend bool operator==(const ScalableParams&, const ScalableParams&) = default;
};

class ScalableBloom : public detail::KeyVerbs<ScalableBloom, Hasher> {
 public:
  using Params = ScalableParams;
  using Hasher = probably::Hasher;
  using Digest = probably::Digest;
  static constexpr std::uint32_t kMaxLinks = 48;

  // An empty filter with one link. Fails with invalid_argument, saying what is accepted; throws
  // std::bad_alloc. The options hold for every link. With prefault a link is made when the one
  // before is half full, by one thread while the others go on; only if it is not ready in time, or
  // the first link is tiny, a link starts untouched.
  static Result<ScalableBloom> create() { return create(Params{}); }
  static Result<ScalableBloom> create(const Plan& plan, const Hasher& hasher = {},
                                      const StorageOptions& options = {});
  // A template, so that braces alone always mean a plan.
  template <std::same_as<Params> P>
  static Result<ScalableBloom> create(const P& params, const Hasher& hasher = {},
                                      const StorageOptions& options = {}) {
    return create_from(params, hasher, options);
  }

  ScalableBloom(ScalableBloom&&) noexcept;
  ScalableBloom& operator=(ScalableBloom&&) noexcept;
  ~ScalableBloom();

  // Of a key, a digest or many of either: detail/key_verbs.hpp has the overloads.
  using detail::KeyVerbs<ScalableBloom, Hasher>::insert;
  using detail::KeyVerbs<ScalableBloom, Hasher>::contains;

  // Returns whether the key was new. Grows the chain when needed. If there is no memory for a new
  // link the insertion succeeds in the old one, at a rate that rises above the promise: see
  // growth_failures() and estimated_fpr().
  bool insert(Digest digest) noexcept;

  // False means no, for certain. True means probably.
  [[nodiscard]] PROBABLY_INLINE bool contains(Digest digest) const noexcept {
    // Acquire: whoever sees the count sees the links.
    const std::uint32_t count = chain_->count.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i + 1 < count; ++i) chain_->link(i).filter.prefetch(digest);
    for (std::uint32_t i = count; i-- > 0;) {
      if (chain_->link(i).filter.contains(digest)) return true;
    }
    return false;
  }

  // Takes over all keys of the other, link by link: commutative, associative and idempotent. Links
  // filled on both sides hold the keys of both, so the rate may rise above the promise: see
  // estimated_fpr(). To keep the promise, insert the keys instead. Fails with incompatible,
  // changing nothing, unless params() and hasher() are equal; throws std::bad_alloc, changing
  // nothing, when there is no memory for the other's links.
  Result<void> merge(const ScalableBloom& other);
  // Forgets all keys and all links but the first.
  void clear() noexcept;
  // An independent copy. Throws std::bad_alloc, and BadResult if this machine cannot do what the
  // options ask for.
  [[nodiscard]] ScalableBloom clone() const;

  // These read the whole filter, at memory speed.
  [[nodiscard]] Estimate approximate_size() const noexcept;
  [[nodiscard]] double fill_ratio() const noexcept;
  // The rate right now, of all links together, from the bits themselves.
  [[nodiscard]] double estimated_fpr() const noexcept;

  [[nodiscard]] const Params& params() const noexcept { return chain_->params; }
  [[nodiscard]] const Hasher& hasher() const noexcept { return chain_->link(0).filter.hasher(); }
  // Of all links, also of one that is made and not yet in use.
  [[nodiscard]] std::uint64_t size_bytes() const noexcept;
  [[nodiscard]] std::uint32_t link_count() const noexcept {
    return chain_->count.load(std::memory_order_acquire);
  }
  // Requires: index < link_count().
  [[nodiscard]] const BlockedBloom& link(std::uint32_t index) const noexcept {
    return chain_->link(index).filter;
  }
  // How many keys went into it, as counted when they were new.
  // Requires: index < link_count().
  [[nodiscard]] std::uint64_t link_insertions(std::uint32_t index) const noexcept {
    return chain_->link(index).inserted.total();
  }
  // How often a link was full and no larger one could be had.
  [[nodiscard]] std::uint64_t growth_failures() const noexcept {
    return chain_->growth_failures.load(std::memory_order_relaxed);
  }

  // Same params, hasher, links and bits.
  friend bool operator==(const ScalableBloom& a, const ScalableBloom& b) noexcept {
    return a.equals(b);
  }

 private:
  struct Link {
    Link(BlockedBloom bits, std::uint64_t planned_keys) noexcept;

    BlockedBloom filter;
    std::uint64_t capacity;                 // the keys that it takes
    std::uint64_t inserts_per_look;         // how often a thread compares the count with that
    std::atomic<bool> next_is_due = false;  // a thread prepares the next link, or did
    std::atomic<bool> full = false;         // seen to be; the next new key goes to the next link
    detail::StripedCounter inserted;
  };

  // Read by every call, written when the chain grows; what insertions write sits on other lines.
  struct Chain {
    Params params;
    StorageOptions options;
    std::atomic<std::uint32_t> count = 0;  // published links
    // Owned. Slots below count are never null again; the next one may hold a link that is prepared.
    std::array<std::atomic<Link*>, kMaxLinks> links = {};
    alignas(kCacheLineBytes) std::atomic<std::uint64_t> growth_failures = 0;

    Chain(const Params& p, const StorageOptions& o) noexcept : params(p), options(o) {}
    ~Chain();
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;

    // Relaxed: the acquiring load of `count` came first.
    [[nodiscard]] PROBABLY_INLINE Link& link(std::uint32_t index) const noexcept {
      return *links[index].load(std::memory_order_relaxed);
    }
  };

  explicit ScalableBloom(std::unique_ptr<Chain> chain) noexcept;

  static Result<ScalableBloom> create_from(const Params& params, const Hasher& hasher,
                                           const StorageOptions& options);
  static Result<std::unique_ptr<Link>> make_link(const Params& params, std::uint32_t index,
                                                 const Hasher& hasher,
                                                 const StorageOptions& options);
  // A filter of links that were filled before.
  struct StoredLink {
    BlockedBloom filter;
    std::uint64_t insertions;
  };
  static ScalableBloom from_links(const Params& params, const StorageOptions& options,
                                  std::vector<StoredLink> links);
  // Makes the links that are missing here. Fails with incompatible, changing nothing, unless all
  // have these geometries.
  Result<void> reach(std::span<const BlockedParams> links);
  // Counts the keys that came with bits from elsewhere toward the link's capacity.
  void recount(std::uint32_t index) noexcept;
  // Where prefaulting was asked for and the newest link is full already.
  void prepare_next() noexcept;
  // Makes the link number `index` of the chain, unless another thread did.
  static void offer(Chain& chain, std::uint32_t index, std::unique_ptr<Link> link) noexcept;
  // Lets insertions use it, unless another thread did. Requires: its slot was seen, with acquire,
  // to hold a link.
  static void publish(Chain& chain, std::uint32_t index) noexcept;
  // Returns whether link `index` is there to be published.
  bool prepare(std::uint32_t index, const StorageOptions& options) noexcept;
  // Publishes link `index`, if it can be had.
  void grow(std::uint32_t index) noexcept;
  void count_insertion(std::uint32_t index) noexcept;
  friend struct detail::SnapshotAccess;
  friend class detail::KeyVerbs<ScalableBloom, Hasher>;
  void contains_each(const detail::KeySource& keys, bool* out) const noexcept;
  std::uint64_t insert_each(const detail::KeySource& keys, bool* was_new) noexcept;
  [[nodiscard]] bool equals(const ScalableBloom& other) const noexcept;

  std::unique_ptr<Chain> chain_;
};

}  // namespace probably
