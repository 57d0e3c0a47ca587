// Any bit pattern as a plan, a growth or a usage: an error or a result that keeps its contract,
// never anything else.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "probably/capacity.hpp"
#include "probably/kinds.hpp"

namespace {

using namespace probably;

void require(bool holds) {
  if (!holds) std::abort();
}

template <class P>
void check(const Plan& plan) {
  const auto params = P::from(plan);
  if (!params) {
    require(!params.error().message.empty());
    return;
  }
  require(params->validate().has_value());
  require(params->size_bytes() > 0);
  if (plan.keys != 0) {
    const double fpr = params->fpr(plan.keys);
    require(fpr >= 0 && fpr <= 1);
    if (plan.fpr != 0) require(fpr <= plan.fpr);
    const double fill = params->fill(plan.keys);
    require(fill >= 0 && fill <= 1);
  }
  if (plan.size_bytes != 0) require(params->size_bytes() <= plan.size_bytes + 7);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::uint8_t> bytes(data, size);
  const auto take = [&](auto& value) {
    const std::size_t count = std::min(bytes.size(), sizeof value);
    if (count != 0) std::memcpy(&value, bytes.data(), count);
    bytes = bytes.subspan(count);
  };
  Plan plan;
  take(plan.keys);
  take(plan.fpr);
  take(plan.bits_per_key);
  take(plan.size_bytes);
  take(plan.hashes);
  check<BloomParams>(plan);
  check<BlockedParams>(plan);
  check<SplitBlockParams>(plan);
  if (const auto solution = solve(plan)) {
    require(solution->bits >= 1 && solution->hashes >= 1 && solution->keys >= 1);
    require(solution->fpr > 0 && solution->fpr <= 1);
  }

  Growth growth;
  take(growth.current_keys);
  take(growth.yearly_growth);
  take(growth.years);
  take(growth.headroom);
  if (const auto keys = design_keys(growth))
    require(*keys >= growth.current_keys && *keys <= kMaxKeys);

  Usage usage;
  take(usage.keys);
  take(usage.age_days);
  take(usage.design_keys);
  take(usage.yearly_growth);
  if (const auto ahead = outlook(usage)) {
    require(ahead->days_until_full >= 0);
    require(ahead->keys_per_day >= 0);
  }
  return 0;
}
