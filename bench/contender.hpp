// One filter, ours or a peer's, under the same keys and the same clock.
//
//   program KEYS    builds, prints what it knows of itself, and then for each line of its standard
//                   input measures one round; ends with the input
//
// bench/report starts all contenders and lets them go in turn, so that a slow moment of the machine
// hits none of them alone. Programs in other languages (peers/) keep the same protocol:
//
//   {"subject": "contender", "name": "libbloom", "version": "1.6", "build": "baseline"}
//   {"subject": "size", "name": ..., "build": ..., "keys": 1000000, "bits_per_key": 9.6,
//    "rate": 0.0101}
//   {"subject": "time", "name": ..., "build": ..., "keys": ..., "operation": "absent", "ns": 12.5}
//   {"subject": "done"}                              after the start, and after each round
//
// Operations: insert, insert_batch, build (all keys in one call), absent, present, mixed (half and
// half, in random order), and absent_batch, present_batch, mixed_batch; our own program has more.
// Keys are 64-bit integers; who takes bytes only gets the eight bytes of the integer. At up to
// kSmall keys each round builds anew, too; above, the filter of the start serves.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "measure.hpp"

namespace bench {

inline constexpr std::uint64_t kQueries = 4'000'000;
inline constexpr std::uint64_t kSmall = 10'000'000;
// How often a round measures what is soon done, and what soon is.
inline constexpr int kRepeats = 3;
inline constexpr std::chrono::seconds kSoon{2};

// A filter with room for `keys` keys at 1 %: what a contender's program writes.
template <class C>
concept Contender = requires(C contender, const C& constant, std::uint64_t keys) {
  { C::name() } -> std::convertible_to<std::string>;
  { C::version() } -> std::convertible_to<std::string>;
  C(keys);
  { constant.contains(keys) } -> std::same_as<bool>;
  { constant.size_bytes() } -> std::convertible_to<double>;
};
template <class C>
concept InsertsSingly = requires(C contender, std::uint64_t key) {
  contender.insert(key);
};
template <class C>
concept InsertsBatches = requires(C contender, std::span<const std::uint64_t> keys) {
  contender.insert(keys);
};
template <class C>
concept Builds = requires(C contender, std::span<const std::uint64_t> keys) {
  contender.build(keys);
};
template <class C>
concept AnswersBatches = requires(const C& contender, std::span<const std::uint64_t> keys,
                                  std::span<bool> answers) {
  contender.contains(keys, answers);
};

// The keys of a run, made once and shared by the contenders of a program.
struct Workload {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint64_t> absent = make_keys(kAbsent, kQueries);
  std::vector<std::uint64_t> present;
  std::vector<std::uint64_t> mixed;

  explicit Workload(std::uint64_t count) : keys(make_keys(0, count)) {
    present.reserve(kQueries);
    mixed.reserve(kQueries);
    for (std::uint64_t i = 0; i < kQueries; ++i) {
      present.push_back(keys[mix(kAbsent - 1 - i) % count]);
      mixed.push_back(mix(i) % 2 == 0 ? present[i] : absent[i]);
    }
  }
};

template <Contender C>
class Runner {
 public:
  explicit Runner(const Workload& workload) : work_(workload) {
    record("contender").add("version", C::version()).print();
    fill();
    std::uint64_t hits = 0;
    for (const std::uint64_t key : work_.absent) hits += filter_->contains(key);
    const auto count = static_cast<double>(work_.keys.size());
    record("size")
        .add("keys", work_.keys.size())
        .add("bits_per_key", 8 * static_cast<double>(filter_->size_bytes()) / count)
        .add("rate", static_cast<double>(hits) / static_cast<double>(kQueries))
        .print();
    for (const std::uint64_t key : work_.present) {
      if (!filter_->contains(key)) {
        std::fprintf(stderr, "%s lost a key\n", std::string(C::name()).c_str());
        std::exit(1);
      }
    }
  }

  void round() {
    if (work_.keys.size() <= kSmall) fill();
    const auto begin = std::chrono::steady_clock::now();
    for (int repeat = 0; repeat < kRepeats && std::chrono::steady_clock::now() - begin < kSoon;
         ++repeat) {
      look_up("absent", work_.absent);
      look_up("present", work_.present);
      look_up("mixed", work_.mixed);
    }
  }

 private:
  [[nodiscard]] static Record record(std::string_view subject) {
    return Record(subject).add("name", std::string(C::name())).add("build", kBuild);
  }
  void time(const std::string& operation, double ns) const {
    record("time").add("keys", work_.keys.size()).add("operation", operation).add("ns", ns).print();
  }

  void start_empty() {
    filter_.reset();
    filter_.emplace(work_.keys.size());
  }

  void fill() {
    const std::span<const std::uint64_t> keys(work_.keys);
    const std::uint64_t count = keys.size();
    if constexpr (Builds<C>) {
      start_empty();
      time("build", time_ns(count, [&] { filter_->build(keys); }));
    }
    if constexpr (InsertsBatches<C>) {
      start_empty();
      time("insert_batch", time_ns(count, [&] { filter_->insert(keys); }));
    }
    if constexpr (InsertsSingly<C>) {
      start_empty();
      time("insert", time_ns(count, [&] {
             for (const std::uint64_t key : keys) filter_->insert(key);
           }));
    }
  }

  void look_up(const std::string& operation, std::span<const std::uint64_t> queries) const {
    std::uint64_t hits = 0;
    time(operation, time_ns(queries.size(), [&] {
           for (const std::uint64_t key : queries) hits += filter_->contains(key);
         }));
    keep(hits);
    if constexpr (AnswersBatches<C>) {
      const std::span<bool> answers(answers_.get(), queries.size());
      time(operation + "_batch",
           time_ns(queries.size(), [&] { filter_->contains(queries, answers); }));
    }
  }

  const Workload& work_;
  std::optional<C> filter_;
  std::unique_ptr<bool[]> answers_ = std::make_unique<bool[]>(kQueries);
};

template <class>
const Workload& given(const Workload& workload) {
  return workload;
}

// The main function of a contender's program. `extra` is called in every round, too.
template <Contender... Contenders, class Extra>
int run_contenders(int argc, char** argv, Extra&& extra) {
  const std::uint64_t keys = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (keys == 0) {
    std::fprintf(stderr, "usage: %s KEYS, then one line of input for each round\n", argv[0]);
    return 2;
  }
  const Workload workload(keys);
  // A runner cannot be moved: each is made in its place, from the same workload.
  std::tuple<Runner<Contenders>...> runners(given<Contenders>(workload)...);
  Record("done").print();
  for (std::string line; std::getline(std::cin, line);) {
    extra(workload);
    (std::get<Runner<Contenders>>(runners).round(), ...);
    Record("done").print();
  }
  return 0;
}
template <Contender... Contenders>
int run_contenders(int argc, char** argv) {
  return run_contenders<Contenders...>(argc, argv, [](const Workload&) {});
}

}  // namespace bench
