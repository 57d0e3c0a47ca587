// Between filters and headers: what a kind writes into one, and how it comes back.
//
//   contents_of(filter)               header and bits of a filter
//   geometry_of<F>(header, name)      its params, validated against the sizes in the header
//   assemble<F>(header, ...)          a filter over memory that holds its bits
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "endian.hpp"
#include "probably/snapshot.hpp"
#include "snapshot/body.hpp"
#include "text.hpp"

namespace probably::detail {

// The one door to what filters and hashers keep to themselves.
struct SnapshotAccess {
  static SecretKey secret_of(const Hasher& hasher) noexcept {
    SecretKey secret{};
    store_little_endian(secret.data(), hasher.secret_[0]);
    store_little_endian(secret.data() + 8, hasher.secret_[1]);
    return secret;
  }
  static bool has_drawn_secret(const Hasher& hasher) noexcept { return hasher.is_drawn_; }
  template <class P>
  static std::uint64_t* words_of(BitFilter<P>& filter) noexcept {
    return filter.words();
  }
  template <class P>
  static std::uint64_t* words_of(ScalableFilter<P>& filter, std::uint32_t link) noexcept {
    return filter.chain_->link(link).filter.words();
  }
  template <class P>
  static Result<BitFilter<P>> adopt(const P& params, const typename P::Hasher& hasher,
                                    Storage storage) {
    return BitFilter<P>::adopt_any(params, hasher, std::move(storage));
  }
  template <class P>
  static ScalableFilter<P> from_links(
      const P& params, const StorageOptions& options,
      std::vector<std::pair<typename P::Link, std::uint64_t>> links) {
    std::vector<typename ScalableFilter<P>::StoredLink> stored;
    stored.reserve(links.size());
    for (auto& [filter, insertions] : links) stored.push_back({std::move(filter), insertions});
    return ScalableFilter<P>::from_links(params, options, std::move(stored));
  }
  using MarkState = Mark::State;
  static const MarkState& state_of(const Mark& mark) noexcept { return *mark.state_; }
  template <class P>
  static Result<void> reach(ScalableFilter<P>& filter,
                            std::span<const typename P::Link::Params> links) {
    return filter.reach(links);
  }
  template <class P>
  static void recount(ScalableFilter<P>& filter, std::uint32_t link) noexcept {
    filter.recount(link);
    filter.prepare_next();
  }
};

using ParamFields = std::array<std::uint64_t, 3>;

inline ParamFields fields_of(const BloomParams& params) { return {params.bits, params.hashes, 0}; }
inline ParamFields fields_of(const BlockedParams& params) {
  return {params.lines, params.slices, 0};
}
inline ParamFields fields_of(const SplitBlockParams& params) { return {params.blocks, 0, 0}; }
template <class Scheme>
ParamFields fields_of(const ForeignParams<Scheme>& params) {
  return {params.bits, params.hashes, 0};
}
inline ParamFields fields_of(const ScalableParams& params) {
  return {params.first_keys, std::bit_cast<std::uint64_t>(params.fpr), params.growth};
}
inline ParamFields fields_of(const RedisChainParams& params) {
  return {params.first_keys, std::bit_cast<std::uint64_t>(params.fpr), params.growth};
}

// Narrowed fields that do not fit are met by what comes out being written differently.
inline void from_fields(const ParamFields& fields, BloomParams& params) {
  params = {fields[0], static_cast<std::uint32_t>(fields[1])};
}
inline void from_fields(const ParamFields& fields, BlockedParams& params) {
  params = {fields[0], static_cast<std::uint32_t>(fields[1])};
}
inline void from_fields(const ParamFields& fields, SplitBlockParams& params) {
  params = {fields[0]};
}
template <class Scheme>
void from_fields(const ParamFields& fields, ForeignParams<Scheme>& params) {
  params = {fields[0], static_cast<std::uint32_t>(fields[1])};
}
inline void from_fields(const ParamFields& fields, ScalableParams& params) {
  params = {fields[0], std::bit_cast<double>(fields[1]), static_cast<std::uint32_t>(fields[2])};
}
inline void from_fields(const ParamFields& fields, RedisChainParams& params) {
  params = {fields[0], std::bit_cast<double>(fields[1]), static_cast<std::uint32_t>(fields[2])};
}

inline bool can_grow(const ScalableParams&) { return true; }
inline bool can_grow(const RedisChainParams& params) { return params.growth != 0; }

template <class Params>
Result<Params> params_from(const ParamFields& fields, const std::string& name) {
  Params params;
  from_fields(fields, params);
  if (fields_of(params) != fields) return corrupt(name, "its parameters are out of range");
  if (auto valid = params.validate(); !valid) return corrupt(name, valid.error().message);
  return params;
}

// --- Filters of one array of bits ----------------------------------------------------------------

template <class F>
inline constexpr bool is_bit_filter = false;
template <class P>
inline constexpr bool is_bit_filter<BitFilter<P>> = true;

template <class H>
void describe_hasher(const H& hasher, Header& header) {
  header.algorithm = hasher.algorithm();
  header.fingerprint = hasher.fingerprint();
  if constexpr (std::same_as<H, Hasher>) {
    if (hasher.algorithm() == HashAlgorithm::siphash24) {
      header.secret_state = SecretState::withheld;
      header.secret = SnapshotAccess::secret_of(hasher);
      header.has_drawn_secret = SnapshotAccess::has_drawn_secret(hasher);
    }
  }
}

template <class P>
Contents contents_of(const BitFilter<P>& filter) {
  Contents contents;
  contents.header.kind = kind_of<BitFilter<P>>;
  contents.header.params = fields_of(filter.params());
  contents.header.sections = {{.bytes = filter.size_bytes()}};
  contents.words = {filter.storage().words()};
  describe_hasher(filter.hasher(), contents.header);
  return contents;
}

template <class P>
Contents contents_of(const ScalableFilter<P>& filter) {
  Contents contents;
  contents.header.kind = kind_of<ScalableFilter<P>>;
  contents.header.params = fields_of(filter.params());
  describe_hasher(filter.hasher(), contents.header);
  const std::uint32_t count = filter.link_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& link = filter.link(i);
    const ParamFields geometry = fields_of(link.params());
    contents.header.sections.push_back({.bytes = link.size_bytes(),
                                        .lines = geometry[0],
                                        .slices = geometry[1],
                                        .inserted = std::min(filter.link_insertions(i), kMaxKeys)});
    contents.words.push_back(link.storage().words());
  }
  return contents;
}

