// Bits per key that each kind needs to keep a rate, beside the lower bound and the textbook: the
// table of docs/choosing.md.
#include <cstdio>

#include "probably/probably.hpp"

int main() {
  constexpr std::uint64_t kKeys = 1'000'000;
  std::printf(
      "| rate | lower bound | textbook | `bloom` (k) | `blocked` (k) | `split_block` (k) |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (const double fpr : {0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-5, 1e-6}) {
    const probably::Plan plan{.keys = kKeys, .fpr = fpr};
    const auto bloom = probably::BloomParams::from(plan).value();
    const auto blocked = probably::BlockedParams::from(plan).value();
    const auto split = probably::SplitBlockParams::from(plan).value();
    const auto per_key = [](std::uint64_t size_bytes) {
      return static_cast<double>(size_bytes) * 8 / kKeys;
    };
    std::printf("| %g %% | %.2f | %.2f | %.2f (%u) | %.2f (%u) | %.2f (8) |\n", fpr * 100,
                probably::lower_bound_bits_per_key(fpr), probably::solve(plan).value().bits_per_key,
                per_key(bloom.size_bytes()), bloom.hashes, per_key(blocked.size_bytes()),
                blocked.slices, per_key(split.size_bytes()));
  }
}
