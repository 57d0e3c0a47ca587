#include "filters/fill_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "trouble.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

// Calls ask(params) if the filter has a fixed size.
template <class Ask>
auto if_fixed(const AnyFilter& filter, Ask&& ask) -> std::optional<decltype(ask(BlockedParams{}))> {
  return filter.visit(
      [&]<class F>(const F& inside) -> std::optional<decltype(ask(BlockedParams{}))> {
        if constexpr (Growable<F>) {
          return std::nullopt;
        } else {
          return ask(inside.params());
        }
      });
}

}  // namespace

FillWatch::FillWatch(const AnyFilter& filter, double fpr, bool is_strict)
    : filter_(filter),
      promised_fpr_(fpr),
      is_strict_(is_strict),
      keys_(static_cast<std::uint64_t>(
          std::llround(std::min(filter.approximate_size().value, 1e15)))),
      capacity_(if_fixed(filter, [&](const auto& params) { return params.capacity(fpr); })) {}

std::optional<std::string> FillWatch::add(std::uint64_t fresh) {
  keys_ += fresh;
  if (has_told_ || !is_full()) return std::nullopt;
  has_told_ = true;
  const std::string sentence = fmt::format("The filter is full: it keeps {} up to {} keys.",
                                           show_rate(promised_fpr_), show_count(*capacity_));
  if (is_strict_) {
    throw Trouble(sentence + " Nothing was saved. Build a larger one, with more --keys.");
  }
  return sentence + " With more, more keys are taken for known that are not.";
}

std::optional<double> FillWatch::fill() const {
  return if_fixed(filter_, [&](const auto& params) { return params.fill(keys_); });
}

std::optional<double> FillWatch::fpr() const {
  return if_fixed(filter_, [&](const auto& params) { return params.fpr(keys_); });
}

}  // namespace probably::cli
