// What probably plan says, in whatever form.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/offers.hpp"
#include "terminal/terminal.hpp"

namespace probably::cli {

struct PlanReport {
  Question question;
  std::vector<Offer> offers;
  Offer chosen;
  bool is_substitute = false;        // for the usual kind, which cannot
  std::optional<Solution> textbook;  // none where its arithmetic ends
  std::vector<Milestone> forecast;   // none unless growth or headroom was asked for
};

// Throws Trouble.
[[nodiscard]] PlanReport report_on(const PlanOptions& options);

[[nodiscard]] std::string as_text(const PlanReport& report, const Paint& paint, std::size_t width);
[[nodiscard]] std::string as_json(const PlanReport& report, const PlanOptions& options);

}  // namespace probably::cli
