// One kind of filter under measurement by `probably bench`, and the memory floor beside it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "probably/kinds.hpp"
#include "records/input.hpp"

namespace probably::cli {

// What is measured.
enum class Operation : std::uint8_t {
  random_read,     // a line of memory of the filter's size; the floor
  dependent_read,  // the same, each after the one before
  insert,
  insert_batch,
  insert_alone,
  insert_bulk,
  absent,
  absent_batch,
  present,
  present_batch,
};
inline constexpr std::size_t kOperationCount = 10;
[[nodiscard]] std::string_view name(Operation operation) noexcept;

// What is measured together, in this order: the insertions leave the filter full for the lookups.
enum class BenchStep : std::uint8_t { memory, insertion, bulk_insertion, absent, present };
inline constexpr std::size_t kBenchStepCount = 5;
[[nodiscard]] std::string_view name(BenchStep step) noexcept;

// The keys, made once for all kinds.
struct BenchKeys {
  static constexpr std::size_t kLookups = 2'000'000;

  // Ends early, with less, when the user interrupts.
  BenchKeys(std::uint64_t count, const StopFlag& stop);
  [[nodiscard]] static std::uint64_t size_bytes(std::uint64_t count) noexcept;

  std::vector<std::uint64_t> inserted;
  std::vector<std::uint64_t> absent;
  std::vector<std::uint64_t> present;  // in random order
};

struct BenchFigures {
  Kind kind{};
  std::uint64_t bytes = 0;
  std::optional<double> huge_page_share;
  std::uint64_t probes = 0;  // absent keys that were asked for, to measure the rate
  std::uint64_t false_positives = 0;
  std::array<std::optional<double>, kOperationCount> ns;  // the best of all rounds

  [[nodiscard]] std::optional<double> fpr() const noexcept;
  [[nodiscard]] double fpr_error() const noexcept;
};

class KindBench {
 public:
  virtual ~KindBench() = default;
  KindBench(const KindBench&) = delete;
  KindBench& operator=(const KindBench&) = delete;

  // Keeps the times that are the best. Of insertions that the user interrupts nothing is kept.
  // Throws Trouble if the filter lost a key.
  virtual void measure(BenchStep step, const BenchKeys& keys, const StopFlag& stop) = 0;
  // Requires: the filter is full.
  virtual void measure_rate(double promised, const StopFlag& stop) = 0;
  [[nodiscard]] const BenchFigures& figures() const noexcept { return figures_; }

 protected:
  KindBench() = default;
  BenchFigures figures_;
};

// The memory of such a filter. Fails as its Params::from does.
[[nodiscard]] Result<std::uint64_t> planned_bytes(Kind kind, const Plan& plan);
// Throws Trouble and std::bad_alloc.
[[nodiscard]] std::unique_ptr<KindBench> make_kind_bench(Kind kind, const Plan& plan);

}  // namespace probably::cli
