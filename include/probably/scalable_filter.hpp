// ScalableFilter: the verbs of filters that grow, written once.
//
// Use it through its kinds: ScalableBloom (scalable.hpp), RedisChain (foreign.hpp). A kind is a
// Params type: what filter the links are, and how many keys, which rate and which geometry each
// has.
//
// Concurrency (docs/concurrency.md has the proofs):
//   insert, contains, merge, clone, observers   any number of threads, and none ever waits
//   insert_alone, clear, move, destroy          no other call on the object may run
// An object that was moved from can be assigned to or destroyed, nothing else.
// A key is found by every thread that its insertion happens-before; of concurrent insertions of one
// new key at most one returns true, also while the chain grows. Whoever brings a new key and finds
// the newest link full makes the next one; if several do, the first is taken. Threads compare
// counts with the capacity at times, so a link may take more keys than it was made for: of each
// thread a 4096th of these, at most 1024, and at least one.
#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "probably/bit_filter.hpp"
#include "probably/detail/striped_counter.hpp"

namespace probably {

template <class P>
class ScalableFilter : public detail::KeyVerbs<ScalableFilter<P>, typename P::Link::Hasher> {
  using KeySource = detail::BasicKeySource<typename P::Link::Hasher>;

 public:
  using Params = P;
  // The filters of the chain.
  using LinkFilter = typename P::Link;
  using LinkParams = typename LinkFilter::Params;
  using Hasher = typename LinkFilter::Hasher;
  using Digest = typename Hasher::Digest;
  static constexpr std::uint32_t kMaxLinks = 48;

  // An empty filter with one link. Fails with invalid_argument, saying what is accepted; throws
  // std::bad_alloc. The options hold for every link. With prefault a link is made when the one
  // before is half full, by one thread while the others go on; only if it is not ready in time, or
  // the first link is tiny, a link starts untouched.
  static Result<ScalableFilter> create() { return create(Params{}); }
  static Result<ScalableFilter> create(const Plan& plan, const Hasher& hasher = {},
                                       const StorageOptions& options = {});
  // A template, so that braces alone always mean a plan.
  template <std::same_as<Params> Q>
  static Result<ScalableFilter> create(const Q& params, const Hasher& hasher = {},
                                       const StorageOptions& options = {}) {
    return create_from(params, hasher, options);
  }

  ScalableFilter(ScalableFilter&&) noexcept;
  ScalableFilter& operator=(ScalableFilter&&) noexcept;
  ~ScalableFilter();

  // Of a key, a digest or many of either: detail/key_verbs.hpp has the overloads.
  using detail::KeyVerbs<ScalableFilter, Hasher>::insert;
  using detail::KeyVerbs<ScalableFilter, Hasher>::contains;

  // Returns whether the key was new. Grows the chain when needed. If there is no memory for a new
  // link the insertion succeeds in the old one, at a rate that rises above the promise: see
  // growth_failures() and estimated_fpr().
  bool insert(const Digest& digest) noexcept;

  // False means no, for certain. True means probably.
  [[nodiscard]] PROBABLY_INLINE bool contains(const Digest& digest) const noexcept {
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
  Result<void> merge(const ScalableFilter& other);
  // Forgets all keys and all links but the first.
  void clear() noexcept;
  // An independent copy. Throws std::bad_alloc, and BadResult if this machine cannot do what the
  // options ask for.
  [[nodiscard]] ScalableFilter clone() const;

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
  [[nodiscard]] const LinkFilter& link(std::uint32_t index) const noexcept {
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
  friend bool operator==(const ScalableFilter& a, const ScalableFilter& b) noexcept {
    return a.equals(b);
  }

 private:
  struct Link {
    Link(LinkFilter bits, std::uint64_t planned_keys) noexcept;

    LinkFilter filter;
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

  explicit ScalableFilter(std::unique_ptr<Chain> chain) noexcept;

  static Result<ScalableFilter> create_from(const Params& params, const Hasher& hasher,
                                            const StorageOptions& options);
  static Result<std::unique_ptr<Link>> make_link(const Params& params, std::uint32_t index,
                                                 const Hasher& hasher,
                                                 const StorageOptions& options);
  // A filter of links that were filled before.
  struct StoredLink {
    LinkFilter filter;
    std::uint64_t insertions;
  };
  static ScalableFilter from_links(const Params& params, const StorageOptions& options,
                                   std::vector<StoredLink> links);
  // Makes the links that are missing here. Fails with incompatible, changing nothing, unless all
  // have these geometries.
  Result<void> reach(std::span<const LinkParams> links);
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
  // Compares the link's count with its capacity, and sees to the next link.
  void look(std::uint32_t index) noexcept;
  friend struct detail::SnapshotAccess;
  friend class detail::KeyVerbs<ScalableFilter, Hasher>;
  void contains_each(const KeySource& keys, bool* out) const noexcept;
  std::uint64_t insert_each(const KeySource& keys, bool* was_new) noexcept;
  std::uint64_t insert_alone_each(const KeySource& keys, bool* was_new) noexcept;
  [[nodiscard]] bool equals(const ScalableFilter& other) const noexcept;

  std::unique_ptr<Chain> chain_;
};

}  // namespace probably
