// Any bit pattern as a plan, a growth or a usage: an error or a result that keeps its contract,
// never anything else.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "probably/capacity.hpp"
#include "probably/kinds.hpp"

namespace {

using namespace probably;

// Ends the run, naming the line that called.
void require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "The requirement at line %d does not hold.\n", line);
  std::abort();
}

bool is_rate(double rate) { return rate >= 0 && rate <= 1; }

bool has_budget(const Plan& plan) { return plan.bits_per_key != 0 || plan.size_bytes != 0; }

void check_error(const Error& error) {
  require(error.code == ErrorCode::invalid_argument);
  require(!error.message.empty() && error.message.back() == '.');
}

template <class P>
void check_params(const Plan& plan) {
  const auto params = P::from(plan);
  if (!params) return check_error(params.error());
  require(params->validate().has_value());
  require(params->size_bytes() > 0);
  if (plan.keys != 0) {
    const double fpr = params->fpr(plan.keys);
    require(fpr >= 0 && fpr <= kMaxFpr);
    require(is_rate(params->fill(plan.keys)));
    // Nothing gets better by more keys.
    require(params->fpr(2 * plan.keys) >= fpr * (1 - 1e-9));
    require(params->fill(2 * plan.keys) >= params->fill(plan.keys));
  }
  if (plan.keys != 0 && plan.fpr != 0) {
    require(params->fpr(plan.keys) <= plan.fpr);
    require(params->capacity(plan.fpr) >= plan.keys);
    // A budget of just these bytes suffices, and changes nothing. The largest filters are beyond
    // what a plan may grant.
    Plan exact = plan;
    exact.bits_per_key = 0;
    exact.size_bytes = params->size_bytes();
    if (validate(exact)) require(P::from(exact).value() == *params);
  }
  if (has_budget(plan)) require(params->size_bytes() * 8 <= granted_bits(plan));
}

void check_scalable(const Plan& plan) {
  const auto params = ScalableParams::from(plan);
  if (!params) return check_error(params.error());
  if (const auto valid = params->validate(); !valid) return check_error(valid.error());
  double sum = 0;
  for (std::uint32_t link = 0; link < ScalableBloom::kMaxLinks; ++link) {
    sum += params->link_fpr(link);
    const auto geometry = params->link_params(link);
    if (!geometry) {
      check_error(geometry.error());
      // Low rates for very many keys are out of reach of 64-bit digests and 32-bit patterns.
      require(link > 0 || plan.keys > 1'000'000);
      break;
    }
    require(geometry->validate().has_value());
    require(geometry->fpr(params->link_keys(link)) <= params->link_fpr(link));
  }
  require(sum <= params->fpr);
}

void check_solution(const Plan& plan) {
  const auto solution = solve(plan);
  if (!solution) return check_error(solution.error());
  require(solution->bits >= 1 && solution->hashes >= 1 && solution->keys >= 1);
  require(solution->keys <= kMaxKeys);
  // The textbook takes (1 - 1/m)^n for e^(-n/m), which in a few bits is too much.
  require(solution->fpr > 0 &&
          solution->fpr <= kMaxFpr * (1 + 1 / std::sqrt(static_cast<double>(solution->bits))));
  require(is_rate(solution->fill));
  require(solution->bits_per_key > 0 && solution->lower_bound_bits_per_key >= 0);
  if (plan.keys != 0) require(solution->keys == plan.keys);
  if (plan.fpr != 0) require(solution->fpr == plan.fpr);
  if (plan.hashes != 0) require(solution->hashes == plan.hashes);
  if (has_budget(plan)) require(solution->bits <= granted_bits(plan));
  // With the hashes given the rate is exact but for what a small filter rounds; otherwise the
  // textbook takes the number of hashes for real.
  if (plan.keys != 0 && plan.fpr != 0 && plan.hashes != 0 && solution->bits > 1000) {
    require(textbook_fpr(solution->bits, solution->hashes, solution->keys) <= plan.fpr * 1.1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::uint8_t> bytes(data, size);
  const auto take = [&](auto& value) {
    const std::size_t count = std::min(bytes.size(), sizeof value);
    if (count != 0) std::memcpy(&value, bytes.data(), count);
    bytes = bytes.subspan(count);
  };
  // Most bit patterns are far outside every domain; half of the inputs have numbers that people
  // use: powers of ten for the rate and the memory, any number of keys.
  std::uint8_t mode = 0;
  take(mode);
  Plan plan;
  if (mode % 2 == 0) {
    take(plan.keys);
    take(plan.fpr);
    take(plan.bits_per_key);
    take(plan.size_bytes);
    take(plan.hashes);
  } else {
    std::uint8_t rate = 0;
    std::uint16_t memory = 0;
    std::uint8_t shift = 0;
    std::uint8_t hashes = 0;
    take(plan.keys);
    take(rate);
    take(memory);
    take(shift);
    take(hashes);
    plan.keys >>= shift % 64;
    if (rate != 0) plan.fpr = std::pow(10, -rate / 20.0);
    if (mode % 8 < 3) plan.size_bytes = std::uint64_t{memory} << (shift % 40);
    if (mode % 8 == 3) plan.bits_per_key = memory / 100.0;
    if (mode >= 128) plan.hashes = hashes % 70;
  }
  check_params<BloomParams>(plan);
  check_params<BlockedParams>(plan);
  check_params<SplitBlockParams>(plan);
  check_scalable(plan);
  check_solution(plan);
  // The textbook's functions take any number, and answer with one.
  require(textbook_bits(plan.keys, plan.fpr) >= 1);
  require(textbook_hashes(plan.size_bytes, plan.keys) >= 1);
  require(is_rate(textbook_fpr(plan.size_bytes, plan.hashes, plan.keys)));
  static_cast<void>(lower_bound_bits_per_key(plan.fpr));
  static_cast<void>(granted_bits(plan));

  Growth growth;
  take(growth.current_keys);
  take(growth.yearly_growth);
  take(growth.years);
  take(growth.headroom);
  if (const auto keys = design_keys(growth)) {
    require(*keys >= growth.current_keys && *keys <= kMaxKeys);
  } else {
    check_error(keys.error());
  }

  Usage usage;
  take(usage.keys);
  take(usage.age_days);
  take(usage.design_keys);
  take(usage.yearly_growth);
  if (const auto ahead = outlook(usage)) {
    require(ahead->keys_per_day >= 0 && std::isfinite(ahead->keys_per_day));
    require(ahead->days_until_full >= 0);
    require((ahead->days_until_full == 0) == (usage.keys >= usage.design_keys));
  } else {
    check_error(ahead.error());
  }
  return 0;
}
