// A filter of each kind, with the kind known at run time only: what tests over all kinds share that
// need no more than AnyFilter.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "probably/any_filter.hpp"
#include "snapshot/contents.hpp"

namespace probably {

// GoogleTest shows parameters by this.
inline void PrintTo(Kind kind, std::ostream* out) { *out << name(kind); }

namespace testing {

// An empty filter for the plan.
inline AnyFilter make_filter(Kind kind, const Plan& plan = {.keys = 1000, .fpr = 0.01}) {
  return with_kind(kind, [&]<class F>() { return AnyFilter(F::create(plan).value()); });
}

inline std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (unsigned number = 1; number <= kKindCount; ++number) kinds.push_back(Kind(number));
  return kinds;
}

// Names tests after their kind: Kinds/EveryKind.IsSavedAndOpened/blocked.
inline std::string kind_name(const ::testing::TestParamInfo<Kind>& test) {
  return std::string(name(test.param));
}

// "first 0", "first 1", ...: as many keys.
inline std::vector<std::string> text_keys(const std::string& first, std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back(first + " " + std::to_string(i));
  return keys;
}

}  // namespace testing
}  // namespace probably
