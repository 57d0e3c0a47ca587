// Our kinds as contenders (see contender.hpp), beside the floor that the machine sets, on memory of
// the same size with the same pages.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "contender.hpp"
#include "floor.hpp"
#include "measure.hpp"
#include "probably/probably.hpp"

namespace {

using bench::kQueries;
using Keys = std::span<const std::uint64_t>;

probably::Plan plan_for(std::uint64_t keys) { return {.keys = keys, .fpr = bench::kFpr}; }

template <class F>
class Ours {
 public:
  static std::string name() { return std::string(probably::name(probably::kind_of<F>)); }
  static std::string version() { return std::string(probably::kVersion); }

  // A scalable filter that touches its memory beforehand makes its next link early, too, and would
  // show it in its size.
  explicit Ours(std::uint64_t keys)
      : filter_(
            F::create(plan_for(keys), {}, {.prefault = !std::is_same_v<F, probably::ScalableBloom>})
                .value()) {}

  void insert(std::uint64_t key) { filter_.insert(key); }
  void insert(Keys keys) { filter_.insert(keys); }
  void build(Keys keys) requires requires(F filter) { filter.insert_bulk(keys); }
  { filter_.insert_bulk(keys, {.threads = 1}); }
  [[nodiscard]] bool contains(std::uint64_t key) const { return filter_.contains(key); }
  void contains(Keys keys, std::span<bool> answers) const { filter_.contains(keys, answers); }
  [[nodiscard]] double size_bytes() const { return static_cast<double>(filter_.size_bytes()); }

 private:
  F filter_;
};

// Keys of 16 bytes, in one buffer.
class Strings {
 public:
  explicit Strings(std::uint64_t first, std::uint64_t count)
      : characters_(16 * count), offsets_(count + 1) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::array<std::uint64_t, 2> words{bench::mix(first + i), first + i};
      std::copy_n(reinterpret_cast<const char*>(words.data()), 16, &characters_[16 * i]);
      offsets_[i + 1] = 16 * (i + 1);
    }
  }
  [[nodiscard]] probably::PackedStrings<std::uint64_t> view() const {
    return {characters_, offsets_};
  }

 private:
  std::vector<char> characters_;
  std::vector<std::uint64_t> offsets_;
};

// What only some kinds can, on filters that stay as the start has built them.
template <class F>
class Extras {
 public:
  explicit Extras(const bench::Workload& workload)
      : filter_(F::create(plan_for(workload.keys.size()), {}, {.prefault = true}).value()),
        keys_(workload.keys.size()) {
    filter_.insert_bulk(Keys(workload.keys));
  }

  void round(const bench::Workload& workload, const Strings& strings) {
    for (int repeat = 0; repeat < bench::kRepeats; ++repeat) {
      look_up(workload, strings);
      build("rebuild", workload.keys, 1);
      build("rebuild_2_threads", workload.keys, 2);
    }
  }

 private:
  void look_up(const bench::Workload& workload, const Strings& strings) {
    const std::span<bool> answers(answers_.get(), kQueries);
    record("absent_batch_2_threads", bench::time_ns(kQueries, [&] {
             bench::in_threads(2, [&](unsigned half) {
               const std::size_t first = half * (kQueries / 2);
               filter_.contains(Keys(workload.absent).subspan(first, kQueries / 2),
                                answers.subspan(first, kQueries / 2));
             });
           }));
    // The filter holds no strings: these are absent, too.
    record("absent_strings_batch",
           bench::time_ns(kQueries, [&] { filter_.contains(strings.view(), answers); }));
  }
  void build(const char* operation, Keys keys, unsigned threads) {
    filter_.clear();
    record(operation,
           bench::time_ns(keys.size(), [&] { filter_.insert_bulk(keys, {.threads = threads}); }));
  }
  void record(const char* operation, double ns) const {
    bench::Record("time")
        .add("name", Ours<F>::name())
        .add("build", bench::kBuild)
        .add("keys", keys_)
        .add("operation", operation)
        .add("ns", ns)
        .print();
  }

  F filter_;
  std::uint64_t keys_;
  std::unique_ptr<bool[]> answers_ = std::make_unique<bool[]>(kQueries);
};

// The floor at the size of the blocked filter, and the time of the loop with the hash alone.
class Reference {
 public:
  explicit Reference(const bench::Workload& workload)
      : keys_(workload.keys.size()),
        floor_(probably::BlockedParams::from(plan_for(keys_)).value().size_bytes()) {}

  void round(const bench::Workload& workload) {
    const Keys queries(workload.absent);
    for (int repeat = 0; repeat < bench::kRepeats; ++repeat) {
      record("random_line", 1, floor_.random_line(queries));
      record("dependent", 1, floor_.dependent_line(queries));
      record("sequential", 1, floor_.sequential_line());
      record("random_line", 2, floor_.random_line(queries, 2));
    }
    const probably::Hasher hasher;
    std::uint64_t sum = 0;
    const double ns = bench::time_ns(queries.size(), [&] {
      for (const std::uint64_t key : queries) sum += hasher(key).value;
    });
    bench::keep(sum);
    bench::Record("time")
        .add("name", "hash only")
        .add("build", bench::kBuild)
        .add("keys", keys_)
        .add("operation", "absent")
        .add("ns", ns)
        .print();
  }

 private:
  void record(const char* what, int threads, double ns) const {
    bench::Record("floor")
        .add("build", bench::kBuild)
        .add("keys", keys_)
        .add("bytes", floor_.size_bytes())
        .add("threads", threads)
        .add("what", what)
        .add("ns", ns)
        .print();
  }

  std::uint64_t keys_;
  bench::Floor floor_;
};

// All that goes beyond a contender, made at the first round.
class Beyond {
 public:
  void operator()(const bench::Workload& workload) {
    if (!reference_) {
      reference_.emplace(workload);
      blocked_.emplace(workload);
      split_block_.emplace(workload);
    }
    reference_->round(workload);
    blocked_->round(workload, strings_);
    split_block_->round(workload, strings_);
  }

 private:
  Strings strings_{bench::kAbsent, kQueries};
  std::optional<Reference> reference_;
  std::optional<Extras<probably::BlockedBloom>> blocked_;
  std::optional<Extras<probably::SplitBlockBloom>> split_block_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run_contenders<Ours<probably::Bloom>, Ours<probably::BlockedBloom>,
                               Ours<probably::SplitBlockBloom>, Ours<probably::ScalableBloom>>(
      argc, argv, Beyond());
}
