#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "plan/report.hpp"
#include "terminal/json_object.hpp"

namespace probably::cli {
namespace {

std::string inputs(const PlanOptions& options) {
  JsonObject json;
  json.maybe("keys", options.keys).maybe("fpr", options.fpr).maybe("bytes", options.bytes);
  if (options.kind) {
    json.text("kind", probably::name(*options.kind));
  } else {
    json.raw("kind", "null");
  }
  json.maybe("yearly_growth", options.yearly_growth).maybe("days", options.days);
  return json.maybe("headroom", options.headroom).str();
}

std::string solution(const PlanReport& report) {
  const Offer& chosen = report.chosen;
  const double promised = report.question.plan.fpr != 0 ? report.question.plan.fpr : chosen.fpr;
  return JsonObject()
      .text("kind", probably::name(chosen.kind))
      .count("keys", chosen.keys)
      .number("fpr", promised)
      .number("predicted_fpr", chosen.fpr)
      .count("bytes", chosen.bytes)
      .number("bits_per_key", chosen.bits_per_key)
      .number("lower_bound_bits_per_key", lower_bound_bits_per_key(promised))
      .str();
}

std::string textbook(const std::optional<Solution>& solution) {
  if (!solution) return "null";
  return JsonObject()
      .count("keys", solution->keys)
      .number("fpr", solution->fpr)
      .count("bits", solution->bits)
      .count("hashes", solution->hashes)
      .number("bits_per_key", solution->bits_per_key)
      .str();
}

std::string kind(const Offer& offer) {
  JsonObject json;
  json.text("kind", probably::name(offer.kind));
  if (!offer.is_possible()) return json.text("refusal", offer.refusal).str();
  return json.count("keys", offer.keys)
      .count("bytes", offer.bytes)
      .number("bits_per_key", offer.bits_per_key)
      .number("times_lower_bound", offer.times_lower_bound)
      .number("fpr", offer.fpr)
      .number("misses_if_absent", offer.misses_if_absent)
      .number("misses_if_present", offer.misses_if_present)
      .text("command", command_for(offer))
      .str();
}

}  // namespace

std::string as_json(const PlanReport& report, const PlanOptions& options) {
  JsonObject json;
  json.raw("inputs", inputs(options));
  // None if the keys are the answer.
  const std::uint64_t planned = report.question.plan.keys;
  json.raw("design_keys", planned != 0 ? fmt::format("{}", planned) : "null");
  json.raw("forecast", json_array(report.forecast, [&](const Milestone& milestone) {
             return JsonObject()
                 .number("years", milestone.years)
                 .count("keys", milestone.keys)
                 .number("fpr", report.chosen.fpr_at(milestone.keys))
                 .str();
           }));
  json.raw("solution", solution(report));
  json.raw("textbook", textbook(report.textbook));
  json.raw("kinds", json_array(report.offers, kind));
  json.text("command", command_for(report.chosen));
  return json.str() + "\n";
}

}  // namespace probably::cli
