// Kinds: a filter's stable number, its name, and what it can do.
//
// The list at the end is the one place that knows all kinds. Tests and benchmarks iterate over it;
// a kind that is not in it does not exist.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "probably/blocked.hpp"
#include "probably/bloom.hpp"
#include "probably/foreign.hpp"
#include "probably/scalable.hpp"
#include "probably/split_block.hpp"

namespace probably {

// The numbers are stable: files store them. Append only.
enum class Kind : std::uint8_t {
  bloom = 1,
  blocked = 2,
  split_block = 3,
  scalable = 4,
  go_bloom = 5,
  guava_32 = 6,
  guava_64 = 7,
  dcso = 8,
  redis_bloom = 9,
  redis_chain = 10,
};
inline constexpr unsigned kKindCount = 10;

// Answers membership: no, or probably.
template <class F>
concept Filter = requires(const F& filter, const typename F::Digest& digest,
                          std::span<const typename F::Digest> digests, std::span<bool> out) {
  { filter.contains(digest) }
  noexcept->std::same_as<bool>;
  { filter.contains(digests, out) }
  noexcept;
  { filter.params() } -> std::convertible_to<typename F::Params>;
  { filter.hasher() } -> std::same_as<const typename F::Hasher&>;
  { filter.size_bytes() } -> std::same_as<std::uint64_t>;
};

// Takes keys one by one, at any time.
template <class F>
concept Insertable = Filter<F> && requires(F& filter, const typename F::Digest& digest,
                                           std::span<const typename F::Digest> digests) {
  { filter.insert(digest) }
  noexcept->std::same_as<bool>;
  { filter.insert(digests) }
  noexcept->std::same_as<std::uint64_t>;
  { filter.clear() }
  noexcept;
};

// Takes over another filter's keys.
template <class F>
concept Mergeable = Filter<F> && requires(F& filter, const F& other) {
  { filter.merge(other) } -> std::same_as<Result<void>>;
};

// Has no fixed capacity.
template <class F>
concept Growable = Insertable<F> && requires(const F& filter) {
  { filter.link_count() } -> std::same_as<std::uint32_t>;
};

// The kind of a filter type: kind_of<BlockedBloom>.
template <class F>
inline constexpr Kind kind_of = Kind{};
template <>
inline constexpr Kind kind_of<Bloom> = Kind::bloom;
template <>
inline constexpr Kind kind_of<BlockedBloom> = Kind::blocked;
template <>
inline constexpr Kind kind_of<SplitBlockBloom> = Kind::split_block;
template <>
inline constexpr Kind kind_of<ScalableBloom> = Kind::scalable;

template <>
inline constexpr Kind kind_of<GoBloom> = Kind::go_bloom;
template <>
inline constexpr Kind kind_of<Guava32Bloom> = Kind::guava_32;
template <>
inline constexpr Kind kind_of<Guava64Bloom> = Kind::guava_64;
template <>
inline constexpr Kind kind_of<DcsoBloom> = Kind::dcso;
template <>
inline constexpr Kind kind_of<RedisBloom> = Kind::redis_bloom;
template <>
inline constexpr Kind kind_of<RedisChain> = Kind::redis_chain;

[[nodiscard]] constexpr std::string_view name(Kind kind) noexcept {
  switch (kind) {
    case Kind::bloom:
      return "bloom";
    case Kind::blocked:
      return "blocked";
    case Kind::split_block:
      return "split_block";
    case Kind::scalable:
      return "scalable";
    case Kind::go_bloom:
      return "go_bloom";
    case Kind::guava_32:
      return "guava_32";
    case Kind::guava_64:
      return "guava_64";
    case Kind::dcso:
      return "dcso";
    case Kind::redis_bloom:
      return "redis_bloom";
    case Kind::redis_chain:
      return "redis_chain";
  }
  return "unknown";
}

// Ours, on 64-bit digests, and those of other software, each on its own.
using NativeFilters = std::tuple<Bloom, BlockedBloom, SplitBlockBloom, ScalableBloom>;
using ForeignFilters =
    std::tuple<GoBloom, Guava32Bloom, Guava64Bloom, DcsoBloom, RedisBloom, RedisChain>;
using AllFilters =
    decltype(std::tuple_cat(std::declval<NativeFilters>(), std::declval<ForeignFilters>()));

static_assert(std::tuple_size_v<AllFilters> == kKindCount);

namespace detail {

template <template <class> class Of, class List>
struct VariantOfEach;
template <template <class> class Of, class... Filters>
struct VariantOfEach<Of, std::tuple<Filters...>> {
  using type = std::variant<Of<Filters>...>;
};
template <class F>
using ParamsOf = typename F::Params;

template <class Work, class First, class... Others>
auto with_kind(Kind kind, Work&& work, std::type_identity<std::tuple<First, Others...>>) {
  if constexpr (sizeof...(Others) == 0) {
    return work.template operator()<First>();
  } else {
    if (kind == kind_of<First>) return work.template operator()<First>();
    return with_kind(kind, work, std::type_identity<std::tuple<Others...>>{});
  }
}

}  // namespace detail

// Calls work.operator()<F>() with the filter type of that kind.
template <class Work>
auto with_kind(Kind kind, Work&& work) {
  return detail::with_kind(kind, work, std::type_identity<AllFilters>{});
}

// The params of a filter whose kind is known at run time only.
using AnyParams = detail::VariantOfEach<detail::ParamsOf, AllFilters>::type;

static_assert(Insertable<Bloom> && Mergeable<Bloom> && !Growable<Bloom>);
static_assert(Insertable<BlockedBloom> && Mergeable<BlockedBloom> && !Growable<BlockedBloom>);
static_assert(Insertable<SplitBlockBloom> && Mergeable<SplitBlockBloom> &&
              !Growable<SplitBlockBloom>);
static_assert(Insertable<ScalableBloom> && Mergeable<ScalableBloom> && Growable<ScalableBloom>);

static_assert(Insertable<GoBloom> && Mergeable<GoBloom> && !Growable<GoBloom>);

}  // namespace probably
