// AnyFilter: a filter whose kind is known at run time only, for whoever opens what a file holds.
//
//   auto filter = probably::open("seen.probably");   // Result<AnyFilter>
//   filter->contains(std::span(keys), answers);
//
// It has the verbs that all kinds have, for keys that all kinds take: bytes and integers. Each call
// finds the kind first: give it many keys at a time, or ask for the kind once with get_if() and go
// on with that. Concurrency: as the kind inside.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "probably/batch.hpp"
#include "probably/detail/require.hpp"
#include "probably/kinds.hpp"

namespace probably {

// A key that every kind takes: filters of other software know no types of yours.
template <class T>
concept PlainKey = (BytesKey<T> || IntegerKey<T>)&&!CustomKey<T> && !detail::WideInteger<T>;

// NOLINTBEGIN(bugprone-exception-escape): there always is a filter, and there always are digests,
// since moving them never throws.

// Keys that were hashed by AnyFilter::hash(), to be used later or by another thread.
class AnyDigests {
 public:
  [[nodiscard]] std::size_t size() const noexcept {
    return std::visit([](const auto& digests) { return digests.size(); }, digests_);
  }

  // What they are to a filter with digests of type D.
  // Requires, checked in all builds: such a filter made them.
  template <class D>
  [[nodiscard]] std::span<const D> of() const noexcept {
    const auto* const digests = std::get_if<std::vector<D>>(&digests_);
    detail::require(digests != nullptr || size() == 0,
                    "AnyDigests: a filter of another kind made them.");
    return digests == nullptr ? std::span<const D>() : std::span<const D>(*digests);
  }

 private:
  friend class AnyFilter;

  // Several kinds have digests of one type.
  template <class Variant, class List>
  struct EachOnce;
  template <class Variant>
  struct EachOnce<Variant, std::tuple<>> {
    using type = Variant;
  };
  template <class... Vectors, class First, class... Others>
  struct EachOnce<std::variant<Vectors...>, std::tuple<First, Others...>> {
    using Vector = std::vector<typename First::Digest>;
    using Variant = std::conditional_t<(std::same_as<Vectors, Vector> || ...),
                                       std::variant<Vectors...>, std::variant<Vectors..., Vector>>;
    using type = typename EachOnce<Variant, std::tuple<Others...>>::type;
  };

  typename EachOnce<std::variant<std::vector<Digest>>, AllFilters>::type digests_;
};

class AnyFilter {
 public:
  template <Filter F>
  AnyFilter(F filter) noexcept : filter_(std::move(filter)) {}  // NOLINT: stands for its filter

  // Calls work(filter) with the filter as what it is.
  template <class Work>
  decltype(auto) visit(Work&& work) {
    return std::visit(std::forward<Work>(work), filter_);
  }
  template <class Work>
  decltype(auto) visit(Work&& work) const {
    return std::visit(std::forward<Work>(work), filter_);
  }

  // Returns whether the key was new.
  template <PlainKey K>
  bool insert(const K& key) noexcept {
    return visit([&](auto& filter) { return filter.insert(key); });
  }
  // False means no, for certain. True means probably.
  template <PlainKey K>
  [[nodiscard]] bool contains(const K& key) const noexcept {
    return visit([&](const auto& filter) { return filter.contains(key); });
  }

  // The same for many keys: a span of them, or packed strings.
  // Requires, checked in all builds: out.size() == keys.size(), was_new.size() likewise.
  template <Batch B>
  void contains(const B& keys, std::span<bool> out) const noexcept {
    visit([&](const auto& filter) { filter.contains(keys, out); });
  }
  // Returns how many keys were new.
  template <Batch B>
  std::uint64_t insert(const B& keys) noexcept {
    return visit([&](auto& filter) { return filter.insert(keys); });
  }
  template <Batch B>
  std::uint64_t insert(const B& keys, std::span<bool> was_new) noexcept {
    return visit([&](auto& filter) { return filter.insert(keys, was_new); });
  }
  // The same while no other call on this filter may run: blocked, split_block and scalable filters
  // are then faster.
  template <Batch B>
  std::uint64_t insert_alone(const B& keys) noexcept {
    return visit([&](auto& filter) { return filter.insert_alone(keys); });
  }
  template <Batch B>
  std::uint64_t insert_alone(const B& keys, std::span<bool> was_new) noexcept {
    return visit([&](auto& filter) { return filter.insert_alone(keys, was_new); });
  }

