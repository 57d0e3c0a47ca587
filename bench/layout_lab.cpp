// The layout lab: the candidates for the one-line layout of `blocked`, side by side.
//
// It exists so that docs/decisions/0002-blocked-layout.md can be checked or overturned. It computes
// the bits per key that each candidate (lab_layouts.hpp) needs for a rate and confirms the rate by
// measuring; then it measures lookup and insertion at equal memory, in cache and in memory, beside
// the cost of reading one random line in the same run.
//
//   layout_lab rates             bits per key, computed, and the rates measured there
//   layout_lab giants            rates of the slices in filters of up to 2^35 lines
//   layout_lab speed KEYS ROUNDS nanoseconds per key, best of so many interleaved rounds
//
// Build it as a user would, once without flags and once with -mavx2 -mbmi2.
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "lab_layouts.hpp"

namespace {

using namespace lab;

constexpr double kBitsPerKey = 10.1;
constexpr u64 kAhead = 32;
constexpr u64 kPiece = 32'768;  // Keys per reading of the clock: short, to fit between interrupts.

using Digests = std::span<const u64>;

template <class Layout>
struct Filter {
  u64* base;
  u64 blocks;

  Filter(const Memory& memory, u64 block_count) : base(memory.data()), blocks(block_count) {}
  Filter(const Memory& memory, u64 keys, double bits_per_key)
      : base(memory.data()),
        blocks(static_cast<u64>(static_cast<double>(keys) * bits_per_key / (64 * Layout::kWords))) {
  }
  [[nodiscard]] u64* line(u64 block) const { return base + block * Layout::kWords; }

  // Both loops are flattened: no candidate pays for a call that another is spared.
  template <class Visit>
  [[gnu::flatten]] void one_by_one(Digests digests, Visit&& visit) const {
    for (const u64 d : digests) {
      const Spot s = locate(d, blocks);
      visit(line(s.block), s);
    }
  }

