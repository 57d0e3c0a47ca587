// probably info: what a filter is, and how full.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "commands.hpp"
#include "filters/filter_file.hpp"
#include "terminal/json_object.hpp"
#include "terminal/output.hpp"
#include "terminal/terminal.hpp"
#include "trouble.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

// All that is said of a filter, in whatever form.
struct Report {
  std::string path;
  std::string_view format;
  std::string_view kind;
  std::string geometry;
  std::string_view hash;
  bool is_keyed = false;
  std::uint64_t filter_bytes = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t saved = 0;
  double fill = 0;
  Estimate keys;
  double fpr = 0;
  double promised_fpr = 0;
  bool is_promise = false;  // else it is what we promise if nobody says anything
  std::optional<std::uint64_t> capacity;
};

template <class F>
std::string geometry_of(const F& filter) {
  const auto& params = filter.params();
  if constexpr (Growable<F>) {
    return fmt::format("{} in a chain, each {} times as large as the one before",
                       show_number(filter.link_count(), "filter"), params.growth);
  } else if constexpr (std::same_as<F, BlockedBloom>) {
    return fmt::format("{} lines of 64 bytes; a key sets {} bits", show_count(params.lines),
                       params.slices);
  } else if constexpr (std::same_as<F, SplitBlockBloom>) {
    return fmt::format("{} blocks of 32 bytes; a key sets 8 bits", show_count(params.blocks));
  } else {
    return fmt::format("{} bits; a key sets up to {}", show_count(params.bits), params.hashes);
  }
}

Report report_on(const std::string& path, const InfoOptions& options) {
  const StoredFilter stored = load_filter(path, options.secret_file);
  Report report;
  report.path = path;
  report.format = name(stored.format);
  report.kind = probably::name(stored.filter.kind());
  report.hash = probably::name(stored.filter.hash_algorithm());
  report.is_keyed = stored.filter.hash_algorithm() == HashAlgorithm::siphash24;
  report.filter_bytes = stored.filter.size_bytes();
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    report.file_bytes = static_cast<std::uint64_t>(status.st_size);
  }
  report.saved = stored.saved;
  report.fill = stored.filter.fill_ratio();
  report.keys = stored.filter.approximate_size();
  report.fpr = stored.filter.estimated_fpr();
  report.promised_fpr = promise_of(stored, options.fpr);
  report.is_promise = options.fpr || stored.promised_fpr != 0;
  stored.filter.visit([&]<class F>(const F& filter) {
    report.geometry = geometry_of(filter);
    if constexpr (!Growable<F>) {
      report.capacity = filter.params().capacity(report.promised_fpr);
    }
  });
  return report;
}

std::string date(std::uint64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  char text[32] = "";
  if (::gmtime_r(&time, &parts) != nullptr) {
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  }
  return text;
}

std::string as_text(const Report& report) {
  const Paint paint(STDOUT_FILENO);
  std::string text = fmt::format("{}\n", paint.bold(for_terminal(report.path, STDOUT_FILENO)));
  const auto line = [&text](std::string_view what, const std::string& value) {
    text += fmt::format("  {:<12} {}\n", what, value);
  };
  line("format", std::string(report.format));
  line("kind", std::string(report.kind));
  line("geometry", report.geometry);
  line("hash", fmt::format("{}{}", report.hash, report.is_keyed ? ", keyed" : ""));
  line("memory", show_bytes(report.filter_bytes));
  line("file", show_bytes(report.file_bytes));
  if (report.saved != 0) line("saved", date(report.saved));
  line("bits set", fmt::format("{} {}", bar(report.fill), show_percent(report.fill)));
  line("keys", fmt::format("about {} (± {})", show_count(report.keys.value),
                           show_count(report.keys.standard_error)));
  line("rate now", fmt::format("{} of absent keys are taken for known", show_rate(report.fpr)));
  const std::string rate = show_rate(report.promised_fpr);
  if (!report.capacity) {
    line("promise", fmt::format("{}, however many keys come", rate));
    return text;
  }
  const std::string until = show_count(*report.capacity);
  line("promise", report.is_promise ? fmt::format("{} up to {} keys", rate, until)
                                    : fmt::format("not told; {} holds up to {} keys", rate, until));
  const double used =
      report.keys.value / static_cast<double>(std::max<std::uint64_t>(*report.capacity, 1));
  const std::string shown = fmt::format("{} {}", bar(used), show_percent(used));
  line("used", used > 1 ? paint.red(shown) : used > 0.9 ? paint.yellow(shown) : paint.green(shown));
  return text;
}

// A label's value in OpenMetrics.
std::string label(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? std::string_view("\\n") : std::string_view(&c, 1);
  }
  return out + "\"";
}

std::string as_json(const Report& report) {
  return JsonObject()
             .text("path", report.path)
             .text("format", report.format)
             .text("kind", report.kind)
             .text("hash", report.hash)
             .truth("keyed", report.is_keyed)
             .count("bytes", report.filter_bytes)
             .count("file_bytes", report.file_bytes)
             .maybe("saved", report.saved == 0 ? std::nullopt : std::optional(report.saved))
             .number("fill", report.fill)
             .number("keys", report.keys.value)
             .number("keys_error", report.keys.standard_error)
             .number("fpr", report.fpr)
             .number("promised_fpr", report.promised_fpr)
             .maybe("capacity", report.capacity)
             .str() +
         "\n";
}

}  // namespace

int run(const InfoOptions& options, const StopFlag& stop) {
  Output output;
  std::vector<Report> reports;
  for (const std::string& path : options.files) {
    if (stop) return kInterrupted;
    reports.push_back(report_on(path, options));
  }
  if (options.as_metrics) {
    // A series may be told only once.
    std::ranges::sort(reports, {}, &Report::path);
    const auto is_same = [](const Report& a, const Report& b) { return a.path == b.path; };
    reports.erase(std::unique(reports.begin(), reports.end(), is_same), reports.end());
    const auto metric = [&](std::string_view name, std::string_view help, auto value) {
      output.write(fmt::format("# TYPE probably_{0} gauge\n# HELP probably_{0} {1}\n", name, help));
      for (const Report& report : reports) {
        output.write(
            fmt::format("probably_{}{{filter={}}} {}\n", name, label(report.path), value(report)));
      }
    };
    metric("filter_bytes", "Memory of the filter.", [](const Report& r) { return r.filter_bytes; });
    metric("file_bytes", "Size of the file.", [](const Report& r) { return r.file_bytes; });
    metric("fill_ratio", "Share of bits that are set.", [](const Report& r) { return r.fill; });
    metric("keys", "Estimated distinct keys.", [](const Report& r) { return r.keys.value; });
    metric("false_positive_rate", "Estimated rate now.", [](const Report& r) { return r.fpr; });
    metric("promised_false_positive_rate", "Rate beyond which the filter is full.",
           [](const Report& r) { return r.promised_fpr; });
    metric("capacity_keys", "Keys up to which the promised rate holds; +Inf if the filter grows.",
           [](const Report& r) {
             return r.capacity ? std::to_string(*r.capacity) : std::string("+Inf");
           });
    output.write("# EOF\n");
  } else {
    for (const Report& report : reports) {
      output.write(options.as_json ? as_json(report) : as_text(report));
    }
  }
  output.finish();
  return kFound;
}

}  // namespace probably::cli
