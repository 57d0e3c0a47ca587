// probably dedup: each record the first time that it is seen.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "commands.hpp"
#include "filters/file_claim.hpp"
#include "filters/filter_file.hpp"
#include "filters/insertion.hpp"
#include "records/exact.hpp"
#include "records/mapped_files.hpp"
#include "records/size_guess.hpp"
#include "terminal/output.hpp"
#include "terminal/progress.hpp"
#include "trouble.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

// The one of the last run, or a new one.
StoredFilter first_filter(const DedupOptions& options, bool has_state) {
  const NewFilterOptions& wanted = options.filter;
  if (!has_state) return make_filter(wanted, options.input);
  // Its size was decided when it was made, so that every day's command can be the same.
  StoredFilter stored = load_filter(options.state, wanted.secret_file);
  expect_storable(stored, options.state);
  if (wanted.kind && *wanted.kind != stored.filter.kind()) {
    throw Trouble(
        fmt::format("'{}' holds a filter of kind {}: leave out --kind, or remove the file.",
                    options.state, probably::name(stored.filter.kind())));
  }
  return stored;
}

// What is printed: records, unless only their number is wanted.
class Printer {
 public:
  Printer(const DedupOptions& options, const RecordReader& reader)
      : options_(options), reader_(reader) {}

  // Stages for batches whose answers tell which records come for the first time.
  void add_stages(Pipeline<Batch>& pipeline) {
    if (options_.only_counts) return;
    const bool wanted = !options_.prints_repeated;
    pipeline.in_parallel([this, wanted](Batch& batch) { reader_.gather(batch, wanted, wanted); });
    pipeline.in_order([this](Batch& batch) {
      output_.write({batch.output.data(), batch.output.size()});
      if (batch.block.is_last_for_now) output_.flush();
    });
  }
  // What was decided before the work failed is printed before that is told.
  template <class Work>
  void run(Work&& work) {
    try {
      work();
    } catch (const Trouble&) {
      output_.flush();
      throw;
    }
  }
  // Those without a key are passed on with the first ones.
  void finish(std::uint64_t fresh, std::uint64_t repeated, std::uint64_t keyless) {
    if (options_.only_counts) {
      output_.write(fmt::format("{}\n", options_.prints_repeated ? repeated : fresh + keyless));
    }
    output_.finish();
  }

 private:
  const DedupOptions& options_;
  const RecordReader& reader_;
  Output output_;
};

struct Counts {
  std::uint64_t records = 0;
  std::uint64_t fresh = 0;
  std::uint64_t keyless = 0;
};

// The first reading, at whose end `exact` knows all suspects. The filter is needed no longer.
Counts find_suspects(const DedupOptions& options, const MappedFiles& files, ExactCheck& exact,
                     const StopFlag& stop) {
  StoredFilter stored = make_filter(options.filter, options.input);
  Insertion insertion(stored.filter, options.input,
                      {.fpr = promise_of(stored, options.filter.fpr),
                       .is_strict = options.filter.is_strict,
                       .sizes = files.sizes()},
                      stop);
  insertion.then().in_order([&](Batch& batch) { exact.suspect(batch); });
  insertion.run();
  return {insertion.records(), insertion.fresh(), insertion.keyless()};
}

int run_exactly(const DedupOptions& options, const StopFlag& stop) {
  if (!options.state.empty()) {
    throw Trouble(
        "--exact-check compares records with the input, where those of earlier runs are not: leave "
        "out --state.");
  }
  const RecordReader reader(options.input);
  const MappedFiles files(options.input.files);
  // A key that is repeated takes two records at least.
  ExactCheck exact(files, reader, keys_at_first(options.input.files, reader.format()) / 2);
  Progress progress(options.input.is_quiet, options.input.shows_progress, !options.only_counts);
  const Counts first = find_suspects(options, files, exact, stop);
  Counts second;
  if (!stop) {
    exact.begin_second();
    Input input(options.input.files, reader.format(), stop, files.sizes());
    Printer printer(options, reader);
    Pipeline<Batch> pipeline;
    pipeline.source([&](Batch& batch) { return input.next(batch.block); });
    pipeline.on_failure([&] { input.stop(); });
    pipeline.in_parallel([&](Batch& batch) { exact.prepare(batch); });
    pipeline.in_order([&](Batch& batch) {
      second.fresh += exact.settle(batch);
      second.records += batch.records.size();
      second.keyless += reader.keyless(batch);
      if (progress.is_due()) {
        progress.show({second.records, input.bytes_read(), input.total_bytes(), {}, {}});
      }
    });
    printer.add_stages(pipeline);
    printer.run([&] { pipeline.run(thread_count(options.input.threads)); });
    progress.clear();
    if (!stop) files.expect_unchanged();
    printer.finish(second.fresh, second.records - second.fresh - second.keyless, second.keyless);
  }
  if (!options.input.is_quiet) {
    std::string text = summary_of(second.records, second.fresh, second.keyless, progress.seconds(),
                                  stop, "repeated");
    if (!stop) {
      text += fmt::format(" {} of the first seen were suspected wrongly.",
                          show_count(second.fresh - first.fresh));
    }
    tell(text);
  }
  return stop ? kInterrupted : kFound;
}

}  // namespace

int run(const DedupOptions& options, const StopFlag& stop) {
  if (options.is_exact) return run_exactly(options, stop);
  std::optional<FileClaim> claim;
  if (!options.state.empty()) {
    expect_writable(options.state, options.input.files);
    claim.emplace(options.state);
  }
  StoredFilter stored = first_filter(options, claim && claim->has_file());
  Insertion insertion(stored.filter, options.input,
                      {.fpr = promise_of(stored, options.filter.fpr),
                       .is_strict = options.filter.is_strict,
                       .prints_records = !options.only_counts},
                      stop);
  Printer printer(options, insertion.reader());
  printer.add_stages(insertion.then());
  printer.run([&] { insertion.run(); });
  printer.finish(insertion.fresh(), insertion.repeated(), insertion.keyless());
  // What was printed is safe by now: only then is it known for good.
  if (claim) {
    claim->expect_unchanged();
    store_filter(stored, options.state);
  }
  if (!options.input.is_quiet) tell(insertion.summary());
  return stop ? kInterrupted : kFound;
}

}  // namespace probably::cli
