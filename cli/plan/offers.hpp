// What each kind of filter makes of a question.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/question.hpp"
#include "probably/kinds.hpp"

namespace probably::cli {

struct Offer {
  Kind kind{};
  bool is_native = false;  // no other software's
  bool grows = false;      // beyond the keys; the figures are of its first link
  std::string refusal;     // why it cannot; none: it can
  Plan plan;               // what F::create() makes exactly this of
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;  // also of one that was refused for its size
  double bits_per_key = 0;
  double times_lower_bound = 0;
  double fpr = 0;                               // predicted with these keys
  std::function<double(std::uint64_t)> fpr_at;  // and with others
  // Cache lines that a lookup touches, expected with these keys.
  double misses_if_absent = 0;
  double misses_if_present = 0;

  [[nodiscard]] bool is_possible() const noexcept { return refusal.empty(); }
};

// Of all kinds, in the library's order.
[[nodiscard]] std::vector<Offer> offers_for(const Question& question);
[[nodiscard]] Offer offer_for(Kind kind, const Question& question);
// That of the wanted kind. If none was named: that of the usual one, or else the first of ours that
// can. Throws Trouble that says what would do.
inline constexpr Kind kUsualKind = Kind::blocked;
[[nodiscard]] const Offer& choose(const std::vector<Offer>& offers, const Question& question,
                                  std::optional<Kind> wanted);
// What makes it.
[[nodiscard]] std::string command_for(const Offer& offer);

// With three digits. None above all that can be planned for.
[[nodiscard]] std::optional<double> rate_rounded_up(double rate);
// The rate of a filter that uses so much memory for so many keys. None if it cannot, or if the rate
// would be higher than any that can be planned for.
[[nodiscard]] std::optional<double> rate_in(Kind kind, std::uint64_t keys, std::uint64_t bytes);

}  // namespace probably::cli
