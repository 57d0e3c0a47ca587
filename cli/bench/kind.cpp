#include "bench/kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bench/clock.hpp"
#include "bench/memory_floor.hpp"
#include "trouble.hpp"

namespace probably::cli {
namespace {

using Keys = std::span<const std::uint64_t>;

// How many keys go by before another way of insertion has its turn.
constexpr std::size_t kSliceKeys = 1 << 16;
// Keys from here on are never inserted; from the second on, they only measure the rate.
constexpr std::uint64_t kFirstAbsent = std::uint64_t{1} << 52;
constexpr std::uint64_t kFirstProbe = std::uint64_t{1} << 53;

// The output function of splitmix64: distinct numbers for distinct numbers, and all look random.
std::uint64_t mix(std::uint64_t z) noexcept {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

template <class F>
concept HasBulk = requires(F& filter, Keys keys) {
  filter.insert_bulk(keys);
};

template <class F>
class TypedKindBench final : public KindBench {
 public:
  TypedKindBench(const Plan& plan, std::uint64_t bytes)
      // A filter that grows and touches its memory beforehand would make its next link, too.
      : filter_(expect(F::create(plan, {}, {.prefault = !Growable<F>}))), floor_(bytes) {
    figures_.kind = kind_of<F>;
    figures_.bytes = filter_.size_bytes();
  }

  void measure(BenchStep step, const BenchKeys& keys, const StopFlag& stop) override {
    switch (step) {
      case BenchStep::memory:
        keep_best(Operation::random_read, floor_.independent_ns(keys.absent));
        keep_best(Operation::dependent_read,
                  floor_.dependent_ns(Keys(keys.absent).first(kLatencyReads)));
        break;
      case BenchStep::insertion:
        fill(keys.inserted, stop);
        break;
      case BenchStep::bulk_insertion:
        fill_at_once(keys.inserted);
        break;
      case BenchStep::absent:
        look_up(Operation::absent, Operation::absent_batch, keys.absent);
        break;
      case BenchStep::present:
        look_up(Operation::present, Operation::present_batch, keys.present);
        break;
    }
  }

  void measure_rate(double promised, const StopFlag& stop) override {
    // Enough for some hundred false positives, as far as patience goes.
    const auto wanted = static_cast<std::uint64_t>(std::clamp(1000 / promised, 2e6, 5e7));
    std::vector<std::uint64_t> probes(kSliceKeys);
    for (std::uint64_t next = kFirstProbe; !stop && figures_.probes < wanted;) {
      for (std::uint64_t& probe : probes) probe = mix(next++);
      const std::span<bool> answers(answers_.get(), probes.size());
      filter_.contains(Keys(probes), answers);
      figures_.false_positives += static_cast<std::uint64_t>(std::ranges::count(answers, true));
      figures_.probes += probes.size();
    }
    look_at_pages();
  }

 private:
  static constexpr std::size_t kLatencyReads = BenchKeys::kLookups / 8;

  // One way of insertion, and what it has done so far.
  struct Turns {
    Operation operation;
    double ns = 0;
    std::uint64_t keys = 0;
  };

  void keep_best(Operation operation, double ns) {
    auto& best = figures_.ns[static_cast<std::size_t>(operation)];
    best = std::min(best.value_or(ns), ns);
  }

  // Few keys are inserted again and again, so that the clock itself does not count.
  [[nodiscard]] static std::size_t runs_for(Keys keys) noexcept {
    return std::max<std::size_t>(1, BenchKeys::kLookups / keys.size());
  }

  // Fills the filter by three ways that take turns, so that each meets it empty and full.
  void fill(Keys keys, const StopFlag& stop) {
    std::array<Turns, 3> ways{
        Turns{Operation::insert}, {Operation::insert_batch}, {Operation::insert_alone}};
    const std::size_t slice = std::min(kSliceKeys, keys.size() / ways.size());
    std::size_t turn = first_turn_++;
    for (std::size_t run = 0; run < runs_for(keys); ++run) {
      filter_.clear();
      for (std::size_t first = 0; first < keys.size(); first += slice) {
        if (stop) return;
        Turns& way = ways[turn++ % ways.size()];
        const Keys some = keys.subspan(first, std::min(slice, keys.size() - first));
        way.ns += time_ns(1, [&] { insert(way.operation, some); });
        way.keys += some.size();
      }
    }
    for (const Turns& way : ways) keep_best(way.operation, way.ns / static_cast<double>(way.keys));
    figures_.bytes = filter_.size_bytes();
  }

  void insert(Operation way, Keys keys) {
    if (way == Operation::insert) {
      for (const std::uint64_t key : keys) filter_.insert(key);
    } else if (way == Operation::insert_batch) {
      filter_.insert(keys);
    } else {
      filter_.insert_alone(keys);
    }
  }

  void fill_at_once(Keys keys) {
    if constexpr (HasBulk<F>) {
      double sum = 0;
      const std::size_t runs = runs_for(keys);
      for (std::size_t run = 0; run < runs; ++run) {
        filter_.clear();
        sum += time_ns(keys.size(), [&] { filter_.insert_bulk(keys); });
      }
      keep_best(Operation::insert_bulk, sum / static_cast<double>(runs));
    }
  }

  void look_up(Operation singly, Operation batch, Keys keys) {
    std::uint64_t found = 0;
    keep_best(singly, best_row_ns(keys, kSliceKeys, [&](Keys some) {
                std::uint64_t hits = 0;
                for (const std::uint64_t key : some) hits += filter_.contains(key) ? 1 : 0;
                found += hits;
              }));
    const std::span<bool> answers(answers_.get(), keys.size());
    keep_best(batch, best_row_ns(keys, kSliceKeys, [&](Keys some) {
                const auto first = static_cast<std::size_t>(some.data() - keys.data());
                filter_.contains(some, answers.subspan(first, some.size()));
              }));
    found += static_cast<std::uint64_t>(std::ranges::count(answers, true));
    if (singly == Operation::present && found != 2 * keys.size()) {
      throw Trouble(fmt::format("The {} filter lost a key. This should not happen.",
                                probably::name(kind_of<F>)));
    }
  }

  void look_at_pages() {
    const auto pages = [&] {
      if constexpr (Growable<F>) {
        return filter_.link(0).storage().residency();
      } else {
        return filter_.storage().residency();
      }
    }();
    if (pages && pages->resident_bytes != 0) {
      figures_.huge_page_share =
          static_cast<double>(pages->huge_page_bytes) / static_cast<double>(pages->resident_bytes);
    }
  }

  F filter_;
  std::size_t first_turn_ = 0;  // who begins a round
  MemoryFloor floor_;
  std::unique_ptr<bool[]> answers_ = std::make_unique<bool[]>(BenchKeys::kLookups);
};

template <class F>
Result<std::uint64_t> bytes_for(const Plan& plan) {
  const auto params = F::Params::from(plan);
  if (!params) return params.error();
  if (const auto valid = params->validate(); !valid) return valid.error();
  if constexpr (Growable<F>) {
    const auto first_link = params->link_params(0);
    if (!first_link) return first_link.error();
    return first_link->size_bytes();
  } else {
    return params->size_bytes();
  }
}

}  // namespace

std::string_view name(Operation operation) noexcept {
  constexpr std::array<std::string_view, kOperationCount> kNames{
      "random_read", "dependent_read", "insert",       "insert_batch", "insert_alone",
      "insert_bulk", "absent",         "absent_batch", "present",      "present_batch"};
  return kNames[static_cast<std::size_t>(operation)];
}

std::string_view name(BenchStep step) noexcept {
  constexpr std::array<std::string_view, kBenchStepCount> kNames{
      "reads of memory", "insert", "insert_bulk", "contains, absent", "contains, present"};
  return kNames[static_cast<std::size_t>(step)];
}

BenchKeys::BenchKeys(std::uint64_t count, const StopFlag& stop) {
  inserted.reserve(count);
  while (inserted.size() < count && !stop) {
    const std::size_t end = std::min<std::size_t>(count, inserted.size() + kSliceKeys);
    while (inserted.size() < end) inserted.push_back(mix(inserted.size()));
  }
  if (stop) return;
  for (std::size_t i = 0; i < kLookups; ++i) {
    absent.push_back(mix(kFirstAbsent + i));
    present.push_back(inserted[mix(~std::uint64_t{i}) % count]);
  }
}

std::uint64_t BenchKeys::size_bytes(std::uint64_t count) noexcept {
  return (count + 2 * std::uint64_t{kLookups}) * sizeof(std::uint64_t);
}

std::optional<double> BenchFigures::fpr() const noexcept {
  if (probes == 0) return std::nullopt;
  return static_cast<double>(false_positives) / static_cast<double>(probes);
}

double BenchFigures::fpr_error() const noexcept {
  const auto hits = static_cast<double>(std::max<std::uint64_t>(false_positives, 1));
  return std::sqrt(hits) / static_cast<double>(std::max<std::uint64_t>(probes, 1));
}

Result<std::uint64_t> planned_bytes(Kind kind, const Plan& plan) {
  return with_kind(kind, [&]<class F>() { return bytes_for<F>(plan); });
}

std::unique_ptr<KindBench> make_kind_bench(Kind kind, const Plan& plan) {
  const std::uint64_t bytes = expect(planned_bytes(kind, plan));
  return with_kind(kind, [&]<class F>() -> std::unique_ptr<KindBench> {
    return std::make_unique<TypedKindBench<F>>(plan, bytes);
  });
}

}  // namespace probably::cli
