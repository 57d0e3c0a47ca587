// probably dedup: each record the first time that it is seen.
#include <fmt/format.h>
#include <sys/stat.h>

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

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

// The one of the last run, or a new one.
StoredFilter first_filter(const DedupOptions& options) {
  if (options.state.empty() || !exists(options.state)) {
    return {make_filter(options.filter), Format::snapshot, false, false, std::nullopt};
  }
  const NewFilterOptions& wanted = options.filter;
  if (wanted.keys || wanted.bytes || wanted.kind || wanted.seed) {
    throw Trouble(fmt::format(
        "'{}' is there and has its size: leave out --keys, --memory, --kind and --seed, or remove "
        "the file to start anew.",
        options.state));
  }
  return load_filter(options.state, wanted.secret_file);
}

struct Counts {
  std::uint64_t records = 0;
  std::uint64_t fresh = 0;
  std::uint64_t keyless = 0;
};

std::string summary(const Counts& counts, const Progress& progress, bool was_interrupted) {
  const double seconds = progress.seconds();
  std::string text = fmt::format(
      "{}{} records in {}: {} first seen, {} repeated", was_interrupted ? "interrupted after " : "",
      show_count(counts.records), show_seconds(seconds), show_count(counts.fresh),
      show_count(counts.records - counts.fresh - counts.keyless));
  if (counts.keyless != 0) text += fmt::format(", {} without the key", show_count(counts.keyless));
  return text + ".";
}

}  // namespace

int run(const DedupOptions& options, const StopFlag& stop) {
  const RecordReader reader(options.input);
  StoredFilter stored = first_filter(options);
  AnyFilter& filter = stored.filter;
  Input input(options.input.files, reader.format(), stop);
  FillWatch watch(filter, options.filter.fpr.value_or(kDefaultFpr), options.filter.is_strict);
  Progress progress(options.input.is_quiet, options.input.shows_progress);
  Output output;
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
  if (!options.only_counts) {
    const bool wanted = !options.prints_repeated;
    pipeline.in_parallel([&](Batch& batch) { reader.gather(batch, wanted, wanted); });
    pipeline.in_order([&](Batch& batch) {
      output.write({batch.output.data(), batch.output.size()});
      if (batch.block.is_last_for_now) output.flush();
    });
  }
  pipeline.run(thread_count(options.input.threads));
  if (options.only_counts) {
    output.write(fmt::format("{}\n", options.prints_repeated
                                         ? counts.records - counts.fresh - counts.keyless
                                         : counts.fresh));
  }
  output.finish();
  progress.clear();
  // What was printed is safe by now: only then is it known for good.
  if (!options.state.empty()) store_filter(stored, options.state);
  if (!options.input.is_quiet) tell(summary(counts, progress, stop));
  return stop ? kInterrupted : kFound;
}

}  // namespace probably::cli
