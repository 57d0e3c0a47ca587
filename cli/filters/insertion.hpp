// Records that go into a filter, in their order, and what was counted meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "filters/fill_watch.hpp"
#include "records/batch.hpp"
#include "records/input.hpp"
#include "records/pipeline.hpp"
#include "terminal/progress.hpp"

namespace probably::cli {

// "1,000 records in 1.3 s: 900 first seen, 100 repeated." Those without a key are neither. What
// repeated ones are called depends on how sure we are.
[[nodiscard]] std::string summary_of(std::uint64_t records, std::uint64_t fresh,
                                     std::uint64_t keyless, double seconds, bool is_interrupted,
                                     std::string_view repeated);

struct InsertionRules {
  double fpr = 0;          // the promise: beyond it the filter is full, which is said once,
  bool is_strict = false;  // or is an error
  bool prints_records = false;
  std::vector<std::uint64_t> sizes = {};  // if given, no more is read of the files
};

class Insertion {
 public:
  // Looks at the files, but reads nothing yet. Throws Trouble.
  Insertion(AnyFilter& filter, const InputOptions& options, const InsertionRules& rules,
            const StopFlag& stop);

  // What else is done with a batch once its records are in the filter: its answers then say which
  // were new. Add stages before run().
  [[nodiscard]] Pipeline<Batch>& then() noexcept { return pipeline_; }
  [[nodiscard]] const RecordReader& reader() const noexcept { return reader_; }

  // Reads everything. Throws Trouble.
  void run();

  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  [[nodiscard]] std::uint64_t fresh() const noexcept { return fresh_; }
  [[nodiscard]] std::uint64_t keyless() const noexcept { return keyless_; }
  [[nodiscard]] std::uint64_t repeated() const noexcept { return records_ - fresh_ - keyless_; }
  [[nodiscard]] std::string summary() const;

 private:
  void insert(Batch& batch);

  AnyFilter& filter_;
  const InputOptions& options_;
  const StopFlag& stop_;
  RecordReader reader_;
  Input input_;
  FillWatch watch_;
  Progress progress_;
  Pipeline<Batch> pipeline_;
  std::uint64_t records_ = 0;
  std::uint64_t fresh_ = 0;
  std::uint64_t keyless_ = 0;
};

}  // namespace probably::cli
