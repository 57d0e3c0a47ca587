// What docs/concurrency.md promises, tried by force: many threads on one filter, and what they were
// told compared with what can be true. Under ThreadSanitizer the same program also looks for data
// races.
//
// Every loop ends by itself, also where the library is wrong; a broken promise is a failed test,
// not a hanging one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <latch>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "probably/kinds.hpp"
#include "support/filters.hpp"
#include "support/streams.hpp"

namespace probably {
namespace {

// --- Keys, threads, filters ----------------------------------------------------------------------

// Far more than cores: threads are stopped at any instruction, which is where races live.
constexpr unsigned kCrowd = 64;
// About as many as cores: they run at the same time, and meet in the same cache line.
constexpr unsigned kPack = 4;

// The i-th key of an owner: a thread, a run, a side. All of them are distinct, since mix() is a
// bijection.
Digest key_of(std::uint64_t owner, std::uint64_t i) noexcept {
  return Digest(testing::mix(((owner << 32) + i + 1) * 0x9e3779b97f4a7c15));
}

std::vector<Digest> keys_of(std::uint64_t owner, std::size_t count) {
  std::vector<Digest> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = key_of(owner, i);
  return keys;
}

// Runs work(thread) on so many threads that start together, and waits for all of them.
template <class Work>
void run_together(unsigned threads, Work&& work) {
  std::latch start(threads);
  std::vector<std::jthread> team;
  team.reserve(threads);
  for (unsigned thread = 0; thread < threads; ++thread) {
    team.emplace_back([&, thread] {
      start.arrive_and_wait();
      work(thread);
    });
  }
}

// Many short races of one team: before each, prepare(run) runs alone; after it, judge(run).
// A thread that waits for a barrier wakes up long after a race of some microseconds is over. So the
// ones that are awake wait for each other once more, spinning; for a limited time, since not all of
// them may have a core.
template <class Prepare, class Race, class Judge>
void repeat_race(unsigned threads, unsigned runs, Prepare&& prepare, Race&& race, Judge&& judge) {
  constexpr int kSpins = 2000;
  std::atomic<unsigned> awake = 0;
  unsigned finished = 0;
  const auto between_races = [&]() noexcept {
    if (finished > 0) judge(finished - 1);
    if (finished < runs) prepare(finished);
    ++finished;
    awake.store(0, std::memory_order_relaxed);
  };
  std::barrier barrier(static_cast<std::ptrdiff_t>(threads), between_races);
  run_together(threads, [&](unsigned thread) {
    for (unsigned run = 0; run < runs; ++run) {
      barrier.arrive_and_wait();
      awake.fetch_add(1, std::memory_order_relaxed);
      for (int i = 0; i < kSpins && awake.load(std::memory_order_relaxed) < threads; ++i) {
        if (i % 100 == 99) std::this_thread::yield();
      }
      race(run, thread);
    }
    barrier.arrive_and_wait();
  });
}

// A filter for so many keys. One that grows starts with a small share of them, and grows in every
// test.
template <class F>
F make(std::uint64_t keys, double fpr = 0.01) {
  if constexpr (Growable<F>) {
    return F::create(typename F::Params{.first_keys = keys / 64 + 1, .fpr = fpr}).value();
  } else {
    return F::create(Plan{.keys = keys, .fpr = fpr}).value();
  }
}

// The filters of plain bits that a filter consists of.
template <class F, class Use>
void for_each_part(const F& filter, Use&& use) {
  if constexpr (Growable<F>) {
    for (std::uint32_t i = 0; i < filter.link_count(); ++i) use(filter.link(i));
  } else {
    use(filter);
  }
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t index) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + index * sizeof(word), sizeof(word));
  return word;
}

// Calls use(index of a word, mask) for the bits of a key, as the layout orders them.
template <class Layout, class Use>
void for_each_mask(const Layout& layout, Digest key, Use&& use) {
  if constexpr (detail::LineLayout<Layout>) {
    const auto place = layout.place(key);
    const auto masks = layout.masks(place.pattern);
    for (std::size_t i = 0; i < masks.size(); ++i) {
      use(place.block * Layout::kBlockWords + i, masks[i]);
    }
  } else {
    auto walk = layout.walk(key);
    for (std::uint32_t i = 0; i < layout.hashes; ++i) {
      const std::uint64_t place = walk.next();
      use(place / 64, std::uint64_t{1} << (place % 64));
    }
  }
}

