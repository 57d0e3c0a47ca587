#include "bench/report.hpp"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string_view>

#include "probably/batch.hpp"
#include "terminal/json_object.hpp"
#include "terminal/visible.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

constexpr std::size_t kHeadColumns = 80;
constexpr std::size_t kLabelColumns = 24;
constexpr std::size_t kFigureColumns = 13;

using Cell = std::function<std::string(const BenchFigures&)>;

std::string row(std::string_view label, const BenchReport& report, const Cell& cell) {
  std::string line = fmt::format("{:<{}}", label, kLabelColumns);
  for (const BenchFigures& figures : report.kinds) {
    line += fmt::format("{:>{}}", cell(figures), kFigureColumns);
  }
  return line + "\n";
}

std::string label(Operation operation, unsigned cores) {
  switch (operation) {
    case Operation::random_read:
      return "memory, independent";
    case Operation::dependent_read:
      return "memory, dependent";
    case Operation::insert:
      return "insert";
    case Operation::insert_batch:
      return "insert, batch";
    case Operation::insert_alone:
      return "insert_alone, batch";
    case Operation::insert_bulk:
      return fmt::format("insert_bulk, {} thread{}", cores, cores == 1 ? "" : "s");
    case Operation::absent:
      return "contains, absent";
    case Operation::absent_batch:
      return "contains, absent, batch";
    case Operation::present:
      return "contains, present";
    case Operation::present_batch:
      return "contains, present, batch";
  }
  return {};
}

// Three digits that count.
std::string figure(double value) {
  const int places = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, places);
}

// A row for each operation that some kind has; of(ns, floor) is what it says.
std::string table(const BenchReport& report, const std::function<double(double, double)>& of) {
  std::string text;
  for (std::size_t i = 0; i < kOperationCount; ++i) {
    const auto operation = static_cast<Operation>(i);
    bool is_there = report.rounds == 0;
    for (const BenchFigures& figures : report.kinds) is_there |= figures.ns[i].has_value();
    if (!is_there) continue;
    text += row(label(operation, report.machine.cores), report, [&](const BenchFigures& figures) {
      const auto floor = figures.ns[static_cast<std::size_t>(Operation::random_read)];
      return figures.ns[i] && floor ? figure(of(*figures.ns[i], *floor)) : std::string("-");
    });
  }
  return text;
}

std::string head(const BenchReport& report) {
  std::string text = fmt::format("{}, {} core{}", report.machine.cpu, report.machine.cores,
                                 report.machine.cores == 1 ? "" : "s");
  for (const Cache& cache : report.machine.caches) {
    text += fmt::format(", {} {}", cache.name, show_bytes(cache.bytes));
  }
  text += fmt::format("; batches run on {}.", batch_target());
  const std::string method = fmt::format(
      "{} integer keys and {} lookups, with hashing, by one thread unless it says more. Best of {} "
      "round{}, in which all take turns and the first warms up; of lookups and reads, the best "
      "thousands in a row. The floor: independent reads of random 64-byte lines in memory of the "
      "filter's size.",
      show_count(report.keys), show_count(std::uint64_t{BenchKeys::kLookups}), report.rounds,
      report.rounds == 1 ? "" : "s");
  std::string lines;
  for (const std::string& paragraph : {text, method}) {
    for (const std::string& line : wrapped(paragraph, kHeadColumns)) lines += line + "\n";
  }
  return lines + "\n";
}

double bits_per_key(const BenchReport& report, const BenchFigures& figures) {
  return 8 * static_cast<double>(figures.bytes) / static_cast<double>(report.keys);
}

std::string sizes_and_rates(const BenchReport& report) {
  std::string text;
  text += row("memory", report, [](const auto& kind) { return show_bytes(kind.bytes); });
  text += row("bits per key", report,
              [&](const auto& kind) { return fmt::format("{:.2f}", bits_per_key(report, kind)); });
  text += row("on huge pages", report, [](const auto& kind) {
    return kind.huge_page_share ? show_percent(*kind.huge_page_share) : "-";
  });
  text +=
      row("promised rate", report, [&](const auto&) { return show_percent(report.promised_fpr); });
  text += row("measured rate", report,
              [](const auto& kind) { return kind.fpr() ? show_percent(*kind.fpr()) : "-"; });
  text += row("  standard error", report,
              [](const auto& kind) { return kind.fpr() ? show_percent(kind.fpr_error()) : "-"; });
  return text;
}

std::string as_json(const BenchReport& report, const BenchFigures& figures) {
  JsonObject ns;
  for (std::size_t i = 0; i < kOperationCount; ++i) {
    ns.maybe(name(static_cast<Operation>(i)), figures.ns[i]);
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return JsonObject()
      .text("kind", probably::name(figures.kind))
      .count("bytes", figures.bytes)
      .number("bits_per_key", bits_per_key(report, figures))
      .maybe("huge_page_share", figures.huge_page_share)
      .maybe("measured_fpr", figures.fpr())
      .number("measured_fpr_error", figures.fpr() ? figures.fpr_error() : kNone)
      .raw("ns", ns.str())
      .str();
}

}  // namespace

std::string as_text(const BenchReport& report, const Paint& paint) {
  const std::string kinds = row("", report, [](const BenchFigures& figures) {
    return std::string(probably::name(figures.kind));
  });
  const auto section = [&](std::string_view title, const std::string& rows) {
    return fmt::format("{}\n{}", paint.bold(title), rows);
  };
  std::string text = head(report) + kinds + sizes_and_rates(report) + "\n";
  text += section("ns per key", table(report, [](double ns, double) { return ns; })) + "\n";
  text += section("million keys per second",
                  table(report, [](double ns, double) { return 1000 / ns; })) +
          "\n";
  text +=
      section("times the floor", table(report, [](double ns, double floor) { return ns / floor; }));
  return text;
}

std::string as_json(const BenchReport& report) {
  JsonObject caches;
  for (const Cache& cache : report.machine.caches) caches.count(cache.name, cache.bytes);
  return JsonObject()
             .text("cpu", report.machine.cpu)
             .count("cores", report.machine.cores)
             .raw("caches", caches.str())
             .text("target", batch_target())
             .count("keys", report.keys)
             .count("lookups", BenchKeys::kLookups)
             .number("promised_fpr", report.promised_fpr)
             .count("rounds", report.rounds)
             .truth("interrupted", report.is_interrupted)
             .raw("kinds",
                  json_array(report.kinds,
                             [&](const BenchFigures& figures) { return as_json(report, figures); }))
             .str() +
         "\n";
}

}  // namespace probably::cli