  // In two steps, of which the first may run on any number of threads. Throws std::bad_alloc.
  template <Batch B>
  void hash(const B& keys, AnyDigests& out) const {
    visit([&]<class F>(const F& filter) {
      using Digests = std::vector<typename F::Digest>;
      auto* digests = std::get_if<Digests>(&out.digests_);
      if (digests == nullptr) digests = &out.digests_.template emplace<Digests>();
      digests->resize(keys.size());
      detail::BasicKeySource<typename F::Hasher>(filter.hasher(), keys).hash(0, *digests);
    });
  }
  // Requires, checked in all builds: a filter with digests of the same type made them. The answers
  // are right if it also had an equal hasher.
  void contains(const AnyDigests& digests, std::span<bool> out) const noexcept {
    visit(
        [&]<class F>(const F& filter) { filter.contains(digests.of<typename F::Digest>(), out); });
  }
  std::uint64_t insert(const AnyDigests& digests, std::span<bool> was_new) noexcept {
    return visit([&]<class F>(F& filter) {
      return filter.insert(digests.of<typename F::Digest>(), was_new);
    });
  }
  std::uint64_t insert_alone(const AnyDigests& digests, std::span<bool> was_new) noexcept {
    return visit([&]<class F>(F& filter) {
      return filter.insert_alone(digests.of<typename F::Digest>(), was_new);
    });
  }

  // Fails with incompatible, changing nothing, unless kind, params and hasher are equal.
  Result<void> merge(const AnyFilter& other);
  // Forgets all keys.
  void clear() noexcept {
    visit([](auto& filter) { filter.clear(); });
  }
  // An independent copy.
  [[nodiscard]] AnyFilter clone() const {
    return visit([](const auto& filter) { return AnyFilter(filter.clone()); });
  }

  [[nodiscard]] Estimate approximate_size() const noexcept {
    return visit([](const auto& filter) { return filter.approximate_size(); });
  }
  [[nodiscard]] double fill_ratio() const noexcept {
    return visit([](const auto& filter) { return filter.fill_ratio(); });
  }
  [[nodiscard]] double estimated_fpr() const noexcept {
    return visit([](const auto& filter) { return filter.estimated_fpr(); });
  }
  [[nodiscard]] Kind kind() const noexcept {
    return visit([]<class F>(const F&) { return kind_of<F>; });
  }
  [[nodiscard]] HashAlgorithm hash_algorithm() const noexcept {
    return visit([](const auto& filter) { return filter.hasher().algorithm(); });
  }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept {
    return visit([](const auto& filter) { return filter.size_bytes(); });
  }

  // The filter, if it is of this kind, else null.
  template <Filter F>
  [[nodiscard]] F* get_if() noexcept {
    return std::get_if<F>(&filter_);
  }
  template <Filter F>
  [[nodiscard]] const F* get_if() const noexcept {
    return std::get_if<F>(&filter_);
  }

  // Same kind, params, hasher and bits.
  friend bool operator==(const AnyFilter& a, const AnyFilter& b) noexcept {
    return a.filter_ == b.filter_;
  }

 private:
  detail::VariantOfEach<std::type_identity_t, AllFilters>::type filter_;
};

namespace detail {

template <class F>
using PointerTo = F*;
template <class F>
using ConstPointerTo = const F*;

// Some filter, where it is: what is not a template takes filters of all kinds by these.
using FilterPointer = VariantOfEach<PointerTo, AllFilters>::type;
using ConstFilterPointer = VariantOfEach<ConstPointerTo, AllFilters>::type;

template <Filter F>
FilterPointer pointer_to(F& filter) noexcept {
  return &filter;
}
template <Filter F>
ConstFilterPointer pointer_to(const F& filter) noexcept {
  return &filter;
}
inline FilterPointer pointer_to(AnyFilter& filter) noexcept {
  return filter.visit([](auto& inside) { return pointer_to(inside); });
}
inline ConstFilterPointer pointer_to(const AnyFilter& filter) noexcept {
  return filter.visit([](const auto& inside) { return pointer_to(inside); });
}

}  // namespace detail

// NOLINTEND(bugprone-exception-escape)

}  // namespace probably
