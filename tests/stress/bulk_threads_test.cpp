// Bulk insertion with several threads, for ThreadSanitizer: no two of them touch one word.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "probably/blocked.hpp"

namespace probably {
namespace {

TEST(BulkThreads, OwnTheirParts) {
  std::vector<std::uint64_t> keys(500'000);
  std::iota(keys.begin(), keys.end(), 0);
  const BlockedParams params{20'000, 8};
  auto expected = BlockedBloom::create(params).value();
  expected.insert(std::span(keys));
  // Enough for one round, and so little that there are several.
  for (const std::uint64_t scratch_bytes : {std::uint64_t{5'000'000}, std::uint64_t{1'000'000}}) {
    auto filter = BlockedBloom::create(params).value();
    filter.insert_bulk(std::span(keys), {.threads = 7, .scratch_bytes = scratch_bytes});
    EXPECT_EQ(filter, expected);
  }
}

}  // namespace
}  // namespace probably