// Whether the key sets a bit that another of the keys sets, too.
template <class Params>
bool shares_a_bit(const Params& params, Digest key, std::span<const Digest> keys) {
  std::vector<std::uint64_t> words(params.size_bytes() / sizeof(std::uint64_t));
  for (const Digest other : keys) {
    if (other == key) continue;
    for_each_mask(params.layout(), other,
                  [&](std::uint64_t i, std::uint64_t mask) { words[i] |= mask; });
  }
  bool shared = false;
  for_each_mask(params.layout(), key, [&](std::uint64_t i, std::uint64_t mask) {
    shared = shared || (words[i] & mask) != 0;
  });
  return shared;
}

// Whether all bits of one filter are set in the other, too. Requires: same params.
template <class Params>
bool is_subset(const BitFilter<Params>& small, const BitFilter<Params>& large) {
  for (std::size_t i = 0; i < small.size_bytes() / sizeof(std::uint64_t); ++i) {
    if ((word_at(small.bytes(), i) & ~word_at(large.bytes(), i)) != 0) return false;
  }
  return true;
}

template <class F>
std::size_t count_missing(const F& filter, std::span<const Digest> keys) {
  return static_cast<std::size_t>(
      std::ranges::count_if(keys, [&](Digest key) { return !filter.contains(key); }));
}

template <class F>
class Threads : public ::testing::Test {};
TYPED_TEST_SUITE(Threads, testing::AllFilterTypes, testing::KindName);

// --- Novelty -------------------------------------------------------------------------------------

// Which thread was told of which key that it was new. Threads write rows of their own.
class News {
 public:
  News(unsigned threads, std::size_t keys) : keys_(keys), rows_(threads) {
    for (auto& row : rows_) row = std::make_unique<bool[]>(keys);
  }

  [[nodiscard]] std::span<bool> row(unsigned thread) noexcept {
    return {rows_[thread].get(), keys_};
  }
  [[nodiscard]] unsigned told(std::size_t key) const noexcept {
    unsigned sum = 0;
    for (const auto& row : rows_) sum += row[key];
    return sum;
  }

 private:
  std::size_t keys_;
  std::vector<std::unique_ptr<bool[]>> rows_;
};

// All threads insert the same keys, in the same order, and each counts what it was told to be new:
// the case in which Guava's filter counts keys more than once. A key is told at most once. It is
// told by nobody only if other keys share bits with it: alone, the insertion that sets the last of
// its bits is told.
template <class F>
struct SameKeys {
  unsigned threads;
  unsigned runs;
  std::uint64_t planned_keys;
  std::size_t keys;
  double fpr = 0.01;

  // Counted over all runs.
  std::uint64_t told = 0;
  std::uint64_t untold = 0;

  // A run is one filter. The threads meet before every tenth only: whoever comes later to a filter
  // finds its keys known, which costs it no write, and catches up with the first.
  void race() {
    constexpr unsigned kRunsPerRace = 10;
    struct Run {
      F filter;
      std::vector<Digest> digests;
      News news;
    };
    std::vector<Run> batch;
    const auto prepare = [&](unsigned race) {
      batch.clear();
      for (unsigned i = 0; i < kRunsPerRace; ++i) {
        batch.push_back({make<F>(planned_keys, fpr), keys_of(race * kRunsPerRace + i, keys),
                         News(threads, keys)});
      }
    };
    const auto insert_all = [&](unsigned /*race*/, unsigned thread) {
      for (unsigned i = 0; i < kRunsPerRace; ++i) {
        auto& [filter, digests, news] = batch[i];
        const std::span<bool> was_new = news.row(thread);
        // One by one and in a batch, in turn.
        if (i % 4 == 3) {
          filter.insert(std::span<const Digest>(digests), was_new);
        } else {
          for (std::size_t key = 0; key < keys; ++key) was_new[key] = filter.insert(digests[key]);
        }
      }
    };
    const auto judge = [&](unsigned race) {
      for (unsigned i = 0; i < kRunsPerRace; ++i) {
        judge_run(race * kRunsPerRace + i, batch[i].filter, batch[i].digests, batch[i].news);
      }
    };
    ASSERT_EQ(runs % kRunsPerRace, 0U);
    repeat_race(threads, runs / kRunsPerRace, prepare, insert_all, judge);
    EXPECT_EQ(told + untold, std::uint64_t{runs} * keys);
  }

