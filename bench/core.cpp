// What the core filters cost, beside what the memory costs, in one run.
//
// For every kind: bits per key, measured rate, ns per key of insertion and of lookups of absent and
// present keys, one by one and in batches, at a size that fits the cache and one that does not. The
// reference is one random cache line of the same amount of memory on the same kind of pages, read
// with prefetching (the floor of a batch) and in a dependent chain. Rounds are interleaved and the
// best of each counts. Digests are made beforehand: hashing is not in these figures.
//
//   core [keys of the large size, default 100000000]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "probably/probably.hpp"

namespace {

using probably::Digest;

constexpr double kFpr = 0.01;
constexpr std::uint64_t kQueries = 4'000'000;

std::uint64_t mix(std::uint64_t z) noexcept {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::vector<Digest> digests(std::uint64_t first, std::uint64_t count) {
  std::vector<Digest> out(count);
  for (std::uint64_t i = 0; i < count; ++i) out[i] = Digest(mix(first + i));
  return out;
}

// The best time per operation over the rounds.
class Best {
 public:
  template <class Run>
  void measure(std::uint64_t operations, Run&& run) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    ns_ = std::min(ns_, spent.count() / static_cast<double>(operations));
  }
  [[nodiscard]] double ns() const noexcept { return ns_; }

 private:
  double ns_ = std::numeric_limits<double>::infinity();
};

volatile std::uint64_t g_sink;

// Random reads in memory of the filter's size.
struct Floor {
  Best line;
  Best dependent;

  void measure(std::uint64_t size_bytes, std::span<const Digest> queries) {
    auto storage = probably::Storage::allocate(size_bytes, {.prefault = true}).value();
    std::uint64_t* words = storage.mutable_words();
    const std::uint64_t lines = storage.size_bytes() / 64;
    const auto place = [&](Digest digest) {
      return probably::detail::multiply_wide(digest.value, lines).high * 8;
    };
    for (const std::size_t ahead : {16u, 32u, 48u}) {
      line.measure(queries.size(), [&] {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < queries.size(); ++i) {
          __builtin_prefetch(words + place(queries[std::min(i + ahead, queries.size() - 1)]));
          sum += words[place(queries[i])];
        }
        g_sink = sum;
      });
    }
    const std::uint64_t steps = queries.size() / 8;
    dependent.measure(steps, [&] {
      std::uint64_t last = 0;  // always zero, but only the loaded word says so
      for (std::uint64_t i = 0; i < steps; ++i)
        last = words[place(Digest(queries[i].value + last))];
      g_sink = last;
    });
  }
};

template <class F>
struct Row {
  Best insert_single, insert_batch, absent_single, absent_batch, present_single, present_batch;
  double bits_per_key = 0;
  double rate = 0;

  void measure(std::span<const Digest> keys, std::span<const Digest> absent) {
    const auto plan = probably::Plan{.keys = keys.size(), .fpr = kFpr};
    const probably::StorageOptions options{.prefault = true};
    const std::size_t half = keys.size() / 2;
    F filter = F::create(plan, {}, options).value();
    std::uint64_t fresh = 0;
    insert_single.measure(half, [&] {
      for (const Digest digest : keys.first(half)) fresh += filter.insert(digest);
    });
    insert_batch.measure(keys.size() - half, [&] { fresh += filter.insert(keys.subspan(half)); });
    g_sink = fresh;
    bits_per_key = static_cast<double>(filter.size_bytes()) * 8 / static_cast<double>(keys.size());

    const auto present = keys.subspan(keys.size() - std::min<std::size_t>(keys.size(), kQueries));
    std::unique_ptr<bool[]> out(new bool[kQueries]);
    const auto lookups = [&](std::span<const Digest> queries, Best& single, Best& batch) {
      std::uint64_t hits = 0;
      single.measure(queries.size(), [&] {
        for (const Digest digest : queries) hits += filter.contains(digest);
      });
      batch.measure(queries.size(),
                    [&] { filter.contains(queries, std::span(out.get(), queries.size())); });
      return hits;
    };
    rate = static_cast<double>(lookups(absent, absent_single, absent_batch)) /
           static_cast<double>(absent.size());
    if (lookups(present, present_single, present_batch) != present.size()) std::abort();
  }

