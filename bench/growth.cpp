// A scalable filter after growing a thousandfold, beside a blocked one that was planned for the
// end: the figures of docs/filters/scalable.md.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <span>

#include "measure.hpp"
#include "probably/probably.hpp"

namespace {

constexpr std::uint64_t kFirst = 10'000;
constexpr std::uint64_t kKeys = 1'000 * kFirst;
constexpr std::uint64_t kQueries = 4'000'000;
using Keys = std::span<const std::uint64_t>;

template <class F>
void show(const char* name, const F& filter, Keys absent) {
  const auto answers = std::make_unique<bool[]>(kQueries);
  double single = std::numeric_limits<double>::infinity();
  double batch = single;
  std::uint64_t hits = 0;
  for (int round = 0; round < 3; ++round) {
    hits = 0;
    single = std::min(single, bench::time_ns(kQueries, [&] {
                        for (const std::uint64_t key : absent) hits += filter.contains(key);
                      }));
    batch = std::min(batch, bench::time_ns(kQueries, [&] {
                       filter.contains(absent, std::span(answers.get(), kQueries));
                     }));
  }
  std::printf("%-26s %.2f bits per key, rate %.3f %%, absent keys %.1f ns, in batches %.1f ns\n",
              name, static_cast<double>(filter.size_bytes()) * 8 / kKeys,
              100 * static_cast<double>(hits) / kQueries, single, batch);
}

}  // namespace

int main() {
  const auto keys = bench::make_keys(0, kKeys);
  const auto absent = bench::make_keys(bench::kAbsent, kQueries);
  auto grown =
      probably::ScalableBloom::create(probably::Plan{.keys = kFirst, .fpr = bench::kFpr}).value();
  auto planned =
      probably::BlockedBloom::create(probably::Plan{.keys = kKeys, .fpr = bench::kFpr}).value();
  grown.insert(Keys(keys));
  planned.insert(Keys(keys));
  std::printf("Grown from 10 k to 10 M keys, %u links:\n", grown.link_count());
  show("scalable", grown, absent);
  show("blocked, planned for 10 M", planned, absent);
}
