#include "probably/scalable.hpp"

#include <algorithm>
#include <cmath>

#include "scalable_impl.hpp"
#include "text.hpp"

namespace probably {
namespace {

// The sum of i^-1.5 over all i >= 1. (i + 1)^-1.5 / kZeta falls slowly enough that the long links
// stay cheap and fast enough that the sum is finite.
constexpr double kZeta = 2.612375348685488;

// The last link's share of the rate, fpr / 869, must still be a rate that a plan accepts.
constexpr double kMinScalableFpr = 1e-9;

// How many keys more than planned a link may take before it is seen to be full: what the stripes of
// the counter gather between two looks.
std::uint64_t overshoot(std::uint64_t link_keys) noexcept {
  return detail::StripedCounter::kStripes * (detail::inserts_per_look(link_keys) - 1);
}

}  // namespace

std::size_t detail::StripedCounter::stripe_of_thread() noexcept {
  static std::atomic<std::size_t> threads = 0;
  thread_local const std::size_t stripe =
      threads.fetch_add(1, std::memory_order_relaxed) % kStripes;
  return stripe;
}

Result<ScalableParams> ScalableParams::from(const Plan& plan) {
  if (plan.bits_per_key != 0 || plan.size_bytes != 0 || plan.hashes != 0) {
    return Error{
        ErrorCode::invalid_argument,
        "A scalable filter grows: give keys (expected at first) and fpr, no memory and no hashes."};
  }
  ScalableParams params{.fpr = plan.fpr};
  if (plan.keys != 0) params.first_keys = plan.keys;
  if (auto valid = probably::validate({.keys = params.first_keys, .fpr = plan.fpr}); !valid) {
    return valid.error();
  }
  return params;
}

Result<void> ScalableParams::validate() const {
  if (first_keys < 1 || first_keys > kMaxKeys) {
    return detail::domain_error("first_keys", first_keys, "1 to " + detail::text(kMaxKeys));
  }
  if (!(fpr >= kMinScalableFpr && fpr <= kMaxFpr)) {
    return detail::domain_error(
        "fpr", fpr,
        "a rate from " + detail::text(kMinScalableFpr) + " to " + detail::text(kMaxFpr));
  }
  if (growth < 2 || growth > 16) return detail::domain_error("growth", growth, "2 to 16");
  return {};
}

std::uint64_t ScalableParams::link_keys(std::uint32_t link) const noexcept {
  std::uint64_t keys = first_keys;
  for (std::uint32_t i = 0; i < link && keys <= kMaxKeys; ++i) keys *= growth;
  return keys;
}

double ScalableParams::link_fpr(std::uint32_t link) const noexcept {
  return fpr / (kZeta * std::pow(link + 1.0, 1.5));
}

Result<BlockedParams> ScalableParams::link_params(std::uint32_t link) const {
  const std::uint64_t keys = link_keys(link);
  // The rate is kept also by what comes before the link is seen to be full.
  const std::uint64_t at_most = keys < kMaxKeys ? std::min(keys + overshoot(keys), kMaxKeys) : keys;
  return BlockedParams::from({.keys = at_most, .fpr = link_fpr(link)});
}

template class ScalableFilter<ScalableParams>;

}  // namespace probably
