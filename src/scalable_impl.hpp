// The members of ScalableFilter that need no inlining. Each kind's source instantiates them once.
#pragma once

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "key_chunks.hpp"
#include "probably/scalable_filter.hpp"
#include "text.hpp"

namespace probably {
namespace detail {

// A thread compares the link's count with its capacity every so many insertions of its own.
inline std::uint64_t inserts_per_look(std::uint64_t link_keys) noexcept {
  return std::clamp<std::uint64_t>(link_keys / 4096, 1, 1024);
}

// Sizing goes through the mathematics library, and another machine's may round differently.
inline Error links_differ() {
  return {ErrorCode::incompatible,
          "The filters' links differ in geometry, though their params are equal."};
}

}  // namespace detail

template <class P>
ScalableFilter<P>::Link::Link(LinkFilter bits, std::uint64_t planned_keys) noexcept
    : filter(std::move(bits)),
      capacity(planned_keys),
      inserts_per_look(detail::inserts_per_look(planned_keys)) {}

template <class P>
ScalableFilter<P>::Chain::~Chain() {
  for (auto& link : links) delete link.load(std::memory_order_relaxed);
}

template <class P>
ScalableFilter<P>::ScalableFilter(std::unique_ptr<Chain> chain) noexcept
    : chain_(std::move(chain)) {}
template <class P>
ScalableFilter<P>::ScalableFilter(ScalableFilter&&) noexcept = default;
template <class P>
ScalableFilter<P>& ScalableFilter<P>::operator=(ScalableFilter&&) noexcept = default;
template <class P>
ScalableFilter<P>::~ScalableFilter() = default;

template <class P>
Result<ScalableFilter<P>> ScalableFilter<P>::create(const Plan& plan, const Hasher& hasher,
                                                    const StorageOptions& options) {
  const auto params = Params::from(plan);
  if (!params) return params.error();
  return create_from(*params, hasher, options);
}

template <class P>
Result<ScalableFilter<P>> ScalableFilter<P>::create_from(const Params& params, const Hasher& hasher,
                                                         const StorageOptions& options) {
  if (auto valid = params.validate(); !valid) return valid.error();
  auto chain = std::make_unique<Chain>(params, options);
  auto first = make_link(params, 0, hasher, options);
  if (!first) return first.error();
  offer(*chain, 0, *std::move(first));
  publish(*chain, 0);
  return ScalableFilter(std::move(chain));
}

template <class P>
Result<std::unique_ptr<typename ScalableFilter<P>::Link>> ScalableFilter<P>::make_link(
    const Params& params, std::uint32_t index, const Hasher& hasher,
    const StorageOptions& options) {
  const auto link_params = params.link_params(index);
  if (!link_params) return link_params.error();
  auto filter = LinkFilter::create(*link_params, hasher, options);
  if (!filter) return filter.error();
  return std::make_unique<Link>(*std::move(filter), params.link_keys(index));
}

template <class P>
void ScalableFilter<P>::offer(Chain& chain, std::uint32_t index,
                              std::unique_ptr<Link> link) noexcept {
  Link* expected = nullptr;
  // Release: whoever meets the link sees it whole. Acquire on failure: so does whoever publishes
  // another's.
  if (chain.links[index].compare_exchange_strong(expected, link.get(), std::memory_order_acq_rel,
                                                 std::memory_order_acquire)) {
    link.release();
  }
}

template <class P>
void ScalableFilter<P>::publish(Chain& chain, std::uint32_t index) noexcept {
  // Whoever offered the link; a thread that is stopped between the two steps holds up nobody.
  std::uint32_t count = index;
  chain.count.compare_exchange_strong(count, index + 1, std::memory_order_seq_cst);
}

template <class P>
bool ScalableFilter<P>::prepare(std::uint32_t index, const StorageOptions& options) noexcept {
  try {
    auto link = make_link(params(), index, hasher(), options);
    if (!link) return false;
    offer(*chain_, index, *std::move(link));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

template <class P>
void ScalableFilter<P>::grow(std::uint32_t index) noexcept {
  if (index == kMaxLinks) return;
  if (chain_->links[index].load(std::memory_order_acquire) == nullptr) {
    // Nobody waits for a thread that makes the link and may have been stopped, and nobody goes on
    // in a link that is full, or it would overflow by whatever comes meanwhile. So everybody who
    // gets here makes one, without touching its pages, and the first is taken.
    StorageOptions options = chain_->options;
    options.prefault = false;
    if (!prepare(index, options)) {
      chain_->growth_failures.fetch_add(1, std::memory_order_relaxed);
      // Without memory the old link takes what comes, until its next look.
      chain_->link(index - 1).full.store(false, std::memory_order_relaxed);
      return;
    }
  }
  publish(*chain_, index);
}

template <class P>
void ScalableFilter<P>::count_insertion(std::uint32_t index) noexcept {
  Link& link = chain_->link(index);
  if (link.inserted.add() % link.inserts_per_look == 0) look(index);
}

template <class P>
void ScalableFilter<P>::look(std::uint32_t index) noexcept {
  Link& link = chain_->link(index);
  const std::uint64_t inserted = link.inserted.total();
  const std::uint32_t next = index + 1;
  if (inserted < link.capacity / 2 || link_count() != next || next == kMaxLinks) return;
  if (inserted >= link.capacity) {
    link.full.store(true, std::memory_order_relaxed);
  } else if (chain_->options.prefault && !link.next_is_due.load(std::memory_order_relaxed) &&
             !link.next_is_due.exchange(true, std::memory_order_relaxed)) {
    // Touching pages takes long, so one thread starts before the others need them. If there is no
    // memory now, there may be when the link is full.
    prepare(next, chain_->options);
  }
}

template <class P>
bool ScalableFilter<P>::insert(const Digest& digest) noexcept {
  if (contains(digest)) return false;
  std::uint32_t count = link_count();
  if (chain_->link(count - 1).full.load(std::memory_order_relaxed)) [[unlikely]] {
    grow(count);
    count = link_count();
  }
  // The fences F1, F2 and F3 of docs/concurrency.md, "Growth": either this thread sees the bits
  // that another's insertion left in an older link, or that insertion sees the newer link and comes
  // here to decide.
  if (count > 1) {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // F1
    for (std::uint32_t i = count - 1; i-- > 0;) {
      if (chain_->link(i).filter.contains(digest)) return false;
    }
  }
  if (!chain_->link(count - 1).filter.insert(digest)) return false;
  for (;;) {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // F2
    const std::uint32_t now = link_count();
    if (now == count) break;
    // The chain grew meanwhile, which happens at most kMaxLinks times. The newest link decides; the
    // links between hold the key only if another thread brought it. Older links are not asked
    // again: they may hold our own bits.
    if (now - count > 1) std::atomic_thread_fence(std::memory_order_seq_cst);  // F3
    for (std::uint32_t i = now - 1; i-- > count;) {
      if (chain_->link(i).filter.contains(digest)) return false;
    }
    if (!chain_->link(now - 1).filter.insert(digest)) return false;
    count = now;
  }
  count_insertion(count - 1);
  return true;
}

template <class P>
void ScalableFilter<P>::contains_each(const KeySource& keys, bool* out) const noexcept {
  constexpr std::size_t kChunk = 256;
  std::array<bool, kChunk> found;
  const std::uint32_t count = link_count();
  detail::for_each_chunk<kChunk>(keys, [&](std::span<const Digest> digests, std::size_t first) {
    const std::span answers(out + first, digests.size());
    link(count - 1).contains(digests, answers);
    for (std::uint32_t i = count - 1; i-- > 0;) {
      link(i).contains(digests, std::span(found).first(digests.size()));
      for (std::size_t j = 0; j < digests.size(); ++j) answers[j] |= found[j];
    }
  });
}

template <class P>
std::uint64_t ScalableFilter<P>::insert_each(const KeySource& keys, bool* was_new) noexcept {
  constexpr std::size_t kAhead = 16;
  const auto ask = [this](const Digest& digest) {
    const std::uint32_t count = link_count();
    for (std::uint32_t i = 0; i < count; ++i) link(i).prefetch(digest);
  };
  std::uint64_t fresh = 0;
  detail::for_each_chunk<1024>(keys, [&](std::span<const Digest> digests, std::size_t first) {
    for (std::size_t i = 0; i < std::min(kAhead, digests.size()); ++i) ask(digests[i]);
    for (std::size_t i = 0; i < digests.size(); ++i) {
      if (i + kAhead < digests.size()) ask(digests[i + kAhead]);
      const bool is_new = insert(digests[i]);
      fresh += is_new;
      if (was_new != nullptr) was_new[first + i] = is_new;
    }
  });
  return fresh;
}

template <class P>
std::uint64_t ScalableFilter<P>::insert_alone_each(const KeySource& keys, bool* was_new) noexcept {
  constexpr std::size_t kChunk = 256;
  std::array<bool, kChunk> answers;
  std::array<std::size_t, kChunk> numbers;  // of the keys that no older link knows
  detail::DigestRoom<kChunk, Digest> unknown;
  std::uint64_t fresh = 0;
  detail::for_each_chunk<kChunk>(keys, [&](std::span<const Digest> digests, std::size_t first) {
    std::size_t count = digests.size();
    std::copy(digests.begin(), digests.end(), unknown.digests.begin());
    std::iota(numbers.begin(), numbers.end(), first);
    if (was_new != nullptr) std::fill_n(was_new + first, count, false);
    // Leaves out what this link knows.
    const auto forget_known = [&](std::uint32_t index, std::size_t begin) {
      link(index).contains(unknown.some(begin, count - begin),
                           std::span(answers).first(count - begin));
      std::size_t kept = begin;
      for (std::size_t i = begin; i < count; ++i) {
        unknown.digests[kept] = unknown.digests[i];
        numbers[kept] = numbers[i];
        kept += !answers[i - begin];
      }
      count = kept;
    };
    for (std::uint32_t i = link_count() - 1; i-- > 0;) forget_known(i, 0);

    for (std::size_t begin = 0; begin < count;) {
      const std::uint32_t newest = link_count() - 1;
      Link& target = chain_->link(newest);
      const std::uint64_t inserted = target.inserted.total();
      std::size_t some = count - begin;
      if (inserted < target.capacity) {
        some = static_cast<std::size_t>(std::min<std::uint64_t>(some, target.capacity - inserted));
      } else if (newest + 1 < kMaxLinks) {
        // Only a new key makes it grow. Without memory, the old link takes the rest.
        forget_known(newest, begin);
        some = count - begin;
        if (some == 0) break;
        grow(newest + 1);
        if (link_count() - 1 != newest) continue;
      }
      const std::uint64_t added =
          target.filter.insert_alone(unknown.some(begin, some), std::span(answers).first(some));
      if (was_new != nullptr) {
        for (std::size_t i = 0; i < some; ++i) was_new[numbers[begin + i]] = answers[i];
      }
      fresh += added;
      target.inserted.add(added);
      if (added != 0) look(newest);
      begin += some;
    }
  });
  return fresh;
}

template <class P>
Result<void> ScalableFilter<P>::merge(const ScalableFilter& other) {
  if (!(params() == other.params())) {
    return Error{ErrorCode::incompatible,
                 "The filters differ in params; create both from the same."};
  }
  if (!(hasher() == other.hasher())) {
    return Error{ErrorCode::incompatible,
                 "The filters differ in hasher; create both with the same seed or key."};
  }
  std::vector<LinkParams> links;
  for (std::uint32_t i = 0; i < other.link_count(); ++i) links.push_back(other.link(i).params());
  // Whatever can fail comes first.
  if (auto reached = reach(links); !reached) return reached;
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    chain_->link(i).filter.merge(other.link(i)).value();
    recount(i);
  }
  prepare_next();
  return {};
}

template <class P>
Result<void> ScalableFilter<P>::reach(std::span<const LinkParams> links) {
  const std::uint32_t had = link_count();
  for (std::uint32_t i = 0; i < std::min<std::size_t>(links.size(), had); ++i) {
    if (!(link(i).params() == links[i])) return detail::links_differ();
  }
  std::vector<std::unique_ptr<Link>> missing;
  for (std::uint32_t i = had; i < links.size(); ++i) {
    const auto planned = params().link_params(i);
    if (!planned || !(*planned == links[i])) return detail::links_differ();
    auto link = make_link(params(), i, hasher(), chain_->options);
    if (!link) return link.error();
    missing.push_back(*std::move(link));
  }
  for (std::uint32_t i = had; auto& link : missing) {
    offer(*chain_, i, std::move(link));
    publish(*chain_, i++);
  }
  return {};
}

template <class P>
void ScalableFilter<P>::recount(std::uint32_t index) noexcept {
  Link& link = chain_->link(index);
  // Two merges at once may count theirs twice; the next link then comes early.
  const double keys = link.filter.approximate_size().value;
  const std::uint64_t counted = link.inserted.total();
  const auto estimated = static_cast<std::uint64_t>(std::min(keys, static_cast<double>(kMaxKeys)));
  if (estimated > counted) link.inserted.add(estimated - counted);
  if (estimated >= link.capacity) link.full.store(true, std::memory_order_relaxed);
}

template <class P>
void ScalableFilter<P>::prepare_next() noexcept {
  const std::uint32_t next = link_count();
  if (chain_->options.prefault && next < kMaxLinks &&
      chain_->link(next - 1).full.load(std::memory_order_relaxed)) {
    prepare(next, chain_->options);
  }
}

template <class P>
void ScalableFilter<P>::clear() noexcept {
  // Also the one that is prepared and not yet published.
  for (std::uint32_t i = 1; i < kMaxLinks; ++i)
    delete chain_->links[i].exchange(nullptr, std::memory_order_relaxed);
  chain_->count.store(1, std::memory_order_release);
  Link& first = chain_->link(0);
  first.filter.clear();
  first.inserted.reset();
  first.next_is_due.store(false, std::memory_order_relaxed);
  first.full.store(false, std::memory_order_relaxed);
  chain_->growth_failures.store(0, std::memory_order_relaxed);
}

template <class P>
ScalableFilter<P> ScalableFilter<P>::clone() const {
  std::vector<StoredLink> links;
  const std::uint32_t count = link_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    // Counted first: an insertion between the two is in the bits but not in the count, which only
    // delays growth by it.
    const std::uint64_t insertions = link_insertions(i);
    links.push_back({link(i).clone(chain_->options), insertions});
  }
  return from_links(params(), chain_->options, std::move(links));
}

template <class P>
ScalableFilter<P> ScalableFilter<P>::from_links(const Params& params, const StorageOptions& options,
                                                std::vector<StoredLink> links) {
  auto chain = std::make_unique<Chain>(params, options);
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    auto link = std::make_unique<Link>(std::move(links[i].filter), params.link_keys(i));
    link->inserted.add(links[i].insertions);
    link->full = links[i].insertions >= link->capacity;
    offer(*chain, i, std::move(link));
    publish(*chain, i);
  }
  return ScalableFilter(std::move(chain));
}

