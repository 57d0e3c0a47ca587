// probably dedup: each record the first time that it is seen.
#include <fmt/format.h>
#include <sys/stat.h>

#include <string>
#include <utility>

#include "commands.hpp"
#include "filter_file.hpp"
#include "insertion.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "trouble.hpp"

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

}  // namespace

int run(const DedupOptions& options, const StopFlag& stop) {
  StoredFilter stored = first_filter(options);
  Insertion insertion(stored.filter, options.input, options.filter.fpr.value_or(kDefaultFpr),
                      options.filter.is_strict, stop);
  Output output;
  if (!options.only_counts) {
    const bool wanted = !options.prints_repeated;
    insertion.then().in_parallel(
        [&](Batch& batch) { insertion.reader().gather(batch, wanted, wanted); });
    insertion.then().in_order([&](Batch& batch) {
      output.write({batch.output.data(), batch.output.size()});
      if (batch.block.is_last_for_now) output.flush();
    });
  }
  insertion.run();
  if (options.only_counts) {
    output.write(
        fmt::format("{}\n", options.prints_repeated ? insertion.repeated() : insertion.fresh()));
  }
  output.finish();
  // What was printed is safe by now: only then is it known for good.
  if (!options.state.empty()) store_filter(stored, options.state);
  if (!options.input.is_quiet) tell(insertion.summary());
  return stop ? kInterrupted : kFound;
}

}  // namespace probably::cli
