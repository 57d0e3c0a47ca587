#include "plan/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "plan/picture.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

std::string show_bits(double bits) { return fmt::format("{:.{}f}", bits, bits < 100 ? 2 : 0); }

std::uint64_t lower_bound_bytes(const Offer& offer, double fpr) {
  return static_cast<std::uint64_t>(
      std::ceil(lower_bound_bits_per_key(fpr) * static_cast<double>(offer.keys) / 8));
}

std::string headline(const PlanReport& report) {
  const Offer& chosen = report.chosen;
  const std::string_view kind = probably::name(chosen.kind);
  switch (report.question.unknown) {
    case Unknown::memory:
      return fmt::format("{} at a rate of {} {} {} as {}.", show_keys(chosen.keys),
                         show_rate(report.question.plan.fpr), chosen.keys == 1 ? "takes" : "take",
                         show_bytes(chosen.bytes), kind);
    case Unknown::rate:
      return fmt::format("{} in {} {} a rate of {} as {}.", show_keys(chosen.keys),
                         show_bytes(chosen.bytes), chosen.keys == 1 ? "has" : "have",
                         show_rate(chosen.fpr), kind);
    case Unknown::keys:
      break;
  }
  return fmt::format("In {} there is room for {} at a rate of {} as {}.", show_bytes(chosen.bytes),
                     show_keys(chosen.keys), show_rate(report.question.plan.fpr), kind);
}

std::string textbook_line(const Solution& textbook, Unknown unknown) {
  const std::string what = unknown == Unknown::memory ? show_bytes((textbook.bits + 7) / 8)
                           : unknown == Unknown::rate ? show_rate(textbook.fpr)
                                                      : show_keys(textbook.keys);
  return fmt::format("{} bits per key: {}, {} hash{}", show_bits(textbook.bits_per_key), what,
                     textbook.hashes, textbook.hashes == 1 ? "" : "es");
}

// And why, unless it is the one that was wanted.
std::string kind_of_choice(const PlanReport& report) {
  std::string chosen(probably::name(report.chosen.kind));
  if (!report.is_substitute) return chosen;
  const auto usual = std::ranges::find(report.offers, kUsualKind, &Offer::kind);
  return fmt::format("{}, because {} {}", chosen, probably::name(kUsualKind), usual->refusal);
}

std::string solution_lines(const PlanReport& report) {
  const Offer& chosen = report.chosen;
  const Question& question = report.question;
  std::string text;
  const auto line = [&text](std::string_view what, const std::string& value) {
    text += fmt::format("  {:<12} {}\n", what, value);
  };
  line("kind", kind_of_choice(report));
  line("keys", show_count(chosen.keys));
  line("rate",
       fmt::format("{}{}", show_rate(question.plan.fpr != 0 ? question.plan.fpr : chosen.fpr),
                   question.has_default_fpr ? ", the default" : ""));
  const bool has_limit = question.unknown == Unknown::memory && question.plan.size_bytes != 0;
  line("memory", fmt::format("{}{}", show_bytes(chosen.bytes),
                             has_limit ? fmt::format(", within the {} granted",
                                                     show_bytes(question.plan.size_bytes))
                                       : ""));
  line("bits per key", show_bits(chosen.bits_per_key));
  const double fpr = question.plan.fpr != 0 ? question.plan.fpr : chosen.fpr;
  line("lower bound", fmt::format("{} bits per key: {}, no filter does with less",
                                  show_bits(lower_bound_bits_per_key(fpr)),
                                  show_bytes(lower_bound_bytes(chosen, fpr))));
  if (report.textbook) line("textbook", textbook_line(*report.textbook, question.unknown));
  return text;
}