  void print() const {
    std::printf("| %-11s | %5.2f | %5.3f | %6.1f | %6.1f | %6.1f | %6.1f | %6.1f | %6.1f |\n",
                probably::name(probably::kind_of<F>).data(), bits_per_key, rate * 100,
                insert_single.ns(), insert_batch.ns(), absent_single.ns(), absent_batch.ns(),
                present_single.ns(), present_batch.ns());
  }
};

template <class... Filters>
void table(std::uint64_t keys_count, int rounds, std::type_identity<std::tuple<Filters...>>) {
  const auto keys = digests(0, keys_count);
  const auto absent = digests(std::uint64_t{1} << 50, kQueries);
  std::tuple<Row<Filters>...> rows;
  Floor floor;
  const auto plan = probably::Plan{.keys = keys_count, .fpr = kFpr};
  const std::uint64_t size_bytes = probably::BlockedParams::from(plan).value().size_bytes();
  for (int round = 0; round < rounds; ++round) {
    floor.measure(size_bytes, absent);
    (std::get<Row<Filters>>(rows).measure(keys, absent), ...);
  }
  std::printf(
      "\n%llu keys at %g %%. One random line of %.0f MB: %.1f ns prefetched, %.1f ns "
      "dependent.\n\n",
      static_cast<unsigned long long>(keys_count), kFpr * 100,
      static_cast<double>(size_bytes) / 1e6, floor.line.ns(), floor.dependent.ns());
  std::printf(
      "| kind        |  bits | rate %% | insert | batch  | absent | batch  | present| batch  |\n");
  std::printf(
      "|-------------|------:|-------:|-------:|-------:|-------:|-------:|-------:|-------:|\n");
  (std::get<Row<Filters>>(rows).print(), ...);
}

// Lookups alone; beside a thread that inserts new keys into the same filter without pause; and, as
// a control, beside that thread at work on another filter: what that costs is the machine's doing.
void beside_a_writer(std::uint64_t key_count, int rounds) {
  const auto absent = digests(std::uint64_t{1} << 50, kQueries);
  const auto make_half_full = [&] {
    const probably::Plan plan{.keys = key_count, .fpr = kFpr};
    auto filter = probably::BlockedBloom::create(plan, {}, {.prefault = true}).value();
    const auto keys = digests(0, key_count / 2);
    filter.insert(std::span<const Digest>(keys));
    return filter;
  };
  auto filter = make_half_full();
  auto other = make_half_full();
  const auto look_up = [&] {
    std::uint64_t hits = 0;
    for (const Digest digest : absent) hits += filter.contains(digest);
    g_sink = hits;
  };
  std::atomic<std::uint64_t> next_key = key_count / 2;
  const auto look_up_beside_writer_of = [&](probably::BlockedBloom& written, Best& best) {
    std::atomic<bool> stop = false;
    const std::uint64_t first = next_key;
    std::thread writer([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        written.insert(Digest{mix(next_key.load(std::memory_order_relaxed))});
        next_key.fetch_add(1, std::memory_order_relaxed);
      }
    });
    while (next_key.load(std::memory_order_relaxed) == first) std::this_thread::yield();
    best.measure(absent.size(), look_up);
    stop = true;
    writer.join();
  };
  Best alone, beside, control;
  for (int round = 0; round < rounds; ++round) {
    alone.measure(absent.size(), look_up);
    look_up_beside_writer_of(filter, beside);
    look_up_beside_writer_of(other, control);
  }
  std::printf(
      "\nblocked, %.0f MB: lookups alone %.2f ns; beside a writer %.2f ns; beside a writer of "
      "another filter %.2f ns.\n  Ratio to alone %.2f, to the control %.2f.\n",
      static_cast<double>(filter.size_bytes()) / 1e6, alone.ns(), beside.ns(), control.ns(),
      beside.ns() / alone.ns(), beside.ns() / control.ns());
}