template <class P>
Estimate ScalableFilter<P>::approximate_size() const noexcept {
  Estimate sum;
  double variance = 0;
  for (std::uint32_t i = 0; i < link_count(); ++i) {
    const Estimate part = link(i).approximate_size();
    sum.value += part.value;
    variance += part.standard_error * part.standard_error;
  }
  sum.standard_error = std::sqrt(variance);
  return sum;
}

template <class P>
double ScalableFilter<P>::fill_ratio() const noexcept {
  double set = 0;
  double all = 0;
  for (std::uint32_t i = 0; i < link_count(); ++i) {
    const auto bytes = static_cast<double>(link(i).size_bytes());
    set += link(i).fill_ratio() * bytes;
    all += bytes;
  }
  return set / all;
}

template <class P>
double ScalableFilter<P>::estimated_fpr() const noexcept {
  double absent = 1;
  for (std::uint32_t i = 0; i < link_count(); ++i) absent *= 1 - link(i).estimated_fpr();
  return 1 - absent;
}

template <class P>
std::uint64_t ScalableFilter<P>::size_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& slot : chain_->links) {
    // Acquire: the link may be on offer and not yet published.
    const Link* link = slot.load(std::memory_order_acquire);
    if (link == nullptr) break;
    sum += link->filter.size_bytes();
  }
  return sum;
}

template <class P>
bool ScalableFilter<P>::equals(const ScalableFilter& other) const noexcept {
  if (!(params() == other.params()) || link_count() != other.link_count()) return false;
  for (std::uint32_t i = 0; i < link_count(); ++i) {
    if (!(link(i) == other.link(i))) return false;
  }
  return true;
}

}  // namespace probably
