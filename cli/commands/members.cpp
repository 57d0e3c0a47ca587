// probably build, add and check: a filter made of records, extended by them, or asked for them.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "commands.hpp"
#include "filters/file_claim.hpp"
#include "filters/filter_file.hpp"
#include "filters/insertion.hpp"
#include "records/batch.hpp"
#include "records/pipeline.hpp"
#include "terminal/output.hpp"
#include "terminal/progress.hpp"
#include "trouble.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

// Says what went into the filter, and where that is.
void tell_summary(const Insertion& insertion, const std::string& path, const StoredFilter& stored) {
  tell(fmt::format("{} The filter is in '{}' and takes {}.", insertion.summary(), path,
                   show_bytes(stored.filter.size_bytes())));
}

}  // namespace

int run(const BuildOptions& options, const StopFlag& stop) {
  if (options.stores_secret && options.filter.secret_file.empty()) {
    throw Trouble("--store-secret needs --secret: without it, the filter has none.");
  }
  expect_writable(options.output, options.input.files);
  StoredFilter stored = make_filter(options.filter, options.input);
  Insertion insertion(
      stored.filter, options.input,
      {.fpr = promise_of(stored, options.filter.fpr), .is_strict = options.filter.is_strict}, stop);
  insertion.run();
  if (stop) {
    tell(fmt::format("{} Nothing was saved: a filter of some records would say no to the others.",
                     insertion.summary()));
    return kInterrupted;
  }
  store_filter(stored, options.output,
               {.is_sparse = options.is_sparse, .stores_secret = options.stores_secret});
  if (!options.input.is_quiet) tell_summary(insertion, options.output, stored);
  return kFound;
}

int run(const AddOptions& options, const StopFlag& stop) {
  const std::string& path = options.filter.path;
  const FileClaim claim(path);
  StoredFilter stored = load_filter(path, options.filter.secret_file);
  expect_storable(stored, path);
  expect_writable(path, options.input.files);
  Insertion insertion(stored.filter, options.input,
                      {.fpr = promise_of(stored, options.fpr), .is_strict = options.is_strict},
                      stop);
  insertion.run();
  if (stored.dcso) stored.dcso->insertions += insertion.fresh();
  claim.expect_unchanged();
  store_filter(stored, path);
  if (!options.input.is_quiet) tell_summary(insertion, path, stored);
  return stop ? kInterrupted : kFound;
}

int run(const CheckOptions& options, const StopFlag& stop) {
  const RecordReader reader(options.input);
  const StoredFilter stored = load_filter(options.filter.path, options.filter.secret_file);
  Input input(options.input.files, reader.format(), stop);
  const bool prints = !options.only_counts && !options.only_exit_code;
  Progress progress(options.input.is_quiet || options.only_exit_code, options.input.shows_progress,
                    prints);
  Output output;
  std::uint64_t records = 0;
  std::uint64_t found = 0;
  std::uint64_t keyless = 0;

  Pipeline<Batch> pipeline;
  pipeline.source([&](Batch& batch) { return input.next(batch.block); });
  pipeline.on_failure([&] { input.stop(); });
  pipeline.in_parallel([&](Batch& batch) {
    reader.prepare(batch, stored.filter);
    stored.filter.contains(batch.digests, batch.answers.span());
    if (prints) reader.gather(batch, !options.is_inverted, options.is_inverted);
  });
  pipeline.in_order([&](Batch& batch) {
    const auto answers = batch.answers.span();
    records += batch.records.size();
    found += static_cast<std::uint64_t>(std::count(answers.begin(), answers.end(), true));
    keyless += reader.keyless(batch);
    if (prints) {
      output.write({batch.output.data(), batch.output.size()});
      if (batch.block.is_last_for_now) output.flush();
    }
    // The exit code is known: the rest need not be read.
    if (options.only_exit_code && (options.is_inverted ? records - found : found) != 0) {
      input.stop();
    }
    if (progress.is_due()) {
      progress.show({records, input.bytes_read(), input.total_bytes(), std::nullopt, std::nullopt});
    }
  });
  try {
    pipeline.run(thread_count(options.input.threads));
  } catch (const Trouble&) {
    output.flush();
    throw;
  }
  const std::uint64_t selected = options.is_inverted ? records - found : found;
  if (options.only_counts) output.write(fmt::format("{}\n", selected));
  output.finish();
  progress.clear();
  if (!options.input.is_quiet && !options.only_exit_code) {
    tell(fmt::format("{}{} of {} records are probably in '{}', {} certainly not{}.",
                     stop ? "interrupted: " : "", show_count(found), show_count(records),
                     options.filter.path, show_count(records - found - keyless),
                     keyless == 0 ? "" : fmt::format(", {} have no key", show_count(keyless))));
  }
  if (stop) return kInterrupted;
  return selected != 0 ? kFound : kNone;
}

}  // namespace probably::cli