  void judge_run(unsigned run, const F& filter, const std::vector<Digest>& digests,
                 const News& news) {
    for (std::size_t key = 0; key < keys; ++key) {
      const unsigned times = news.told(key);
      told += times;
      EXPECT_LE(times, 1U) << "run " << run << ", key " << key;
      if (times >= 1) continue;
      ++untold;
      bool overlaps = false;
      for_each_part(filter, [&](const auto& part) {
        overlaps = overlaps || shares_a_bit(part.params(), digests[key], digests);
      });
      EXPECT_TRUE(overlaps) << "run " << run << ", key " << key << " was new, and nobody was told";
    }
    EXPECT_EQ(count_missing(filter, digests), 0U) << "run " << run;
    if constexpr (Growable<F>) {
      EXPECT_GE(filter.link_count(), planned_keys <= keys ? 2U : 1U) << "run " << run;
    }
  }
};

// Crowded: most keys share bits with others, as they do in a filter that is full.
TYPED_TEST(Threads, ToldNewAtMostOnceIn1000ContendedRuns) {
  SameKeys<TypeParam> same{.threads = kPack, .runs = 1000, .planned_keys = 500, .keys = 500};
  same.race();
  // A single thread takes less than 1 % of the keys for known. Five times as many would mean that
  // news get lost.
  EXPECT_LT(same.untold, same.told / 20);
}

// Sparse: many keys share no bit with another, and those must be told exactly once. A chain that
// grows is never sparse, since its links fill one by one; ToldNewExactlyOnceWhileTheChainGrows has
// keys that suit it.
TYPED_TEST(Threads, ToldNewExactlyOnceWhereNoBitsAreShared) {
  SameKeys<TypeParam> same{
      .threads = kPack, .runs = 1000, .planned_keys = 5000, .keys = 50, .fpr = 0.0001};
  same.race();
}

TYPED_TEST(Threads, ToldNewAtMostOnceByACrowd) {
  SameKeys<TypeParam> same{.threads = kCrowd, .runs = 20, .planned_keys = 1000, .keys = 1000};
  same.race();
}

