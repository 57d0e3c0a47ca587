// probably plan: solves for keys, rate or memory, and compares all kinds of filters.
#include <unistd.h>

#include <span>

#include "commands.hpp"
#include "plan/picture.hpp"
#include "plan/report.hpp"
#include "probably/io.hpp"
#include "terminal/output.hpp"
#include "trouble.hpp"

namespace probably::cli {
namespace {

void write_file(const std::string& path, const std::string& text) {
  FileSink file = expect(FileSink::create(path));
  expect(file.write(std::as_bytes(std::span(text))));
  expect(file.finish());
}

}  // namespace

PlanReport report_on(const PlanOptions& options) {
  PlanReport report;
  report.question = question_of(options);
  report.offers = offers_for(report.question);
  report.chosen = choose(report.offers, report.question, options.kind);
  report.is_substitute = !options.kind && report.chosen.kind != kUsualKind;
  Plan plan = report.question.plan;
  if (report.question.unknown == Unknown::memory) plan.size_bytes = 0;
  if (const auto solution = solve(plan)) report.textbook = *solution;
  if (report.question.growth) report.forecast = forecast(*report.question.growth);
  return report;
}

int run(const PlanOptions& options, const StopFlag& /*stop*/) {
  const PlanReport report = report_on(options);
  if (!options.svg.empty()) write_file(options.svg, as_svg(picture_of(report.chosen)));
  Output output;
  output.write(options.as_json
                   ? as_json(report, options)
                   : as_text(report, Paint(STDOUT_FILENO), terminal_width(STDOUT_FILENO)));
  output.finish();
  return kFound;
}

}  // namespace probably::cli
