// Filters of more than 2^32 bits and of over 1 GiB: no place may wrap, be cut to 32 bits, or stay
// unused.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/filters.hpp"
#include "support/streams.hpp"

namespace probably {
namespace {

using testing::contains_all;
using testing::count_found;
using testing::DigestStream;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::size_t kKeys = 2'000'000;

// Geometries of a little over 1 GiB; odd, so that a place cut to 32 bits is a different one.
template <class F>
typename F::Params large_params() {
  if constexpr (kind_of<F> == Kind::bloom) {
    return {8 * kGiB + 12'345, 5};
  } else if constexpr (kind_of<F> == Kind::blocked) {
    return {kGiB / 64 + 12'345, 8};
  } else if constexpr (kind_of<F> == Kind::split_block) {
    return {kGiB / 32 + 12'345};
  } else {
    // The first link alone is larger than 1 GiB.
    return {.first_keys = 850'000'000, .fpr = 0.01};
  }
}

// Where all the bits are, for a chain those of its only link.
template <class F>
std::span<const std::uint64_t> words_of(const F& filter) {
  if constexpr (Growable<F>) {
    return testing::words_of(filter.link(0));
  } else {
    return testing::words_of(filter);
  }
}

template <class F>
class Large : public ::testing::Test {};

TYPED_TEST_SUITE(Large, testing::AllFilterTypes, testing::KindName);

TYPED_TEST(Large, OneGibibyteIsUsedThroughout) {
  TypeParam filter = TypeParam::create(large_params<TypeParam>()).value();
  ASSERT_GT(filter.size_bytes(), kGiB);
  const std::vector<Digest> keys = DigestStream(1).take(kKeys);
  // Half of them by batches, half one by one.
  const auto half = std::span(keys).first(kKeys / 2);
  filter.insert(half);
  for (const Digest key : std::span(keys).subspan(kKeys / 2)) filter.insert(key);
  EXPECT_TRUE(contains_all(filter, keys));
  for (const Digest key : half) ASSERT_TRUE(filter.contains(key));
  // Nearly empty, so hardly any other key is there: cut places would pile up and show.
  EXPECT_LE(count_found(filter, DigestStream(2).take(kKeys)), 2u);

  // Sixteen parts, eight of them beyond 2^32 bits, have the same number of bits. 125,000 keys fall
  // into each, give or take 0.3 %, so the largest and the smallest are within 2 %.
  const auto words = words_of(filter);
  const std::size_t part = words.size() / 16;
  std::array<double, 16> bits{};
  for (std::size_t i = 0; i < 16 * part; ++i) bits[i / part] += std::popcount(words[i]);
  const auto [least, most] = std::minmax_element(bits.begin(), bits.end());
  EXPECT_GT(*least, 500'000);
  EXPECT_LT(*most / *least, 1.02);
}

// The words of a key's place, computed here, hold its bits, and the place is beyond 2^32 bits for
// half of the keys.
TEST(LargeBlocked, PlacesBeyondTwoToTheThirtyTwoBitsAreWhereTheLayoutSays) {
  const BlockedParams params = large_params<BlockedBloom>();
  BlockedBloom filter = BlockedBloom::create(params).value();
  std::size_t beyond = 0;
  const auto words = words_of(filter);
  for (const Digest key : DigestStream(3).take(10'000)) {
    filter.insert(key);
    const auto place = params.layout().place(key);
    beyond += place.block * 512 > std::uint64_t{1} << 32;
    const auto masks = params.layout().masks(place.pattern);
    for (std::size_t word = 0; word < masks.size(); ++word) {
      ASSERT_EQ(words[place.block * 8 + word] & masks[word], masks[word]);
    }
  }
  EXPECT_NEAR(static_cast<double>(beyond), 5'000, 300);
  // The last line is reached by the largest digest, the first by the smallest.
  EXPECT_EQ(params.layout().place(Digest(~std::uint64_t{0})).block, params.lines - 1);
  EXPECT_TRUE(filter.insert(Digest{~std::uint64_t{0}}));
  EXPECT_TRUE(std::any_of(words.end() - 8, words.end(), [](std::uint64_t w) { return w != 0; }));
}

// A clone, a merge and the observers count in 64 bits, too.
TEST(LargeBlocked, WholeFilterOperationsReachTheEnd) {
  const BlockedParams params = large_params<BlockedBloom>();
  BlockedBloom filter = BlockedBloom::create(params).value();
  const std::vector<Digest> keys = DigestStream(4).take(100'000);
  filter.insert(keys);
  BlockedBloom merged = BlockedBloom::create(params).value();
  ASSERT_TRUE(merged.merge(filter));
  EXPECT_EQ(merged, filter);
  EXPECT_TRUE(contains_all(merged, keys));
  const Estimate size = filter.approximate_size();
  EXPECT_NEAR(size.value, 100'000, 5 * size.standard_error + 1);
  merged.clear();
  EXPECT_EQ(merged.fill_ratio(), 0);
}

}  // namespace
}  // namespace probably
