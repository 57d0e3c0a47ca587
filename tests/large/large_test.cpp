// Filters of more than 2^32 bits, which is where 32-bit arithmetic would break.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "probably/kinds.hpp"
#include "support/streams.hpp"

namespace probably {
namespace {

using testing::DigestStream;

// Over 1 GiB and over 2^33 bits.
constexpr std::uint64_t kBytes = (std::uint64_t{1} << 30) + (std::uint64_t{1} << 27);

template <class F>
void expect_whole_range_in_use(F& filter) {
  const std::uint64_t keys = 2'000'000;
  const std::vector<Digest> digests = DigestStream(1).take(keys);
  EXPECT_GT(filter.insert(std::span<const Digest>(digests)), keys - keys / 1000);
  std::uint64_t lost = 0;
  for (const Digest digest : digests) lost += !filter.contains(digest);
  EXPECT_EQ(lost, 0u);

  // Each 64th of the memory, also beyond 2^32 bits, holds its share of the bits.
  const auto bytes = filter.bytes();
  const std::size_t part = bytes.size() / 64;
  for (std::size_t i = 0; i < 64; ++i) {
    const auto here = bytes.subspan(i * part, part);
    const auto used = static_cast<double>(part) - static_cast<double>(std::count(here.begin(), here.end(), std::byte{0}));
    const double expected = static_cast<double>(part) * 8 * filter.params().fill(keys);
    // Bytes with two bits and the spread of chance leave a few percent.
    EXPECT_NEAR(used / expected, 1, 0.05) << "part " << i;
  }

  const std::vector<Digest> absent = DigestStream(2).take(keys);
  std::uint64_t wrong = 0;
  for (const Digest digest : absent) wrong += filter.contains(digest);
  // The predicted rate is below 10^-9: not one in two million.
  EXPECT_LT(filter.params().fpr(keys), 1e-9);
  EXPECT_EQ(wrong, 0u);
}

TEST(Large, BlockedUsesMoreThanFourBillionBits) {
  auto filter = BlockedBloom::create(BlockedParams{kBytes / 64 + 1, 8}).value();
  ASSERT_GT(filter.size_bytes() * 8, std::uint64_t{1} << 33);
  expect_whole_range_in_use(filter);
}

TEST(Large, ClassicUsesMoreThanFourBillionBits) {
  auto filter = Bloom::create(BloomParams{kBytes * 8 + 7, 7}).value();
  expect_whole_range_in_use(filter);
}

TEST(Large, SplitBlockUsesMoreThanFourBillionBits) {
  auto filter = SplitBlockBloom::create(SplitBlockParams{kBytes / 32 + 1}).value();
  expect_whole_range_in_use(filter);
}

}  // namespace
}  // namespace probably