  // Like one_by_one, with the lines of the next kAhead keys on their way.
  template <class Visit>
  [[gnu::flatten]] void ahead(u64 count, auto&& digest, Visit&& visit) const {
    Spot ring[kAhead];
    const auto fetch = [&](u64 i) {
      const Spot s = locate(digest(i), blocks);
      __builtin_prefetch(line(s.block));
      ring[i % kAhead] = s;
    };
    for (u64 i = 0; i < std::min(kAhead, count); ++i) fetch(i);
    for (u64 i = 0; i < count; ++i) {
      const Spot s = ring[i % kAhead];
      if (i + kAhead < count) fetch(i + kAhead);
      visit(line(s.block), s);
    }
  }
  template <class Visit>
  void ahead(Digests digests, Visit&& visit) const {
    ahead(
        digests.size(), [&](u64 i) { return digests[i]; }, visit);
  }
  void fill(u64 first, u64 last) const {
    ahead(
        last - first, [&](u64 i) { return mix(first + i); }, insert_plain<Layout>);
  }
};

// Nanoseconds per key. `again` inserts keys that are present; `both` is wall time over the keys of
// two threads that insert at once.
struct Speed {
  double lookup = 1e9, lookup_batch = 1e9;
  double plain = 1e9, plain_batch = 1e9;
  double atomic = 1e9, atomic_batch = 1e9, again = 1e9, both = 1e9, both_batch = 1e9;
};

// Lowers `best` to the time per key of the fastest piece of `digests`.
template <class Run>
void time_pieces(double& best, Digests digests, Run&& run) {
  for (; digests.size() >= kPiece; digests = digests.subspan(kPiece)) {
    time_ns(best, kPiece, [&] { run(digests.first(kPiece)); });
  }
}

// Ties the calling thread to a processor, so that two threads never share one.
void run_on(std::size_t processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// The same with two threads. They start every piece together, each with its own half, and the clock
// stops when both are done. The other thread works on copies: what it reads all the time must not
// share a line with what this one writes.
template <class Run>
void time_two_threads(double& best, Digests digests, Run run) {
  constexpr u64 kHalf = kPiece / 8;
  const u64 pieces = digests.size() / (2 * kHalf);
  alignas(64) std::atomic<u64> ready = 0, started = 0;
  alignas(64) std::atomic<u64> done = 0;
  const auto reach = [](const std::atomic<u64>& at, u64 piece) {
    while (at.load(std::memory_order_acquire) != piece) continue;
  };
  std::thread other([&ready, &started, &done, reach, pieces, digests, run] {
    run_on(1);
    for (u64 i = 1; i <= pieces; ++i) {
      ready = i;
      reach(started, i);
      run(digests.subspan((2 * i - 2) * kHalf, kHalf));
      done = i;
    }
  });
  for (u64 i = 1; i <= pieces; ++i) {
    reach(ready, i);
    time_ns(best, 2 * kHalf, [&] {
      started = i;
      run(digests.subspan((2 * i - 1) * kHalf, kHalf));
      reach(done, i);
    });
  }
  other.join();
}

// Insertion is measured around half load, where a key finds about three quarters of its bits
// missing; lookup of absent keys at full load.
template <class Layout>
void measure(Speed& speed, Memory& memory, u64 keys, Digests middle, Digests absent) {
  const Filter<Layout> filter(memory, keys, kBitsPerKey);
  memory.clear();
  const u64 first = (keys - middle.size()) / 2;
  filter.fill(0, first);

  const auto plain = [&](Digests d) { filter.one_by_one(d, insert_plain<Layout>); };
  const auto plain_batch = [&](Digests d) { filter.ahead(d, insert_plain<Layout>); };
  const auto count_new = [](u64& fresh) {
    return [&fresh](u64* line, Spot s) { fresh += insert_atomic<Layout>(line, s); };
  };
  const auto atomic = [filter, count_new](Digests d) {
    u64 fresh = 0;
    filter.one_by_one(d, count_new(fresh));
    keep(fresh);
  };
  const auto atomic_batch = [filter, count_new](Digests d) {
    u64 fresh = 0;
    filter.ahead(d, count_new(fresh));
    keep(fresh);
  };
  const u64 share = middle.size() / 6;
  const auto part = [&](u64 i) { return middle.subspan(i * share, share); };
  time_pieces(speed.plain, part(0), plain);
  time_pieces(speed.plain_batch, part(1), plain_batch);
  time_pieces(speed.atomic, part(2), atomic);
  time_pieces(speed.atomic_batch, part(3), atomic_batch);
  time_pieces(speed.again, part(0), atomic);
  time_two_threads(speed.both, part(4), atomic);
  time_two_threads(speed.both_batch, part(5), atomic_batch);

  filter.fill(first, keys);
  u64 hits = 0;
  const auto look = [&hits](const u64* line, Spot s) { hits += Layout::test(line, s); };
  time_pieces(speed.lookup, absent, [&](Digests d) { filter.one_by_one(d, look); });
  time_pieces(speed.lookup_batch, absent, [&](Digests d) { filter.ahead(d, look); });
  keep(hits);
}

// What one random line costs at best in this memory: read, with the next ones on their way.
void measure_floor(double& best, const Memory& memory, Digests digests) {
  const u64 lines = memory.lines();
  for (const u64 distance : {u64{16}, u64{24}, u64{32}, u64{48}}) {
    time_pieces(best, digests, [&](Digests d) {
      u64 sum = 0;
      for (u64 i = 0; i + distance < d.size(); ++i) {
        __builtin_prefetch(memory.data() + mulhi(d[i + distance], lines) * 8);
        sum += memory.data()[mulhi(d[i], lines) * 8];
      }
      keep(sum);
    });
  }
}

template <class... Layouts>
void print_speed(u64 keys, int rounds) {
  const u64 samples = std::min<u64>(keys / 5, 12'000'000);
  std::vector<u64> middle(samples), absent(std::min<u64>(keys, 2'000'000));
  for (u64 i = 0; i < samples; ++i) middle[i] = mix((keys - samples) / 2 + i);
  for (u64 i = 0; i < absent.size(); ++i) absent[i] = mix(kAbsent + i);
  Memory memory(static_cast<u64>(static_cast<double>(keys) * kBitsPerKey / 8) + 64);
  Speed speeds[sizeof...(Layouts)];
  run_on(0);
  double floor = 1e9;
  for (int round = 0; round < rounds; ++round) {
    measure_floor(floor, memory, absent);
    Speed* speed = speeds;
    (measure<Layouts>(*speed++, memory, keys, middle, absent), ...);
  }
  std::printf("%s, %lu keys, %.2f bits per key, best of %d; one random line, prefetched: %.2f ns\n",
              kTarget, static_cast<unsigned long>(keys), kBitsPerKey, rounds, floor);
  std::printf("%-28s|     lookup    | plain insert  | atomic insert | again |  two threads\n", "");
  std::printf("%-28s|  one   batch  |  one   batch  |  one   batch  |  one  |  one   batch\n", "");
  const Speed* s = speeds;
  ((std::printf("%-28s|%6.2f %6.2f  |%6.2f %6.2f  |%6.2f %6.2f  |%6.2f |%6.2f %6.2f\n",
                Layouts::kName, s->lookup, s->lookup_batch, s->plain, s->plain_batch, s->atomic,
                s->atomic_batch, s->again, s->both, s->both_batch),
    ++s),
   ...);
}

constexpr double kRates[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};

// A million keys; queries for about a thousand hits, at least 2e7 and at most 5e8 of them.
template <class Layout>
void print_rates() {
  constexpr u64 kKeys = 1'000'000;
  RateOf rate_of(Layout::kShape);
  std::printf("%-28s", Layout::kName);
  for (const double rate : kRates) {
    const double bits_per_key = rate_of.bits_per_key(rate);
    const u64 queries = std::clamp<u64>(static_cast<u64>(1e3 / rate), 20'000'000, 500'000'000);
    const Memory memory(static_cast<u64>(static_cast<double>(kKeys) * bits_per_key / 8) + 64);
    const Filter<Layout> filter(memory, kKeys, bits_per_key);
    filter.fill(0, kKeys);
    u64 hits = 0;
    filter.ahead(
        queries, [](u64 i) { return mix(kAbsent + i); },
        [&](const u64* line, Spot s) { hits += Layout::test(line, s); });
    std::printf("|%7.2f %9.2e", bits_per_key,
                static_cast<double>(hits) / static_cast<double>(queries));
    std::fflush(stdout);
  }
  std::printf("\n");
}

// A filter of a terabyte, seen through its first lines only: digests below kLines / blocks of their
// range fall there, and what is left of a digest once the line is known is as scarce as in the
// whole. Each filter is sized for one false positive in ten thousand queries.
template <class Layout>
void print_giants(std::span<const u64> block_counts) {
  constexpr u64 kLines = 16'384, kQueries = 20'000'000;
  const double bits_per_key = RateOf(Layout::kShape).bits_per_key(1e-4);
  const auto keys = static_cast<u64>(512 * kLines / bits_per_key);
  std::printf("%-30s", Layout::kName);
  for (const u64 blocks : block_counts) {
    const Memory memory(64 * (kLines + 1));
    const Filter<Layout> filter(memory, blocks);
    const u64 top = static_cast<u64>((static_cast<u128>(kLines) << 64) / blocks);
    filter.ahead(
        keys, [top](u64 i) { return mulhi(mix(i), top); }, insert_plain<Layout>);
    u64 hits = 0;
    filter.ahead(
        kQueries, [top](u64 i) { return mulhi(mix(kAbsent + i), top); },
        [&](const u64* line, Spot s) { hits += Layout::test(line, s); });
    std::printf(" %9.2e", static_cast<double>(hits) / static_cast<double>(kQueries));
    std::fflush(stdout);
  }
  std::printf("\n");
}

// The vectors say what the list of words or the specification says; otherwise no figure counts.
template <class Layout>
void check() {
  for (u64 i = 0; i < 100'000; ++i) {
    const Spot s = locate(mix(i), 12'345);
    alignas(64) u64 line[8] = {};
    insert_plain<Layout>(line, s);
    bool same = Layout::test(line, s);
    if constexpr (requires { Layout::kSlices; }) {
      alignas(64) u32 expected[16] = {};
      specify_slices<Layout::kSlices>(s, expected);
      same &= std::memcmp(line, expected, 64) == 0;
    }
    alignas(64) u64 atomic[8] = {};
    same &= insert_atomic<Layout>(atomic, s) && !insert_atomic<Layout>(atomic, s);
    same &= std::memcmp(line, atomic, 64) == 0;
    for (u32 word = 0; word < Layout::kWords; ++word) {
      for (u64 rest = line[word]; rest != 0; rest &= rest - 1) {
        line[word] ^= rest & (~rest + 1);
        same &= !Layout::test(line, s);
        line[word] ^= rest & (~rest + 1);
      }
    }
    if (!same) {
      std::fprintf(stderr, "%s: the forms of this layout disagree\n", Layout::kName);
      std::exit(1);
    }
  }
}

template <class... Layouts>
int compare(int argc, char** argv) {
  (check<Layouts>(), ...);
  if (argc == 2 && std::strcmp(argv[1], "rates") == 0) {
    std::printf("%-28s", "bits per key, measured rate");
    for (const double rate : kRates) std::printf("|%17.0e", rate);
    std::printf("\n");
    (print_rates<Layouts>(), ...);
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "giants") == 0) {
    constexpr u64 kBase = u64{1} << 32;
    constexpr u64 kCounts[] = {kBase >> 16, kBase >> 4, kBase / 3, kBase >> 1,
                               kBase,       kBase + 1,  3 * kBase, 8 * kBase};
    std::printf("%-30s", "lines");
    for (const u64 count : kCounts) std::printf(" %9.2e", static_cast<double>(count));
    std::printf("\n");
    print_giants<FourSlices>(kCounts);
    print_giants<EightSlices>(kCounts);
    print_giants<SixteenSlices>(kCounts);
    print_giants<SixteenSlicesNaive>(kCounts);
    return 0;
  }
  if (argc == 4 && std::strcmp(argv[1], "speed") == 0) {
    print_speed<Layouts...>(std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3]));
    return 0;
  }
  std::fprintf(stderr, "usage: layout_lab rates | giants | speed KEYS ROUNDS\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  return compare<SplitBlock, EightSlices, FourWords, FourWordsAnyBits, TwoWords, FourSlices,
                 FourSlicesScalar, SixteenSlices>(argc, argv);
}
