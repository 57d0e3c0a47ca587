// probably build, add and check: a filter made of records, extended by them, or asked for them.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "batch.hpp"
#include "commands.hpp"
#include "fill_watch.hpp"
#include "filter_file.hpp"
#include "output.hpp"
#include "pipeline.hpp"
#include "progress.hpp"
#include "trouble.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

struct Counts {
  std::uint64_t records = 0;
  std::uint64_t fresh = 0;
  std::uint64_t keyless = 0;
};

// Inserts all records.
Counts insert_all(AnyFilter& filter, const InputOptions& options, FillWatch& watch,
                  Progress& progress, const StopFlag& stop) {
  const RecordReader reader(options);
  Input input(options.files, reader.format(), stop);
  Counts counts;
  Pipeline<Batch> pipeline;
  pipeline.source([&](Batch& batch) { return input.next(batch.block); });
  pipeline.in_parallel([&](Batch& batch) { reader.prepare(batch, filter); });
  pipeline.in_order([&](Batch& batch) {
    const std::uint64_t fresh = filter.insert_alone(batch.digests, batch.answers.span());
    counts.records += batch.records.size();
    counts.fresh += fresh;
    counts.keyless += RecordReader::keyless(batch);
    watch.add(fresh);
    if (progress.is_due()) {
      progress.show(
          {counts.records, input.bytes_read(), input.total_bytes(), watch.fill(), watch.fpr()});
    }
  });
  pipeline.run(thread_count(options.threads));
  progress.clear();
  return counts;
}

std::string keyless_text(std::uint64_t keyless) {
  return keyless == 0 ? "" : fmt::format(" {} records had no such key.", show_count(keyless));
}

int finish(const StoredFilter& stored, const std::string& path, const StoreOptions& how,
           const Counts& counts, const InputOptions& options, const Progress& progress,
           bool was_interrupted) {
  store_filter(stored, path, how);
  if (!options.is_quiet) {
    tell(fmt::format("{}{} records in {}, {} of them new; the filter is in '{}', {}.{}",
                     was_interrupted ? "interrupted: " : "", show_count(counts.records),
                     show_seconds(progress.seconds()), show_count(counts.fresh), path,
                     show_bytes(stored.filter.size_bytes()), keyless_text(counts.keyless)));
  }
  return was_interrupted ? kInterrupted : kFound;
}

}  // namespace

int run(const BuildOptions& options, const StopFlag& stop) {
  StoredFilter stored{make_filter(options.filter), Format::snapshot, false, false, std::nullopt};
  FillWatch watch(stored.filter, options.filter.fpr.value_or(kDefaultFpr),
                  options.filter.is_strict);
  Progress progress(options.input.is_quiet, options.input.shows_progress);
  const Counts counts = insert_all(stored.filter, options.input, watch, progress, stop);
  return finish(stored, options.output,
                {.is_sparse = options.is_sparse, .stores_secret = options.stores_secret}, counts,
                options.input, progress, stop);
}

int run(const AddOptions& options, const StopFlag& stop) {
  StoredFilter stored = load_filter(options.filter.path, options.filter.secret_file);
  FillWatch watch(stored.filter, options.fpr.value_or(kDefaultFpr), options.is_strict);
  Progress progress(options.input.is_quiet, options.input.shows_progress);
  const Counts counts = insert_all(stored.filter, options.input, watch, progress, stop);
  if (stored.dcso) stored.dcso->insertions += counts.fresh;
  return finish(stored, options.filter.path, {}, counts, options.input, progress, stop);
}

int run(const CheckOptions& options, const StopFlag& stop) {
  const RecordReader reader(options.input);
  const StoredFilter stored = load_filter(options.filter.path, options.filter.secret_file);
  Input input(options.input.files, reader.format(), stop);
  Progress progress(options.input.is_quiet, options.input.shows_progress);
  Output output;
  std::uint64_t records = 0;
  std::uint64_t found = 0;
  std::uint64_t keyless = 0;
  const bool prints = !options.only_counts && !options.only_exit_code;

  Pipeline<Batch> pipeline;
  StopFlag is_answered = false;
  pipeline.source([&](Batch& batch) { return !is_answered && input.next(batch.block); });
  pipeline.in_parallel([&](Batch& batch) {
    reader.prepare(batch, stored.filter);
    stored.filter.contains(batch.digests, batch.answers.span());
    if (prints) reader.gather(batch, !options.is_inverted, options.is_inverted);
  });
  pipeline.in_order([&](Batch& batch) {
    const auto answers = batch.answers.span();
    records += batch.records.size();
    found += static_cast<std::uint64_t>(std::count(answers.begin(), answers.end(), true));
    keyless += RecordReader::keyless(batch);
    if (prints) {
      output.write({batch.output.data(), batch.output.size()});
      if (batch.block.is_last_for_now) output.flush();
    }
    // The exit code is known: the rest need not be read.
    if (options.only_exit_code && (options.is_inverted ? records - found : found) != 0) {
      is_answered = true;
    }
    if (progress.is_due()) {
      progress.show({records, input.bytes_read(), input.total_bytes(), std::nullopt, std::nullopt});
    }
  });
  pipeline.run(thread_count(options.input.threads));
  const std::uint64_t selected = options.is_inverted ? records - found : found;
  if (options.only_counts) output.write(fmt::format("{}\n", selected));
  output.finish();
  progress.clear();
  if (!options.input.is_quiet && !options.only_exit_code) {
    tell(fmt::format("{} of {} records are probably in '{}', the others certainly not.{}",
                     show_count(found), show_count(records), options.filter.path,
                     keyless_text(keyless)));
  }
  if (stop) return kInterrupted;
  return selected != 0 ? kFound : kNone;
}

}  // namespace probably::cli
