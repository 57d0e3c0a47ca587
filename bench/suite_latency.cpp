// How long single calls take right after a filter was made, when its pages are still to come: with
// and without touching them beforehand, on huge and on small pages.
//
//   suite_latency [quick]
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "measure.hpp"
#include "probably/probably.hpp"

namespace {

constexpr std::uint64_t kCalls = 1'000'000;
constexpr int kRounds = 3;

// Times every call of work(key), and prints the percentiles, the clock's own cost included.
template <class Work>
void measure(std::string_view operation, const probably::StorageOptions& options,
             std::uint64_t size_bytes, Work&& work) {
  using Clock = std::chrono::steady_clock;
  static const auto keys = bench::make_keys(0, kCalls);
  static std::vector<std::chrono::nanoseconds> spent(kCalls);
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    const auto start = Clock::now();
    work(keys[i]);
    spent[i] = Clock::now() - start;
  }
  std::sort(spent.begin(), spent.end());
  const auto percentile = [&](double share) {
    const auto index = static_cast<std::size_t>(share * static_cast<double>(kCalls - 1));
    return static_cast<double>(spent[index].count());
  };
  bench::Record("latency")
      .add("operation", operation)
      .add("pages", options.huge_pages ? "huge" : "small")
      .add("prefault", options.prefault)
      .add("bytes", size_bytes)
      .add("p50", percentile(0.5))
      .add("p99", percentile(0.99))
      .add("p999", percentile(0.999))
      .add("max", percentile(1))
      .print();
}

void measure(const probably::StorageOptions& options, std::uint64_t keys) {
  using Filter = probably::BlockedBloom;
  const probably::Plan plan{.keys = keys, .fpr = bench::kFpr};
  {
    Filter filter = Filter::create(plan, {}, options).value();
    measure("insert", options, filter.size_bytes(), [&](std::uint64_t key) { filter.insert(key); });
  }
  const Filter filter = Filter::create(plan, {}, options).value();
  measure("lookup", options, filter.size_bytes(),
          [&](std::uint64_t key) { bench::keep(filter.contains(key)); });
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "quick";
  const std::uint64_t keys = quick ? 1'000'000 : 100'000'000;
  for (int round = 0; round < kRounds; ++round) {
    measure("clock alone", {}, 0, [](std::uint64_t) {});
    for (const bool huge_pages : {true, false}) {
      for (const bool prefault : {false, true}) {
        measure({.huge_pages = huge_pages, .prefault = prefault}, keys);
      }
    }
  }
}
