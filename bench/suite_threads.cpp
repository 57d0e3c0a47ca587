// Threads on one filter: throughput, fairness, a key that all of them hammer, and lookups beside a
// writer.
//
//   suite_threads [quick]
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "measure.hpp"
#include "probably/probably.hpp"

namespace {

using Filter = probably::BlockedBloom;
using Keys = std::span<const std::uint64_t>;
using Sizes = std::vector<std::uint64_t>;
using Clock = std::chrono::steady_clock;

constexpr auto kDuration = std::chrono::milliseconds(200);
constexpr int kRounds = 5;

constexpr std::uint64_t kQueries = 4'000'000;

Filter create(std::uint64_t keys) {
  const probably::Plan plan{.keys = keys, .fpr = bench::kFpr};
  return Filter::create(plan, {}, {.prefault = true}).value();
}

// Leaves room for what a measurement inserts.
void make_half_full(Filter& filter, Keys keys) {
  filter.clear();
  filter.insert_bulk(keys.first(keys.size() / 2));
}

// Lets each thread call work(thread, 0), work(thread, 1), ... for a while.
template <class Work>
void measure(const Filter& filter, std::string_view operation, unsigned threads, Work&& work) {
  std::vector<std::uint64_t> counts(threads);
  std::atomic<bool> stop = false;
  Clock::time_point begin;
  Clock::time_point end;
  // The last to come reads the clock: this thread may have to wait for a core.
  std::barrier start(threads + 1, [&begin]() noexcept { begin = Clock::now(); });
  {
    std::vector<std::jthread> team;
    for (unsigned thread = 0; thread < threads; ++thread) {
      team.emplace_back([&, thread] {
        start.arrive_and_wait();
        std::uint64_t count = 0;
        for (; !stop.load(std::memory_order_relaxed); count += 64) {
          for (std::uint64_t i = 0; i < 64; ++i) work(thread, count + i);
        }
        counts[thread] = count;
      });
    }
    start.arrive_and_wait();
    std::this_thread::sleep_for(kDuration);
    stop.store(true, std::memory_order_relaxed);
    end = Clock::now();
  }
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts) total += count;
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  const std::chrono::duration<double, std::micro> spent = end - begin;
  bench::Record("threads")
      .add("name", "blocked")
      .add("bytes", filter.size_bytes())
      .add("threads", threads)
      .add("operation", operation)
      .add("mops", static_cast<double>(total) / spent.count())
      .add("fairness", static_cast<double>(*least) / static_cast<double>(*most))
      .print();
}

// Distinct keys for every thread, none of them in the filter.
std::uint64_t new_key(unsigned thread, std::uint64_t i) {
  return bench::mix(bench::kAbsent + (std::uint64_t{thread} << 40) + i);
}

void with_threads(Filter& filter, Keys keys, unsigned threads) {
  const auto look_up = [&](unsigned thread, std::uint64_t i) {
    bench::keep(filter.contains(new_key(thread, i)));
  };
  const auto insert = [&](unsigned thread, std::uint64_t i) { filter.insert(new_key(thread, i)); };
  make_half_full(filter, keys);
  measure(filter, "lookup", threads, look_up);
  measure(filter, "insert", threads, insert);
  make_half_full(filter, keys);
  measure(filter, "mix", threads, [&](unsigned thread, std::uint64_t i) {
    i % 2 == 0 ? insert(thread, i) : look_up(thread, i);
  });
  // One key, which is in the filter, inserted and looked up by everybody.
  measure(filter, "hot", threads, [&](unsigned, std::uint64_t i) {
    if (i % 2 == 0) {
      filter.insert(keys.front());
    } else {
      bench::keep(filter.contains(keys.front()));
    }
  });
}

// Lookups alone, beside a thread that inserts new keys into the same filter without pause, and, as
// a control, beside that thread at work on another filter: what that costs is the machine's doing.
class BesideWriter {
 public:
  explicit BesideWriter(std::uint64_t keys) : filter_(create(keys)), other_(create(keys)) {}

  void round(Keys keys) {
    make_half_full(filter_, keys);
    make_half_full(other_, keys);
    for (int repeat = 0; repeat < 3; ++repeat) {
      record("nobody", look_up());
      record("same", look_up_beside_writer_of(filter_));
      record("other", look_up_beside_writer_of(other_));
    }
  }

 private:
  [[nodiscard]] double look_up() const {
    std::uint64_t hits = 0;
    const double ns = bench::time_ns(absent_.size(), [&] {
      for (const std::uint64_t key : absent_) hits += filter_.contains(key);
    });
    bench::keep(hits);
    return ns;
  }

  [[nodiscard]] double look_up_beside_writer_of(Filter& written) {
    std::atomic<bool> stop = false;
    std::atomic<bool> started = false;
    std::jthread writer([&] {
      started = true;
      while (!stop.load(std::memory_order_relaxed)) written.insert(new_key(0, next_key_++));
    });
    while (!started) std::this_thread::yield();
    const double ns = look_up();
    stop = true;
    return ns;
  }

  void record(std::string_view beside, double ns) const {
    bench::Record("writer")
        .add("name", "blocked")
        .add("bytes", filter_.size_bytes())
        .add("beside", beside)
        .add("ns", ns)
        .print();
  }

  Filter filter_;
  Filter other_;
  std::vector<std::uint64_t> absent_ = bench::make_keys(2 * bench::kAbsent, kQueries);
  std::uint64_t next_key_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "quick";
  // Throughput is measured where inserting for a while does not fill a filter.
  for (const std::uint64_t size : quick ? Sizes{1'000'000} : Sizes{16'000'000, 100'000'000}) {
    const auto keys = bench::make_keys(0, size);
    Filter filter = create(size);
    for (int round = 0; round < kRounds; ++round) {
      for (const unsigned threads : {1u, 2u, 4u, 8u, 16u}) with_threads(filter, keys, threads);
    }
  }
  // In a cache, also where neighbours take a part of the last level, and far beyond.
  for (const std::uint64_t size : quick ? Sizes{2'000'000} : Sizes{2'000'000, 100'000'000}) {
    const auto keys = bench::make_keys(0, size);
    BesideWriter beside_writer(size);
    for (int round = 0; round < kRounds; ++round) beside_writer.round(keys);
  }
}
