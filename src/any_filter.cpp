#include "probably/any_filter.hpp"

#include <string>

namespace probably {

Result<void> AnyFilter::merge(const AnyFilter& other) {
  return visit([&]<class F>(F& mine) -> Result<void> {
    const F* const theirs = other.get_if<F>();
    if (theirs == nullptr) {
      return Error{ErrorCode::incompatible,
                   "The filters differ in kind: " + std::string(name(kind())) + " and " +
                       std::string(name(other.kind())) + "."};
    }
    return mine.merge(*theirs);
  });
}

void AnyFilter::contains_each(const detail::KeySource& keys, bool* out) const noexcept {
  visit([&](const auto& filter) { filter.contains_each(keys, out); });
}

std::uint64_t AnyFilter::insert_each(const detail::KeySource& keys, bool* was_new) noexcept {
  return visit([&](auto& filter) { return filter.insert_each(keys, was_new); });
}

}  // namespace probably