// The chain grows five times on the way to fifty keys: every other key meets a link that comes up
// just now.
TEST(ScalableThreads, ToldNewAtMostOnceInManyShortRuns) {
  SameKeys<ScalableBloom> same{.threads = kPack, .runs = 10'000, .planned_keys = 50, .keys = 50};
  same.race();
}

// A hot key: it stays one piece of news however often it comes, and test before OR keeps its line
// shared.
TYPED_TEST(Threads, AHotKeyIsToldNewOnce) {
  constexpr int kTimes = 2000;
  auto filter = make<TypeParam>(1000);
  std::atomic<unsigned> told = 0;
  std::atomic<unsigned> missed = 0;
  run_together(kCrowd, [&](unsigned /*thread*/) {
    for (int i = 0; i < kTimes; ++i) {
      if (filter.insert(std::string_view("hot"))) told.fetch_add(1, std::memory_order_relaxed);
      if (!filter.contains(std::string_view("hot"))) missed.fetch_add(1, std::memory_order_relaxed);
    }
  });
  EXPECT_EQ(told.load(), 1U);
  EXPECT_EQ(missed.load(), 0U);
}

// While links come up, all threads insert one key among others that share no bit with it in any
// link. Neither may two threads, each in its own link, call it new, nor may every thread believe
// another did.
TEST(ScalableThreads, ToldNewExactlyOnceWhileTheChainGrows) {
  constexpr ScalableParams kParams{.first_keys = 1, .fpr = 0.01, .growth = 2};
  constexpr unsigned kRuns = 2000;
  constexpr std::uint32_t kLinks = 5;
  constexpr std::size_t kFillers = 6;
  const Digest key = key_of(0, 1);

  std::array<std::vector<Digest>, kPack> fillers;
  std::size_t chosen = 0;
  for (std::uint64_t number = 2; chosen < kPack * kFillers && number < 100'000; ++number) {
    const Digest filler = key_of(0, number);
    bool apart = true;
    for (std::uint32_t link = 0; link < kLinks; ++link) {
      apart = apart && !shares_a_bit(kParams.link_params(link).value(), key, std::span(&filler, 1));
    }
    if (apart) fillers[chosen++ % kPack].push_back(filler);
  }
  ASSERT_EQ(chosen, kPack * kFillers);

  std::unique_ptr<ScalableBloom> filter;
  std::array<unsigned, kPack> told{};
  std::uint64_t grown = 0;
  repeat_race(
      kPack, kRuns,
      [&](unsigned) {
        filter = std::make_unique<ScalableBloom>(ScalableBloom::create(kParams).value());
        told = {};
      },
      [&](unsigned run, unsigned thread) {
        // The moment at which the key comes differs from run to run, and a little from thread to
        // thread.
        const std::size_t moment = (run + thread / 2) % (kFillers + 1);
        for (std::size_t i = 0; i <= kFillers; ++i) {
          if (i == moment) told[thread] += filter->insert(key);
          if (i < kFillers) filter->insert(fillers[thread][i]);
        }
        told[thread] += filter->insert(key);
      },
      [&](unsigned run) {
        ASSERT_LE(filter->link_count(), kLinks);
        unsigned sum = 0;
        for (const unsigned times : told) sum += times;
        ASSERT_EQ(sum, 1U) << "run " << run << " with " << filter->link_count() << " links";
        ASSERT_TRUE(filter->contains(key));
        grown += filter->link_count() > 1;
      });
  EXPECT_EQ(grown, kRuns);
}

// --- Visibility ----------------------------------------------------------------------------------

// Each writer hands over how many of its keys are in; whoever acquires the number must find them.
TYPED_TEST(Threads, AKeyHandedOverIsFound) {
  constexpr unsigned kWriters = kCrowd / 2;
  constexpr std::uint64_t kKeys = 1000;
  struct alignas(kCacheLineBytes) Progress {
    std::atomic<std::uint64_t> inserted = 0;
  };
  auto filter = make<TypeParam>(kWriters * kKeys);
  std::array<Progress, kWriters> progress;
  std::atomic<std::uint64_t> missed = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);

  run_together(kCrowd, [&](unsigned thread) {
    if (thread < kWriters) {
      for (std::uint64_t i = 0; i < kKeys; ++i) {
        filter.insert(key_of(thread, i));
        progress[thread].inserted.store(i + 1, std::memory_order_release);
      }
      return;
    }
    std::array<std::uint64_t, kWriters> seen{};
    std::uint64_t misses = 0;
    for (bool all = false; !all;) {
      all = true;
      for (unsigned writer = 0; writer < kWriters; ++writer) {
        const std::uint64_t inserted = progress[writer].inserted.load(std::memory_order_acquire);
        // All that is new to this reader, and one key that it met before.
        for (; seen[writer] < inserted; ++seen[writer]) {
          misses += !filter.contains(key_of(writer, seen[writer]));
          misses += !filter.contains(key_of(writer, seen[writer] / 2));
        }
        all = all && inserted == kKeys;
      }
      if (std::chrono::steady_clock::now() > deadline) break;
      std::this_thread::yield();
    }
    for (unsigned writer = 0; writer < kWriters; ++writer) {
      if (seen[writer] != kKeys) misses += 1;
    }
    missed.fetch_add(misses, std::memory_order_relaxed);
  });
  EXPECT_EQ(missed.load(), 0U);
}

