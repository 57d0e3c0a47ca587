#include "probably/blocked.hpp"

#include "bit_filter_impl.hpp"
#include "sliced_blocks.hpp"

namespace probably {
namespace {

constexpr std::uint64_t kMaxLines = std::uint64_t{1} << 51;

detail::SlicedBlocks sliced(const BlockedParams& params) noexcept {
  return {params.lines, 8, params.slices};
}

}  // namespace

static detail::Occupancy occupancy(const BlockedParams& params) noexcept {
  return sliced(params).occupancy();
}

static std::uint64_t last_word_bits(const BlockedParams&) noexcept { return ~std::uint64_t{0}; }

static double observed_fpr(const BlockedParams& params, const std::uint64_t* words) noexcept {
  return sliced(params).observed_fpr(words);
}

Result<BlockedParams> BlockedParams::from(const Plan& plan) {
  if (auto valid = probably::validate(plan); !valid) return valid.error();
  if (plan.hashes != 0 && plan.hashes != 4 && plan.hashes != 8 && plan.hashes != 16) {
    return detail::domain_error("hashes", plan.hashes,
                                "4, 8 or 16 for this kind, or 0 to let it choose");
  }
  Result<BlockedParams> best = Error{};
  for (const std::uint32_t slices : {4u, 8u, 16u}) {
    if (plan.hashes != 0 && plan.hashes != slices) continue;
    const auto predict = [&](std::uint64_t count, std::uint64_t keys) {
      return BlockedParams{count, slices}.fpr(keys);
    };
    const auto lines = detail::units_for(plan, 512, kMaxLines, predict);
    if (!lines) {
      if (!best) best = lines.error();
      continue;
    }
    const BlockedParams candidate{*lines, slices};
    const auto better_than = [&](const BlockedParams& other) {
      if (candidate.lines != other.lines) return candidate.lines < other.lines;
      return plan.keys != 0 ? candidate.fpr(plan.keys) < other.fpr(plan.keys)
                            : candidate.capacity(plan.fpr) > other.capacity(plan.fpr);
    };
    if (!best || better_than(*best)) best = candidate;
  }
  return best ? detail::checked(plan, *best) : best;
}

Result<void> BlockedParams::validate() const {
  if (lines < 1 || lines > kMaxLines) {
    return detail::domain_error("lines", lines, "1 to " + detail::text(kMaxLines));
  }
  if (slices != 4 && slices != 8 && slices != 16)
    return detail::domain_error("slices", slices, "4, 8 or 16");
  return {};
}

double BlockedParams::fpr(std::uint64_t keys) const noexcept { return sliced(*this).fpr(keys); }

double BlockedParams::fill(std::uint64_t keys) const noexcept { return sliced(*this).fill(keys); }

std::uint64_t BlockedParams::capacity(double rate) const noexcept {
  return sliced(*this).capacity(rate);
}

template class BitFilter<BlockedParams>;

}  // namespace probably
