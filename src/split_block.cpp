#include "probably/split_block.hpp"

#include "bit_filter_impl.hpp"
#include "sliced_blocks.hpp"

namespace probably {
namespace {

constexpr std::uint64_t kMaxBlocks = (std::uint64_t{1} << 32) - 1;

detail::SlicedBlocks sliced(const SplitBlockParams& params) noexcept {
  return {params.blocks, 4, 8};
}

}  // namespace

static detail::Occupancy occupancy(const SplitBlockParams& params) noexcept {
  return sliced(params).occupancy();
}

static std::uint64_t last_word_bits(const SplitBlockParams&) noexcept { return ~std::uint64_t{0}; }

static double observed_fpr(const SplitBlockParams& params, const std::uint64_t* words) noexcept {
  return sliced(params).observed_fpr(words);
}

Result<SplitBlockParams> SplitBlockParams::from(const Plan& plan) {
  if (auto valid = probably::validate(plan); !valid) return valid.error();
  if (plan.hashes != 0 && plan.hashes != 8) {
    return detail::domain_error("hashes", plan.hashes, "8 for this kind, or 0 to let it choose");
  }
  const auto predict = [](std::uint64_t count, std::uint64_t keys) {
    return SplitBlockParams{count}.fpr(keys);
  };
  const auto blocks = detail::units_for(plan, 256, kMaxBlocks, predict);
  if (!blocks) return blocks.error();
  return detail::checked(plan, SplitBlockParams{*blocks});
}

Result<void> SplitBlockParams::validate() const {
  if (blocks < 1 || blocks > kMaxBlocks) {
    return detail::domain_error("blocks", blocks, "1 to " + detail::text(kMaxBlocks));
  }
  return {};
}

double SplitBlockParams::fpr(std::uint64_t keys) const noexcept { return sliced(*this).fpr(keys); }

double SplitBlockParams::fill(std::uint64_t keys) const noexcept {
  return sliced(*this).fill(keys);
}

std::uint64_t SplitBlockParams::capacity(double rate) const noexcept {
  return sliced(*this).capacity(rate);
}

template class BitFilter<SplitBlockParams>;

}  // namespace probably