// A lookup in a loop reads memory each time. A load that the compiler may move out of the loop
// would ask once and then count to the end without ever finding the key.
TYPED_TEST(Threads, PollingEnds) {
  constexpr std::uint64_t kPolls = std::uint64_t{1} << 34;
  auto filter = make<TypeParam>(1000);
  const Digest key = key_of(0, 7);
  std::atomic<bool> polling = false;
  bool found = false;
  {
    const std::jthread poller([&] {
      polling.store(true, std::memory_order_relaxed);
      std::uint64_t polls = 0;
      while (!filter.contains(key) && polls < kPolls) ++polls;
      found = polls < kPolls;
    });
    for (int i = 0; i < 100'000 && !polling.load(std::memory_order_relaxed); ++i) {
      std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    filter.insert(key);
  }
  EXPECT_TRUE(found);
}

// --- Bits ----------------------------------------------------------------------------------------

// Shares overlap: each key comes from two threads, in different orders.
TYPED_TEST(Threads, BitsAreThoseOfOneThread) {
  constexpr std::size_t kShare = 500;
  const auto keys = keys_of(1, kShare * (kCrowd + 1));
  auto together = make<TypeParam>(keys.size());
  auto alone = make<TypeParam>(keys.size());
  run_together(kCrowd, [&](unsigned thread) {
    const auto share = std::span<const Digest>(keys).subspan(thread * kShare, 2 * kShare);
    if (thread % 2 == 0) {
      for (const Digest key : share) together.insert(key);
    } else {
      for (std::size_t i = share.size(); i-- > 0;) together.insert(share[i]);
    }
  });
  for (const Digest key : keys) alone.insert(key);
  EXPECT_EQ(count_missing(together, keys), 0U);
  if constexpr (!Growable<TypeParam>) {
    EXPECT_TRUE(together == alone);
  } else {
    // Which link took a key depends on the moment. All keys are there, and hardly any of them
    // twice.
    EXPECT_GE(together.link_count(), 2U);
    const auto counted = static_cast<double>(keys.size());
    EXPECT_NEAR(together.approximate_size().value, counted, 0.1 * counted);
    EXPECT_EQ(together.growth_failures(), 0U);
  }
}

// Half of the threads insert in batches, half look up in batches what has been handed over.
// Neighbours insert the same keys.
TYPED_TEST(Threads, BatchesFromManyThreads) {
  constexpr unsigned kWriters = kCrowd / 2;
  constexpr std::size_t kShare = 1000;
  constexpr std::size_t kBatch = 125;
  const auto keys = keys_of(2, kShare * kWriters / 2);
  auto filter = make<TypeParam>(keys.size());
  std::array<std::atomic<std::size_t>, kWriters> inserted{};
  std::atomic<std::uint64_t> fresh = 0;
  std::atomic<std::uint64_t> missed = 0;
  News news(kWriters, kShare);

  run_together(kCrowd, [&](unsigned thread) {
    const unsigned writer = thread % kWriters;
    const auto share = std::span<const Digest>(keys).subspan(writer / 2 * kShare, kShare);
    if (thread < kWriters) {
      for (std::size_t at = 0; at < kShare; at += kBatch) {
        const auto batch = share.subspan(at, kBatch);
        fresh.fetch_add(filter.insert(batch, news.row(writer).subspan(at, kBatch)),
                        std::memory_order_relaxed);
        inserted[writer].store(at + kBatch, std::memory_order_release);
      }
      return;
    }
    std::array<bool, kShare> found;
    for (int round = 0; round < 8; ++round) {
      const std::size_t ready = inserted[writer].load(std::memory_order_acquire);
      const auto answers = std::span(found).first(ready);
      filter.contains(share.first(ready), answers);
      missed.fetch_add(static_cast<std::uint64_t>(std::ranges::count(answers, false)),
                       std::memory_order_relaxed);
      std::this_thread::yield();
    }
  });

  EXPECT_EQ(missed.load(), 0U);
  EXPECT_LE(fresh.load(), keys.size());
  std::uint64_t told = 0;
  for (unsigned pair = 0; pair < kWriters; pair += 2) {
    for (std::size_t i = 0; i < kShare; ++i) {
      const unsigned times = unsigned{news.row(pair)[i]} + unsigned{news.row(pair + 1)[i]};
      EXPECT_LE(times, 1U);
      told += times;
    }
  }
  EXPECT_EQ(told, fresh.load());
  const auto found = std::make_unique<bool[]>(keys.size());
  filter.contains(keys, std::span(found.get(), keys.size()));
  EXPECT_EQ(std::count(found.get(), found.get() + keys.size(), false), 0);
  if constexpr (!Growable<TypeParam>) {
    auto alone = make<TypeParam>(keys.size());
    alone.insert(std::span<const Digest>(keys));
    EXPECT_TRUE(filter == alone);
  }
}

// --- Everything at once --------------------------------------------------------------------------

// Two filters exchange their keys while both are written to. Wherever the merging stops, one more
// exchange makes them equal, and equal to one filter that got all keys.
TYPED_TEST(Threads, MergingBothWaysBesideWritersEndsInTheUnion) {
  constexpr unsigned kMergers = 4;
  constexpr unsigned kWriters = 16;
  constexpr std::size_t kShare = 5000;
  const auto keys = keys_of(3, kShare * kWriters);
  auto left = make<TypeParam>(keys.size());
  auto right = make<TypeParam>(keys.size());
  std::atomic<unsigned> writing = kWriters;
  std::atomic<unsigned> refused = 0;

  run_together(kWriters + kMergers, [&](unsigned thread) {
    if (thread < kWriters) {
      auto& own = thread % 2 == 0 ? left : right;
      for (std::size_t i = 0; i < kShare; ++i) own.insert(keys[thread * kShare + i]);
      writing.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    for (int round = 0; round < 2000 && writing.load(std::memory_order_relaxed) > 0; ++round) {
      const auto merged = thread % 2 == 0 ? left.merge(right) : right.merge(left);
      if (!merged) refused.fetch_add(1, std::memory_order_relaxed);
    }
  });
  EXPECT_EQ(refused.load(), 0U);
  ASSERT_TRUE(left.merge(right));
  ASSERT_TRUE(right.merge(left));
  EXPECT_TRUE(left == right);
  EXPECT_EQ(count_missing(left, keys), 0U);
  if constexpr (!Growable<TypeParam>) {
    auto all = make<TypeParam>(keys.size());
    all.insert(std::span<const Digest>(keys));
    EXPECT_TRUE(left == all);
  }
}

// Every call that may run beside others does. Reading calls see a state that holds what was handed
// over before them and nothing that never went in.
TYPED_TEST(Threads, AllCallsTogether) {
  using F = TypeParam;
  constexpr unsigned kRoles = 8;
  constexpr unsigned kWriters = kCrowd / kRoles * 4;
  constexpr std::size_t kShare = 400;
  constexpr int kRounds = 20;
  const auto keys = keys_of(4, kShare * kWriters);
  const auto brought_keys = keys_of(5, kShare);
  auto filter = make<F>(keys.size() + brought_keys.size());
  auto brought = make<F>(keys.size() + brought_keys.size());
  brought.insert(std::span<const Digest>(brought_keys));
  std::array<std::atomic<std::size_t>, kWriters> inserted{};
  std::atomic<unsigned> writing = kWriters;
  std::atomic<std::uint64_t> wrong = 0;
  std::array<std::deque<F>, kCrowd> clones;

  // What a filter that is read, copied or merged from now on must have.
  const auto handed_over = [&] {
    std::vector<Digest> have;
    for (std::size_t writer = 0; writer < kWriters; ++writer) {
      const std::size_t count = inserted[writer].load(std::memory_order_acquire);
      // The newest of each suffice, since they are the ones that can be late.
      for (std::size_t i = count - std::min<std::size_t>(count, 8); i < count; ++i) {
        have.push_back(keys[writer * kShare + i]);
      }
    }
    return have;
  };
  const auto write = [&](unsigned writer) {
    for (std::size_t i = 0; i < kShare; ++i) {
      filter.insert(keys[writer * kShare + i]);
      inserted[writer].store(i + 1, std::memory_order_release);
    }
    writing.fetch_sub(1, std::memory_order_relaxed);
  };
  // Returns what was seen that cannot be.
  const auto look_up = [&]() -> std::uint64_t {
    const auto have = handed_over();
    return count_missing(filter, have);
  };
  const auto copy = [&](std::deque<F>& mine) -> std::uint64_t {
    const auto have = handed_over();
    if (mine.size() == 3) mine.pop_front();
    mine.push_back(filter.clone());
    return count_missing(mine.back(), have);
  };
  const auto merge_in_and_out = [&]() -> std::uint64_t {
    const auto have = handed_over();
    auto other = make<F>(keys.size() + brought_keys.size());
    const bool merged = filter.merge(brought).has_value() && other.merge(filter).has_value();
    return count_missing(other, have) + count_missing(filter, brought_keys) + !merged;
  };
  const auto observe = [&](double& last_fill) -> std::uint64_t {
    std::uint64_t odd = 0;
    const double fill = filter.fill_ratio();
    if constexpr (Growable<F>) {
      odd += filter.link_count() < 1 || filter.growth_failures() != 0;
    } else {
      odd += fill < last_fill;
    }
    last_fill = fill;
    odd += !(fill >= 0 && fill <= 1);
    const double rate = filter.estimated_fpr();
    odd += !(rate >= 0 && rate <= 1);
    const Estimate size = filter.approximate_size();
    odd += !(size.value >= 0 && size.standard_error >= 0);
    odd += filter.size_bytes() == 0 || !(filter.params() == brought.params());
    static_cast<void>(filter == brought);  // means nothing beside writers, and may run there
    return odd;
  };

  run_together(kCrowd, [&](unsigned thread) {
    const unsigned role = thread % kRoles;
    if (role < 4) return write(thread / kRoles * 4 + role);
    double last_fill = 0;
    std::uint64_t odd = 0;
    for (int round = 0; round < kRounds; ++round) {
      if (role == 4) odd += look_up();
      if (role == 5) odd += copy(clones[thread]);
      if (role == 6) odd += merge_in_and_out();
      if (role == 7) odd += observe(last_fill);
      if (writing.load(std::memory_order_relaxed) == 0) break;
    }
    wrong.fetch_add(odd, std::memory_order_relaxed);
  });

  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_EQ(count_missing(filter, keys), 0U);
  EXPECT_EQ(count_missing(filter, brought_keys), 0U);
  for (const auto& some : clones) {
    for (const F& clone : some) {
      if constexpr (Growable<F>) {
        ASSERT_LE(clone.link_count(), filter.link_count());
        for (std::uint32_t i = 0; i < clone.link_count(); ++i) {
          EXPECT_TRUE(is_subset(clone.link(i), filter.link(i)));
        }
      } else {
        EXPECT_TRUE(is_subset(clone, filter));
      }
    }
  }
}

// A crowd that inserts new keys only, so that links fill as fast as they can. A thread that is
// stopped while it makes the next link must not let the others overfill the last one: no link takes
// more than one key per thread too many, which is 3.2 % of the first link and less of the others,
// and raises the sum of the links' rates, 0.0074 when eight are full, by less than a fifth.
TEST(ScalableThreads, ACrowdKeepsThePromise) {
  constexpr std::uint64_t kShare = 3000;
  constexpr double kPromise = 0.01;
  for (std::uint64_t round = 0; round < 3; ++round) {
    auto filter =
        ScalableBloom::create(ScalableParams{.first_keys = 2000, .fpr = kPromise}).value();
    const std::uint64_t owner = 100 + round * kCrowd;
    run_together(kCrowd, [&](unsigned thread) {
      for (std::uint64_t i = 0; i < kShare; ++i) filter.insert(key_of(owner + thread, i));
    });
    for (std::uint64_t thread = 0; thread < kCrowd; ++thread) {
      ASSERT_EQ(count_missing(filter, keys_of(owner + thread, kShare)), 0U);
    }
    EXPECT_EQ(filter.growth_failures(), 0U);
    EXPECT_GE(filter.link_count(), 7U);
    EXPECT_LE(filter.estimated_fpr(), kPromise);
    for (std::uint32_t i = 0; i < filter.link_count(); ++i) {
      const Estimate size = filter.link(i).approximate_size();
      EXPECT_LE(size.value, static_cast<double>(filter.params().link_keys(i) + kCrowd) +
                                5 * size.standard_error)
          << "link " << i;
    }
  }
}

}  // namespace
}  // namespace probably
