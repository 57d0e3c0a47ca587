#include "plan/offers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>

#include "units.hpp"

namespace probably::cli {
namespace {

// --- The geometry of a kind ----------------------------------------------------------------------

template <class Params>
struct GeometryOf {
  using Type = Params;
};
// Of a chain that grows, the first link: it holds all keys that are planned for.
template <class Params>
requires requires { typename Params::Link; }
struct GeometryOf<Params> {
  using Type = typename Params::Link::Params;
};
template <class Params>
using Geometry = typename GeometryOf<Params>::Type;

template <class Params>
Result<Geometry<Params>> geometry_for(const Plan& plan) {
  const auto params = Params::from(plan);
  if (!params) return params.error();
  if (const auto valid = params->validate(); !valid) return valid.error();
  if constexpr (std::same_as<Geometry<Params>, Params>) {
    return *params;
  } else {
    return params->link_params(0);
  }
}

// Some kinds are planned by keys and rate only.
template <class Params>
bool takes_memory() {
  return Params::from({.fpr = 0.01, .size_bytes = 1 << 20}).has_value();
}

template <class Params>
bool fits(const Plan& plan, std::uint64_t bytes) {
  const auto geometry = geometry_for<Params>(plan);
  return geometry && geometry->size_bytes() <= bytes;
}

// --- Solving for kinds that are planned by keys and rate only ------------------------------------

// Rates of three digits, from 1e-12 up to 0.5, which read back as the same number.
constexpr int kRateCount = 900 * 11 + 401;
double rate_number(int index) {
  return (100 + index % 900) / std::pow(10.0, 14 - index / 900);  // both are exact
}

// The least of these that is good, given that all higher ones are, too.
template <class Good>
std::optional<double> least_rate(Good good) {
  int low = 0;
  int high = kRateCount;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (good(rate_number(middle))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low == kRateCount) return std::nullopt;
  return rate_number(low);
}

template <class Params>
std::uint64_t most_keys(double fpr, std::uint64_t bytes) {
  std::uint64_t fitting = 0;
  std::uint64_t too_many = kMaxKeys + 1;
  while (too_many - fitting > 1) {
    const std::uint64_t keys = fitting + (too_many - fitting) / 2;
    (fits<Params>({.keys = keys, .fpr = fpr}, bytes) ? fitting : too_many) = keys;
  }
  return fitting;
}

// The plan that the kind takes; none if it cannot.
template <class Params>
std::optional<Plan> plan_for(const Question& question) {
  const Plan& asked = question.plan;
  if (question.unknown == Unknown::memory) return Plan{.keys = asked.keys, .fpr = asked.fpr};
  if (takes_memory<Params>()) return asked;
  if (question.unknown == Unknown::keys) {
    const std::uint64_t keys = most_keys<Params>(asked.fpr, asked.size_bytes);
    if (keys == 0) return std::nullopt;
    return Plan{.keys = keys, .fpr = asked.fpr};
  }
  const auto fpr = least_rate([&](double rate) {
    return fits<Params>({.keys = asked.keys, .fpr = rate}, asked.size_bytes);
  });
  if (!fpr) return std::nullopt;
  return Plan{.keys = asked.keys, .fpr = *fpr};
}

// The least memory with which the kind takes part in a plan that it is now too little for.
template <class Params>
std::uint64_t least_bytes(Plan plan, std::uint64_t enough) {
  std::uint64_t too_little = plan.size_bytes;
  while (takes_memory<Params>() && enough - too_little > 1) {
    plan.size_bytes = too_little + (enough - too_little) / 2;
    const auto geometry = geometry_for<Params>(plan);
    const bool does = geometry && (plan.keys != 0 || geometry->capacity(plan.fpr) != 0);
    (does ? enough : too_little) = plan.size_bytes;
  }
  return enough;
}

template <class Params>
std::string refusal_of(const Question& question) {
  const Plan& asked = question.plan;
  if (question.unknown == Unknown::memory) return "cannot keep this rate for so many keys";
  const bool wants_keys = question.unknown == Unknown::keys;
  const auto geometry = geometry_for<Params>(wants_keys ? Plan{.keys = 1, .fpr = asked.fpr}
                                                        : Plan{.keys = asked.keys, .fpr = kMaxFpr});
  if (!geometry) return wants_keys ? "cannot keep this rate" : "cannot hold so many keys";
  if (geometry->size_bytes() <= asked.size_bytes) return "cannot use so much memory";
  return fmt::format(
      "needs {}{}", show_bytes(least_bytes<Params>(asked, geometry->size_bytes())),
      wants_keys ? " for a single key" : fmt::format(" even at {}", show_percent(kMaxFpr)));
}

// --- What it is worth ----------------------------------------------------------------------------

// Lines that k probes touch, where each is followed by the next with this chance, and where each
// may fall into the line of an earlier one.
double lines_touched(unsigned probes, double chance_of_next, double lines) {
  const double ratio = chance_of_next * (1 - 1 / std::max(lines, 1.0));
  double sum = 0;
  double term = 1;
  for (unsigned i = 0; i < probes; ++i, term *= ratio) sum += term;
  return sum;
}

template <class G>
void count_misses(const G& geometry, Offer& offer) {
  constexpr double kLineBytes = 64;
  if constexpr (requires { G::Layout::kBlockWords; }) {
    offer.misses_if_absent = std::ceil(G::Layout::kBlockWords * 8 / kLineBytes);
    offer.misses_if_present = offer.misses_if_absent;
  } else {
    const double lines = std::ceil(static_cast<double>(geometry.size_bytes()) / kLineBytes);
    offer.misses_if_absent = lines_touched(geometry.hashes, geometry.fill(offer.keys), lines);
    offer.misses_if_present = lines_touched(geometry.hashes, 1, lines);
  }
}

template <class F>
Offer offer_of(const Question& question) {
  using Params = typename F::Params;
  Offer offer;
  offer.kind = kind_of<F>;
  offer.is_native = std::same_as<typename F::Hasher, Hasher>;
  offer.grows = Growable<F>;
  const auto plan = plan_for<Params>(question);
  const auto geometry = plan ? geometry_for<Params>(*plan) : Result<Geometry<Params>>(Error{});
  if (!geometry) {
    offer.refusal = refusal_of<Params>(question);
    return offer;
  }
  offer.plan = *plan;
  offer.bytes = geometry->size_bytes();
  offer.keys = plan->keys != 0 ? plan->keys : geometry->capacity(plan->fpr);
  if (offer.keys == 0) {
    offer.refusal = refusal_of<Params>(question);
    return offer;
  }
  offer.fpr_at = [params = *geometry](std::uint64_t keys) { return params.fpr(keys); };
  offer.fpr = offer.fpr_at(offer.keys);
  offer.bits_per_key = static_cast<double>(offer.bytes) * 8 / static_cast<double>(offer.keys);
  const double promised = question.plan.fpr != 0 ? question.plan.fpr : offer.fpr;
  offer.times_lower_bound = offer.bits_per_key / lower_bound_bits_per_key(promised);
  count_misses(*geometry, offer);
  const std::uint64_t limit = question.plan.size_bytes;
  if (limit != 0 && offer.bytes > limit) {
    offer.refusal = fmt::format("needs {}", show_bytes(offer.bytes));
  }
  return offer;
}

}  // namespace

std::vector<Offer> offers_for(const Question& question) {
  std::vector<Offer> offers;
  for (unsigned number = 1; number <= kKindCount; ++number) {
    offers.push_back(offer_for(static_cast<Kind>(number), question));
  }
  return offers;
}

Offer offer_for(Kind kind, const Question& question) {
  return with_kind(kind, [&]<class F>() { return offer_of<F>(question); });
}

std::optional<double> rate_rounded_up(double rate) {
  return least_rate([&](double candidate) { return candidate >= rate; });
}

std::optional<double> rate_in(Kind kind, std::uint64_t keys, std::uint64_t bytes) {
  return with_kind(kind, [&]<class F>() -> std::optional<double> {
    const auto geometry = geometry_for<typename F::Params>({.keys = keys, .size_bytes = bytes});
    if (!geometry) return std::nullopt;
    return geometry->fpr(keys);
  });
}

}  // namespace probably::cli