inline Contents contents_of(ConstFilterPointer filter) {
  return std::visit([](const auto* inside) { return contents_of(*inside); }, filter);
}

// Completes what contents_of() left to the caller.
// Fails with invalid_argument.
Result<void> apply_options(const SaveOptions& options, Header& header);

// --- And back ------------------------------------------------------------------------------------

template <class F>
struct LinkParamsOf {
  using type = BlockedParams;  // there are none
};
template <class P>
struct LinkParamsOf<ScalableFilter<P>> {
  using type = typename P::Link::Params;
};

template <class F>
struct Geometry {
  using LinkParams = typename LinkParamsOf<F>::type;
  typename F::Params params;
  std::vector<LinkParams> links;  // of a filter that has some
};

template <Filter F>
Result<Geometry<F>> geometry_of(const Header& header, const std::string& name) {
  const auto params = params_from<typename F::Params>(header.params, name);
  if (!params) return params.error();
  Geometry<F> geometry{*params, {}};
  if constexpr (is_bit_filter<F>) {
    if (header.sections != std::vector<Section>{{.bytes = params->size_bytes()}}) {
      return corrupt(name, "its parameters and the size of its bits contradict each other");
    }
  } else {
    if (header.sections.size() > F::kMaxLinks) {
      return corrupt(name, "it has " + text(std::uint64_t{header.sections.size()}) + " links");
    }
    if (header.sections.size() > 1 && !can_grow(*params)) {
      return corrupt(name, "it has several links and must not grow");
    }
    for (const Section& section : header.sections) {
      const auto link =
          params_from<typename Geometry<F>::LinkParams>({section.lines, section.slices, 0}, name);
      if (!link) return link.error();
      if (link->size_bytes() != section.bytes || section.inserted > kMaxKeys) {
        return corrupt(name, "a link's parameters and the size of its bits contradict each other");
      }
      geometry.links.push_back(*link);
    }
  }
  return geometry;
}

// The hasher that a header tells of, if it is complete with the user's secret.
Result<Hasher> hasher_of(const Header& header, const std::optional<SecretKey>& secret,
                         const std::string& name);
template <Filter F>
Result<typename F::Hasher> hasher_for(const Header& header, const std::optional<SecretKey>& secret,
                                      const std::string& name) {
  if constexpr (std::same_as<typename F::Hasher, Hasher>) {
    return hasher_of(header, secret, name);
  } else {
    if (header.algorithm == HashAlgorithm::scheme && header.fingerprint == 0) {
      return typename F::Hasher{};
    }
    return corrupt(name, "its kind prescribes another hash");
  }
}

// Whatever the kind: geometry and hasher, the latter as far as one can tell without the secret.
inline Result<void> check_header(const Header& header, const std::string& name) {
  return with_kind(header.kind, [&]<class F>() -> Result<void> {
    const auto geometry = geometry_of<F>(header, name);
    if (!geometry) return geometry.error();
    if (header.secret_state == SecretState::withheld) return {};
    const auto hasher = hasher_for<F>(header, std::nullopt, name);
    if (!hasher) return hasher.error();
    return {};
  });
}

// Requires: there is storage for each section.
template <Filter F>
Result<F> assemble(const Geometry<F>& geometry, const Header& header,
                   const typename F::Hasher& hasher, std::vector<Storage> sections,
                   const StorageOptions& options) {
  if constexpr (is_bit_filter<F>) {
    return SnapshotAccess::adopt(geometry.params, hasher, std::move(sections.front()));
  } else {
    std::vector<std::pair<typename F::LinkFilter, std::uint64_t>> links;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      auto link = SnapshotAccess::adopt(geometry.links[i], hasher, std::move(sections[i]));
      if (!link) return link.error();
      links.emplace_back(*std::move(link), header.sections[i].inserted);
    }
    return SnapshotAccess::from_links(geometry.params, options, std::move(links));
  }
}

}  // namespace probably::detail
