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

}  // namespace probably
