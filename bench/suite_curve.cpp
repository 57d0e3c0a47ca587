// What an operation costs as the filter grows from the first-level cache to memory.
//
//   suite_curve [quick]
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "floor.hpp"
#include "measure.hpp"
#include "probably/probably.hpp"

namespace {

using Keys = std::span<const std::uint64_t>;

constexpr std::uint64_t kQueries = 1'000'000;
constexpr int kRounds = 5;

void record(std::string_view name, std::uint64_t bytes, std::string_view operation, double ns) {
  bench::Record("curve")
      .add("name", name)
      .add("bytes", bytes)
      .add("operation", operation)
      .add("ns", ns)
      .print();
}

template <class F>
double bits_per_key() {
  constexpr std::uint64_t kKeys = 1'000'000;
  const probably::Plan plan{.keys = kKeys, .fpr = bench::kFpr};
  return static_cast<double>(F::Params::from(plan).value().size_bytes()) * 8 / kKeys;
}

// Brings the filter to `count` keys, those given among them, at no price that would matter.
void fill_up(probably::Bloom& filter, Keys keys, std::uint64_t count) {
  constexpr std::uint64_t kOneByOne = 10'000'000;
  if (count <= kOneByOne) {
    filter.insert(Keys(bench::make_keys(keys.size(), count - keys.size())));
    return;
  }
  // A full classic filter is one of random bits, half of them set.
  auto storage = probably::Storage::allocate(filter.size_bytes()).value();
  const std::uint64_t words = filter.params().bits / 64;
  for (std::uint64_t i = 0; i < words; ++i) storage.mutable_words()[i] = bench::mix(i);
  filter = probably::Bloom::adopt(filter.params(), filter.hasher(), std::move(storage)).value();
  filter.insert(keys);
}
template <class F>
void fill_up(F& filter, Keys keys, std::uint64_t count) {
  constexpr std::uint64_t kAtOnce = 128'000'000;  // enough for several keys per line
  for (std::uint64_t i = keys.size(); i < count; i += kAtOnce) {
    filter.insert_bulk(Keys(bench::make_keys(i, std::min(kAtOnce, count - i))));
  }
}

// A filter of that many bytes, as full as its rate of 1 % allows.
template <class F>
void measure(std::uint64_t bytes, Keys absent) {
  const auto name = probably::name(probably::kind_of<F>);
  const probably::Plan plan{.fpr = bench::kFpr, .size_bytes = bytes};
  auto filter = F::create(plan, {}, {.prefault = true}).value();
  const auto count = static_cast<std::uint64_t>(static_cast<double>(bytes) * 8 / bits_per_key<F>());
  const auto keys = bench::make_keys(0, std::min<std::uint64_t>(count, 4 * kQueries));
  const auto first_half = Keys(keys).first(keys.size() / 2);
  const auto second_half = Keys(keys).subspan(keys.size() / 2);
  const auto repeats = std::max<std::uint64_t>(1, kQueries / keys.size());
  for (int round = 0; round < kRounds; ++round) {
    // Small filters are filled several times, so that the clock's own cost does not count.
    double single = 0;
    double batch = 0;
    for (std::uint64_t i = 0; i < repeats; ++i) {
      filter.clear();
      single += bench::time_ns(first_half.size(), [&] {
        for (const std::uint64_t key : first_half) filter.insert(key);
      });
      batch += bench::time_ns(second_half.size(), [&] { filter.insert(second_half); });
    }
    record(name, bytes, "insert", single / static_cast<double>(repeats));
    record(name, bytes, "insert_batch", batch / static_cast<double>(repeats));
  }
  fill_up(filter, Keys(keys), count);

  const auto present = [&](std::uint64_t i) { return keys[i % keys.size()]; };
  const auto answers = std::make_unique<bool[]>(absent.size());
  for (int round = 0; round < kRounds; ++round) {
    std::uint64_t hits = 0;
    record(name, bytes, "absent", bench::time_ns(absent.size(), [&] {
             for (const std::uint64_t key : absent) hits += filter.contains(key);
           }));
    record(name, bytes, "present", bench::time_ns(absent.size(), [&] {
             for (std::uint64_t i = 0; i < absent.size(); ++i) hits += filter.contains(present(i));
           }));
    bench::keep(hits);
    record(name, bytes, "absent_batch", bench::time_ns(absent.size(), [&] {
             filter.contains(absent, std::span(answers.get(), absent.size()));
           }));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "quick";
  const std::uint64_t largest = std::uint64_t{1} << (quick ? 22 : 30);
  const auto absent = bench::make_keys(bench::kAbsent, kQueries);
  for (std::uint64_t bytes = 4096; bytes <= largest; bytes *= 2) {
    for (int round = 0; round < kRounds; ++round) {
      const bench::Floor floor(bytes);
      record("random line", bytes, "absent", floor.random_line(absent));
      record("random line", bytes, "dependent", floor.dependent_line(absent));
    }
    measure<probably::Bloom>(bytes, absent);
    measure<probably::BlockedBloom>(bytes, absent);
    measure<probably::SplitBlockBloom>(bytes, absent);
  }
}
