// Bits per key that each kind needs to keep a rate, beside the lower bound and the textbook.
#include <cstdint>
#include <string_view>

#include "measure.hpp"
#include "probably/probably.hpp"

namespace {

constexpr std::uint64_t kKeys = 1'000'000;

void record(std::string_view name, double fpr, double bits_per_key) {
  bench::Record("bits")
      .add("name", name)
      .add("keys", kKeys)
      .add("fpr", fpr)
      .add("bits_per_key", bits_per_key)
      .add("lower_bound", probably::lower_bound_bits_per_key(fpr))
      .print();
}

template <class F>
void record(const probably::Plan& plan) {
  const auto size_bytes = F::Params::from(plan).value().size_bytes();
  record(probably::name(probably::kind_of<F>), plan.fpr,
         static_cast<double>(size_bytes) * 8 / kKeys);
}

}  // namespace

int main() {
  for (const double fpr : {0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-5, 1e-6}) {
    const probably::Plan plan{.keys = kKeys, .fpr = fpr};
    record("classic", fpr, probably::solve(plan).value().bits_per_key);
    record<probably::Bloom>(plan);
    record<probably::BlockedBloom>(plan);
    record<probably::SplitBlockBloom>(plan);
  }
}
