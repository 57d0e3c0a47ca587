// Which kind is taken, what makes it, and what to say if none can be.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "plan/offers.hpp"
#include "trouble.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

// Not less, and short.
std::string rounded_up_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t kPrecise = 1000;
  std::uint64_t unit = 1;
  while (bytes / (unit * 1024) >= kPrecise) unit *= 1024;
  return bytes_argument((bytes + unit - 1) / unit * unit);
}

std::string over_budget(const Offer& offer, const Question& question) {
  const Plan& asked = question.plan;
  std::string advice = fmt::format("--memory {}", rounded_up_bytes(offer.bytes));
  Question other = question;
  other.unknown = Unknown::rate;
  other.plan.fpr = 0;
  if (const Offer changed = offer_for(offer.kind, other); changed.is_possible()) {
    // What the kind itself was given, or what comes of all the memory.
    const auto rate =
        changed.plan.fpr != 0 ? std::optional(changed.plan.fpr) : rate_rounded_up(changed.fpr);
    if (rate) advice += fmt::format(", --fpr {}", rate_argument(*rate));
  }
  other = question;
  other.unknown = Unknown::keys;
  other.plan.keys = 0;
  if (const Offer changed = offer_for(offer.kind, other); changed.is_possible()) {
    advice += fmt::format(", --keys {}", changed.keys);
  }
  return fmt::format(
      "{} at a rate of {} need {} as {}, more than the {} granted. Any one of "
      "these would do: {}.",
      show_keys(asked.keys), show_rate(asked.fpr), show_bytes(offer.bytes),
      probably::name(offer.kind), show_bytes(asked.size_bytes), advice);
}

[[noreturn]] void explain(const Offer& refused, const Question& question,
                          const std::vector<Offer>& offers) {
  if (question.unknown == Unknown::memory && refused.bytes != 0) {
    throw Trouble(over_budget(refused, question));
  }
  std::string others;
  for (const Offer& offer : offers) {
    if (!offer.is_native || !offer.is_possible()) continue;
    others += fmt::format(" {}", probably::name(offer.kind));
  }
  throw Trouble(fmt::format(
      "A filter of kind {} {}. Change {}{}.", probably::name(refused.kind), refused.refusal,
      question.unknown == Unknown::memory ? "--keys or --fpr"
      : question.unknown == Unknown::rate ? "--keys or --memory"
                                          : "--fpr or --memory",
      others.empty() ? "" : fmt::format(", or take a kind that can:{}", others)));
}

}  // namespace

const Offer& choose(const std::vector<Offer>& offers, const Question& question,
                    std::optional<Kind> wanted) {
  const auto preferred = std::ranges::find(offers, wanted.value_or(kUsualKind), &Offer::kind);
  if (preferred->is_possible()) return *preferred;
  if (!wanted) {
    const auto other = std::ranges::find_if(
        offers, [](const Offer& offer) { return offer.is_native && offer.is_possible(); });
    if (other != offers.end()) return *other;
    const auto cost = [](const Offer& offer) {
      return std::pair(!offer.is_native || offer.bytes == 0, offer.bytes);
    };
    explain(*std::ranges::min_element(offers, {}, cost), question, offers);
  }
  explain(*preferred, question, offers);
}

std::string command_for(const Offer& offer) {
  std::string command = "probably build";
  const Plan& plan = offer.plan;
  if (plan.keys != 0) command += fmt::format(" --keys {}", count_argument(plan.keys));
  if (plan.size_bytes != 0) command += fmt::format(" --memory {}", bytes_argument(plan.size_bytes));
  if (plan.fpr != 0) command += fmt::format(" --fpr {}", rate_argument(plan.fpr));
  return fmt::format("{} --kind {} -o FILE", command, probably::name(offer.kind));
}

}  // namespace probably::cli