// Filling with all keys in one call, beside batches of the same keys.
template <class F>
void bulk(std::uint64_t key_count, int rounds) {
  std::vector<std::uint64_t> keys(key_count);
  for (std::uint64_t i = 0; i < key_count; ++i) keys[i] = mix(i);
  const probably::Plan plan{.keys = key_count, .fpr = kFpr};
  auto filter = F::create(plan, {}, {.prefault = true}).value();
  const std::span<const std::uint64_t> all(keys);
  Best batch, one_thread, all_threads;
  for (int round = 0; round < rounds; ++round) {
    filter.clear();
    batch.measure(key_count, [&] { filter.insert(all); });
    filter.clear();
    one_thread.measure(key_count, [&] { filter.insert_bulk(all, {.threads = 1}); });
    filter.clear();
    all_threads.measure(key_count, [&] { filter.insert_bulk(all); });
  }
  std::printf(
      "%-11s filled with integers: insert %.1f ns, insert_bulk %.1f ns, on %u threads %.1f ns\n",
      probably::name(probably::kind_of<F>).data(), batch.ns(), one_thread.ns(),
      std::thread::hardware_concurrency(), all_threads.ns());
}

// A scalable filter after growing 1,000-fold, beside a blocked one that was planned for the end.
void after_growth() {
  constexpr std::uint64_t kFirst = 10'000;
  constexpr std::uint64_t kKeys = 1'000 * kFirst;
  const auto keys = digests(0, kKeys);
  const auto absent = digests(std::uint64_t{1} << 50, kQueries);
  auto grown = probably::ScalableBloom::create(probably::Plan{.keys = kFirst, .fpr = kFpr}).value();
  auto planned = probably::BlockedBloom::create(probably::Plan{.keys = kKeys, .fpr = kFpr}).value();
  grown.insert(std::span<const Digest>(keys));
  planned.insert(std::span<const Digest>(keys));
  std::unique_ptr<bool[]> out(new bool[kQueries]);
  const auto show = [&](const char* name, const auto& filter) {
    Best single, batch;
    std::uint64_t hits = 0;
    for (int round = 0; round < 3; ++round) {
      hits = 0;
      single.measure(absent.size(), [&] {
        for (const Digest digest : absent) hits += filter.contains(digest);
      });
      batch.measure(absent.size(), [&] {
        filter.contains(std::span<const Digest>(absent), std::span(out.get(), absent.size()));
      });
    }
    std::printf("%-28s %.2f bits per key, rate %.3f %%, absent keys %.1f ns, in batches %.1f ns\n",
                name, static_cast<double>(filter.size_bytes()) * 8 / static_cast<double>(kKeys),
                100 * static_cast<double>(hits) / static_cast<double>(absent.size()), single.ns(),
                batch.ns());
  };
  std::printf("\nGrown from 10 k to 10 M keys, %u links:\n", grown.link_count());
  show("  scalable", grown);
  show("  blocked, planned for 10 M", planned);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t large = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000'000;
  if (large == 0) {
    std::fprintf(stderr, "usage: core [keys of the large size]\n");
    return 2;
  }
  std::printf("probably %s, batches on %s; ns per key, best of the rounds\n",
              probably::kVersion.data(), probably::batch_target().data());
  table(1'000'000, 5, std::type_identity<probably::AllFilters>{});
  table(large, 2, std::type_identity<probably::AllFilters>{});
  std::printf("\n");
  bulk<probably::BlockedBloom>(large, 2);
  bulk<probably::SplitBlockBloom>(large, 2);
  beside_a_writer(8'000'000, 7);
  beside_a_writer(large, 3);
  after_growth();
}
