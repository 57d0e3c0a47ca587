// A filter in front of a slow store: what `./dev run` shows.
//
// A million keys go into a file of sorted records, the slow store, and into a filter, from several
// threads. Then absent keys are looked up with and without the filter. Every figure printed is
// measured by this run, but for those marked as predicted.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "probably/probably.hpp"

namespace {

constexpr std::uint64_t kKeys = 1'000'000;
constexpr double kPromisedFpr = 0.01;

using Record = std::array<char, 16>;

// Even numbers are stored, odd ones are absent; the order is scrambled by an odd multiplier.
Record key_of(std::uint64_t number) {
  Record record;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(number * 0x9e3779b97f4a7c15u));
  std::memcpy(record.data(), text, record.size());
  return record;
}

std::string_view view(const Record& record) { return {record.data(), record.size()}; }

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(2);
}

// A sorted file, searched by halving: about twenty reads of the operating system per lookup.
class SlowStore {
 public:
  explicit SlowStore(std::vector<Record> records) : count_(records.size()) {
    std::sort(records.begin(), records.end());
    file_ = std::tmpfile();
    if (file_ == nullptr) give_up("probably demo: cannot create a temporary file");
    if (std::fwrite(records.data(), sizeof(Record), count_, file_) != count_ ||
        std::fflush(file_) != 0) {
      give_up("probably demo: cannot write the temporary file");
    }
  }
  ~SlowStore() { std::fclose(file_); }
  SlowStore(const SlowStore&) = delete;
  SlowStore& operator=(const SlowStore&) = delete;

  [[nodiscard]] bool contains(const Record& key) const {
    std::uint64_t low = 0;
    std::uint64_t high = count_;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      Record record;
      const auto offset = static_cast<off_t>(middle * sizeof(Record));
      if (pread(fileno(file_), record.data(), sizeof(Record), offset) != sizeof(Record)) {
        give_up("probably demo: cannot read the temporary file");
      }
      if (record == key) return true;
      if (record < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return false;
  }

 private:
  std::uint64_t count_;
  std::FILE* file_;
};

// Nanoseconds per key of calling `use` on each.
template <class Use>
double time_per_key(const std::vector<Record>& keys, Use&& use) {
  const auto start = std::chrono::steady_clock::now();
  for (const Record& key : keys) use(key);
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(keys.size());
}

int demonstrate() {
  std::vector<Record> stored(kKeys);
  std::vector<Record> absent(kKeys);
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    stored[i] = key_of(2 * i);
    absent[i] = key_of(2 * i + 1);
  }
  const SlowStore store(stored);

  auto created = probably::BlockedBloom::create({.keys = kKeys, .fpr = kPromisedFpr});
  if (!created) {
    std::fprintf(stderr, "probably demo: %s\n", created.error().message.c_str());
    return 2;
  }
  probably::BlockedBloom& filter = *created;
  std::printf(
      "A filter for %llu keys at %.2g %%: %.2f MB, %.2f bits per key (no filter does with less "
      "than %.2f).\n",
      static_cast<unsigned long long>(kKeys), kPromisedFpr * 100,
      static_cast<double>(filter.size_bytes()) / 1e6,
      static_cast<double>(filter.size_bytes()) * 8 / static_cast<double>(kKeys),
      probably::lower_bound_bits_per_key(kPromisedFpr));

  const unsigned threads = std::max(2u, std::thread::hardware_concurrency());
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> writers;
  for (unsigned t = 0; t < threads; ++t) {
    writers.emplace_back([&, t] {
      for (std::uint64_t i = t; i < kKeys; i += threads) filter.insert(view(stored[i]));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::chrono::duration<double, std::milli> filling =
      std::chrono::steady_clock::now() - start;
  std::printf("Filled by %u threads without a lock in %.0f ms.\n\n", threads, filling.count());

  std::uint64_t lost = 0;
  for (const Record& key : stored) lost += !filter.contains(view(key));
  std::uint64_t mistaken = 0;
  for (const Record& key : absent) mistaken += filter.contains(view(key));
  const probably::Estimate size = filter.approximate_size();
  std::printf("  stored keys answered \"no\"            %llu of %llu\n",
              static_cast<unsigned long long>(lost), static_cast<unsigned long long>(kKeys));
  std::printf("  absent keys answered \"probably\"      %.3f %%   (predicted %.3f %%)\n",
              100 * static_cast<double>(mistaken) / static_cast<double>(kKeys),
              100 * filter.params().fpr(kKeys));
  std::printf("  bits set                             %.1f %%    (predicted %.1f %%)\n",
              100 * filter.fill_ratio(), 100 * filter.params().fill(kKeys));
  std::printf("  keys inside, judged by the bits      %.0f +- %.0f\n\n", size.value,
              size.standard_error);

  // The store is slow: a fiftieth of the keys gives its time well enough.
  const std::vector<Record> sample(absent.begin(), absent.begin() + kKeys / 50);
  std::uint64_t found = 0;
  const double store_ns =
      time_per_key(sample, [&](const Record& key) { found += store.contains(key); });
  const double guarded_ns = time_per_key(absent, [&](const Record& key) {
    found += filter.contains(view(key)) && store.contains(key);
  });
  std::uint64_t maybe = 0;
  const double filter_ns =
      time_per_key(absent, [&](const Record& key) { maybe += filter.contains(view(key)); });
  std::printf("Looking up keys that are not in the store (a sorted file of %llu records):\n",
              static_cast<unsigned long long>(kKeys));
  std::printf("  without the filter                   %8.0f ns each\n", store_ns);
  std::printf(
      "  with the filter in front             %8.0f ns each, the mistaken 1 %% included: %.0f "
      "times faster\n",
      guarded_ns, store_ns / guarded_ns);
  std::printf("  a certain \"no\" of the filter         %8.1f ns, hashing included\n", filter_ns);
  return lost == 0 && found == 0 && maybe == mistaken ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "probably demo: takes no arguments, and got %s\n", argv[1]);
    return 2;
  }
  try {
    return demonstrate();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "probably demo: out of memory\n");
    return 2;
  }
}
