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
// Concurrency: as scalable_filter.hpp says.
#pragma once

#include <cstdint>

#include "probably/blocked.hpp"
#include "probably/scalable_filter.hpp"

namespace probably {

struct ScalableParams {
  using Link = BlockedBloom;

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

extern template class ScalableFilter<ScalableParams>;
using ScalableBloom = ScalableFilter<ScalableParams>;

}  // namespace probably