// How the keys come to those that are planned for, and what the filter does meanwhile.
std::string growth_lines(const PlanReport& report) {
  const Growth& growth = *report.question.growth;
  const auto most = static_cast<double>(report.question.plan.keys);
  const std::size_t digits = show_count(report.question.plan.keys).size();
  std::string text = fmt::format("\n{} today", show_keys(growth.current_keys));
  if (growth.yearly_growth > 0) {
    text += fmt::format(", {} more each year for {}", show_percent(growth.yearly_growth),
                        show_years(growth.years));
  }
  if (growth.headroom > 0) text += fmt::format(", {} headroom", show_percent(growth.headroom));
  text += ":\n";
  const auto line = [&](const std::string& when, std::uint64_t keys) {
    text += fmt::format("  {:<14} {:>{}}  {}  rate {}\n", when, show_count(keys), digits,
                        bar(static_cast<double>(keys) / most, 20),
                        show_percent(report.chosen.fpr_at(keys)));
  };
  for (const Milestone& milestone : report.forecast) {
    line(milestone.years == 0 ? "today" : fmt::format("in {}", show_years(milestone.years)),
         milestone.keys);
  }
  if (growth.headroom > 0) line("with headroom", report.question.plan.keys);
  return text;
}

using Row = std::vector<std::string>;

Row table_row(const Offer& offer, bool has_keys) {
  Row row{std::string(probably::name(offer.kind)), show_bytes(offer.bytes)};
  if (has_keys) row.push_back(show_count(offer.keys));
  row.push_back(show_bits(offer.bits_per_key));
  row.push_back(show_bits(offer.times_lower_bound));
  row.push_back(show_percent(offer.fpr));
  row.push_back(fmt::format("{:.3g}", offer.misses_if_absent));
  row.push_back(fmt::format("{:.3g}", offer.misses_if_present));
  return row;
}

// The first column starts at the left, all others end at the right.
std::string aligned(const Row& row, const std::vector<std::size_t>& widths, std::size_t gap) {
  std::string line = fmt::format("{:<{}}", row.front(), widths.front());
  for (std::size_t i = 1; i < row.size(); ++i) {
    line += fmt::format("{:>{}}", row[i], widths[i] + gap);
  }
  return line;
}

// What the table does not say by itself.
std::string notes(const PlanReport& report, const Paint& paint) {
  std::string growing;
  for (const Offer& offer : report.offers) {
    if (!offer.grows || !offer.is_possible()) continue;
    growing += fmt::format("{}{}", growing.empty() ? "" : ", ", probably::name(offer.kind));
  }
  std::string text =
      paint.dim("Rates of other software's kinds are as if its hashes were independent.");
  if (growing.empty()) return fmt::format("{}\n", text);
  return fmt::format(
      "{}\n{}\n", text,
      paint.dim(
          fmt::format("Figures of the first link, but growing beyond these keys: {}.", growing)));
}

std::string table(const PlanReport& report, const Paint& paint, std::size_t width) {
  const bool has_keys = report.question.unknown == Unknown::keys;
  Row header{"kind", "memory", "bits/key", "x bound", "rate", "absent", "present"};
  if (has_keys) header.insert(header.begin() + 2, "keys");
  std::vector<std::size_t> widths;
  for (const std::string& title : header) widths.push_back(title.size());
  for (const Offer& offer : report.offers) {
    const Row row = table_row(offer, has_keys);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == 0 || offer.is_possible()) widths[i] = std::max(widths[i], row[i].size());
    }
  }
  const std::size_t total = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  const std::size_t gap = total + 2 * (header.size() - 1) <= width ? 2 : 1;
  const std::string titles = aligned(header, widths, gap);
  std::string text =
      fmt::format("\n{}\n{}\n", paint.dim(fmt::format("{:>{}}", "cache misses", titles.size())),
                  paint.dim(titles));
  for (const Offer& offer : report.offers) {
    const Row row = table_row(offer, has_keys);
    const std::string line =
        offer.is_possible() ? aligned(row, widths, gap)
                            : fmt::format("{:<{}}  {}", row.front(), widths.front(), offer.refusal);
    const bool is_chosen = offer.kind == report.chosen.kind;
    text += fmt::format("{}\n", is_chosen             ? paint.bold(line)
                                : offer.is_possible() ? line
                                                      : paint.dim(line));
  }
  return text + notes(report, paint);
}

}  // namespace

std::string as_text(const PlanReport& report, const Paint& paint, std::size_t width) {
  std::string text = fmt::format("{}\n\n{}", paint.bold(headline(report)), solution_lines(report));
  if (report.question.growth) text += growth_lines(report);
  text += fmt::format("\n{}", as_lines(picture_of(report.chosen), paint, width));
  text += table(report, paint, width);
  return text + fmt::format("\nTo make it:\n  {}\n", paint.bold(command_for(report.chosen)));
}

}  // namespace probably::cli
