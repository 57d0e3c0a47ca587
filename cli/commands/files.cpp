// probably verify, merge, diff and convert: whole filters.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <string>
#include <utility>

#include "commands.hpp"
#include "filters/filter_file.hpp"
#include "terminal/json_object.hpp"
#include "terminal/output.hpp"
#include "terminal/progress.hpp"
#include "terminal/terminal.hpp"
#include "trouble.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

// What is right with a file. Throws Trouble if anything is wrong.
std::string verify_file(const std::string& path) {
  if (is_plain_snapshot(path)) {
    expect(verify(path));
    return "whole";
  }
  const StoredFilter stored = load_filter(path, "");
  return stored.format == Format::snapshot
             ? "whole"
             : fmt::format("readable; the format {} has no checksum", name(stored.format));
}

}  // namespace

int run(const HelpOptions& options, const StopFlag& /*stop*/) {
  Output output;
  output.write(options.text);
  output.finish();
  return kFound;
}

int run(const VerifyOptions& options, const StopFlag& stop) {
  int code = kFound;
  for (const std::string& path : options.files) {
    if (stop) return kInterrupted;
    // All are looked at, and all that is wrong is said.
    try {
      const std::string result = verify_file(path);
      if (options.is_quiet) continue;
      Output output;
      output.write(fmt::format("{}: {}\n", for_terminal(path, STDOUT_FILENO), result));
      output.finish();
    } catch (const Trouble& trouble) {
      tell(trouble.what());
      code = kTrouble;
    }
  }
  return code;
}

int run(const MergeOptions& options, const StopFlag& stop) {
  expect_writable(options.output);
  StoredFilter all = load_filter(options.files.front(), options.secret_file);
  for (std::size_t i = 1; i < options.files.size(); ++i) {
    if (stop) return kInterrupted;
    const StoredFilter other = load_filter(options.files[i], options.secret_file);
    if (auto merged = all.filter.merge(other.filter); !merged) {
      throw Trouble(fmt::format("'{}' and '{}' cannot be merged. {}", options.files.front(),
                                options.files[i], merged.error().message));
    }
    if (all.dcso && other.dcso) all.dcso->insertions += other.dcso->insertions;
  }
  store_filter(all, options.output);
  return kFound;
}

int run(const DiffOptions& options, const StopFlag& /*stop*/) {
  const StoredFilter first = load_filter(options.first, options.secret_file);
  const StoredFilter second = load_filter(options.second, options.secret_file);
  AnyFilter both = first.filter.clone();
  if (auto merged = both.merge(second.filter); !merged) {
    throw Trouble(fmt::format("'{}' and '{}' cannot be compared. {}", options.first, options.second,
                              merged.error().message));
  }
  // Inclusion and exclusion; the errors are those of three estimates.
  const Estimate a = first.filter.approximate_size();
  const Estimate b = second.filter.approximate_size();
  const Estimate c = both.approximate_size();
  const double error =
      std::sqrt(a.standard_error * a.standard_error + b.standard_error * b.standard_error +
                c.standard_error * c.standard_error);
  const double only_first = std::max(c.value - b.value, 0.0);
  const double only_second = std::max(c.value - a.value, 0.0);
  const double common = std::max(a.value + b.value - c.value, 0.0);
  const bool is_equal = first.filter == second.filter;
  Output output;
  if (options.as_json) {
    output.write(JsonObject()
                     .truth("equal", is_equal)
                     .number("only_first", std::round(only_first))
                     .number("only_second", std::round(only_second))
                     .number("both", std::round(common))
                     .number("standard_error", std::round(error))
                     .str() +
                 "\n");
  } else if (is_equal) {
    output.write("The filters are equal, bit for bit.\n");
  } else {
    output.write(fmt::format(
        "only in the first    about {}\nonly in the second   about {}\n"
        "in both              about {}\n(standard error {} keys)\n",
        show_count(only_first), show_count(only_second), show_count(common), show_count(error)));
  }
  output.finish();
  return is_equal ? kFound : kNone;
}

int run(const ConvertOptions& options, const StopFlag& /*stop*/) {
  expect_writable(options.output);
  const auto load = [&]() -> StoredFilter {
    if (options.column.empty()) return load_filter(options.input, options.secret_file);
    return {expect(interop::read_parquet_file(options.input, options.column, options.row_group)),
            Format::parquet};
  };
  StoredFilter stored = load();
  stored.format = options.format.empty() ? Format::snapshot : parse_format(options.format);
  stored.packing = options.output.ends_with(".gz") ? Packing::gzip : Packing::none;
  store_filter(stored, options.output, {.is_sparse = options.is_sparse});
  return kFound;
}

}  // namespace probably::cli
