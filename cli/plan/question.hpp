// What is asked of probably plan: two of keys, rate and memory, and how the keys grow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "probably/capacity.hpp"
#include "probably/plan.hpp"

namespace probably::cli {

enum class Unknown : std::uint8_t { memory, rate, keys };

struct Question {
  Unknown unknown = Unknown::memory;
  // Of the unknown memory the most that it may be, if there is a limit; of the other two, nothing.
  Plan plan;
  bool has_default_fpr = false;
  std::optional<Growth> growth;
};

// Throws Trouble that says what to add, or which values are accepted.
[[nodiscard]] Question question_of(const PlanOptions& options);

// The keys at some time on the way to what is planned for, without headroom.
struct Milestone {
  double years = 0;
  std::uint64_t keys = 0;
};
// From today to the end, in not too many even steps; only today, if keys do not grow.
[[nodiscard]] std::vector<Milestone> forecast(const Growth& growth);
// 3 years, 18 months, 10 days
[[nodiscard]] std::string show_years(double years);

// 1 key, 2,000 keys
[[nodiscard]] std::string show_keys(std::uint64_t keys);

// Arguments as short as they can be while the parsers of units.hpp read these very numbers.
[[nodiscard]] std::string count_argument(std::uint64_t count);
[[nodiscard]] std::string bytes_argument(std::uint64_t bytes);
[[nodiscard]] std::string rate_argument(double rate);

}  // namespace probably::cli
