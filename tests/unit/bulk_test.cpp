// Many keys at once: bulk insertion, and keys in their various shapes.
#include "bulk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "probably/blocked.hpp"
#include "probably/scalable.hpp"
#include "probably/split_block.hpp"
#include "support/filters.hpp"
#include "support/streams.hpp"

namespace probably {
namespace {

using testing::Answers;
using testing::DigestStream;

template <class F>
class Bulk : public ::testing::Test {};
using LineFilters = ::testing::Types<BlockedBloom, SplitBlockBloom>;
TYPED_TEST_SUITE(Bulk, LineFilters, testing::KindName);

// 2 MB: four parts.
template <class F>
F large_filter() {
  if constexpr (std::same_as<F, BlockedBloom>) {
    return F::create(BlockedParams{30'000, 8}).value();
  } else {
    return F::create(SplitBlockParams{60'001}).value();
  }
}

TYPED_TEST(Bulk, SetsTheSameBitsAsOneByOne) {
  const auto digests = DigestStream(1).take(400'000);
  auto expected = large_filter<TypeParam>();
  const std::uint64_t fresh = expected.insert(digests);
  for (const unsigned threads : {1u, 2u, 3u, 7u}) {
    // None granted, less than what pays, several rounds, fewer rounds.
    for (const std::uint64_t scratch_bytes : {0u, 1u, 1'000'000u, 1'500'000u, 16'000'000u}) {
      auto filter = large_filter<TypeParam>();
      const BulkOptions options{.threads = threads, .scratch_bytes = scratch_bytes};
      const std::uint64_t bulk_fresh = filter.insert_bulk(digests, options);
      EXPECT_EQ(filter, expected) << threads << " threads, " << scratch_bytes << " bytes";
      // A key is taken for known depending on those before it, so the order counts a little.
      EXPECT_NEAR(static_cast<double>(bulk_fresh), static_cast<double>(fresh), 1'000);
      EXPECT_EQ(filter.insert_bulk(digests, options), 0u);
    }
  }
}

// All keys in one part: bins fill at once, and every round takes only some.
TYPED_TEST(Bulk, TakesUnevenKeys) {
  auto digests = DigestStream(2).take(300'000);
  for (Digest& digest : digests) digest = Digest(digest.value >> 4);
  digests.resize(400'000, Digest(~std::uint64_t{0}));
  auto expected = large_filter<TypeParam>();
  expected.insert(digests);
  auto filter = large_filter<TypeParam>();
  filter.insert_bulk(digests, {.threads = 2});
  EXPECT_EQ(filter, expected);
}

TYPED_TEST(Bulk, TakesFewKeysAndNone) {
  for (const std::size_t count : {0u, 1u, 2u, 1'000u}) {
    const auto digests = DigestStream(3).take(count);
    auto expected = large_filter<TypeParam>();
    auto filter = large_filter<TypeParam>();
    EXPECT_EQ(filter.insert_bulk(digests), expected.insert(digests));
    EXPECT_EQ(filter, expected);
  }
  auto small = TypeParam::create({.keys = 10, .fpr = 0.01}).value();
  EXPECT_EQ(small.insert_bulk(DigestStream(4).take(10)), 10u);
}

TYPED_TEST(Bulk, HashesKeys) {
  std::vector<std::uint64_t> keys(300'000);
  std::iota(keys.begin(), keys.end(), 0);
  auto expected = large_filter<TypeParam>();
  for (const std::uint64_t key : keys) expected.insert(key);
  auto filter = large_filter<TypeParam>();
  filter.insert_bulk(std::span(keys), {.threads = 2});
  EXPECT_EQ(filter, expected);
}

TEST(Bins, HaveRoomForWhatFitsIntoTheFullest) {
  std::vector<Digest> memory(1000);
  detail::Bins bins(memory, 3);  // of 333 digests
  EXPECT_EQ(bins.left(), 333u);
  EXPECT_EQ(bins.least(), 20u);
  for (std::uint64_t i = 0; i < 300; ++i) *bins.ends()[1]++ = Digest(i);
  *bins.ends()[2]++ = Digest(7);
  EXPECT_EQ(bins.left(), 33u);
  EXPECT_EQ(bins[1].size(), 300u);
  EXPECT_EQ(bins[1][299], Digest(299));
  EXPECT_TRUE(bins[0].empty());
  EXPECT_EQ(bins[2].front(), Digest(7));
  bins.clear();
  EXPECT_EQ(bins.left(), 333u);
  EXPECT_TRUE(bins[1].empty());
  const detail::Bins smallest({memory.data(), 3}, 3);
  EXPECT_EQ(smallest.left(), 1u);
  EXPECT_EQ(smallest.least(), 1u) << "every round takes a key";
}

TEST(BulkParts, CoverEveryBlockOnce) {
  for (const std::uint64_t blocks :
       {std::uint64_t{1}, std::uint64_t{4096}, std::uint64_t{4097}, std::uint64_t{1} << 22,
        (std::uint64_t{1} << 22) + 1, std::uint64_t{1} << 51}) {
    const detail::Parts parts = detail::Parts::of(blocks, 64);
    EXPECT_LE(parts.count, 1024u);
    EXPECT_EQ((blocks - 1) >> parts.shift, parts.count - 1);
  }
}

TEST(BulkTeam, EveryMemberKnowsHowManyThereAre) {
  for (const unsigned wanted : {1u, 2u, 9u}) {
    std::atomic<unsigned> sum = 0;
    std::atomic<unsigned> members = 0;
    detail::run_in_team(wanted, [&](const detail::Member& me) {
      EXPECT_EQ(me.count, wanted);
      sum += me.number;
      me.barrier.arrive_and_wait();
      ++members;
    });
    EXPECT_EQ(members, wanted);
    EXPECT_EQ(sum, wanted * (wanted - 1) / 2);
  }
}

template <class F>
class PackedKeys : public ::testing::Test {};
TYPED_TEST_SUITE(PackedKeys, testing::AllFilterTypes, testing::KindName);

TYPED_TEST(PackedKeys, AreTheKeysOneByOne) {
  std::string characters = "unused";
  std::vector<std::int32_t> offsets{6};
  std::vector<std::string> strings;
  for (int i = 0; i < 500; ++i) {
    strings.push_back(i % 7 == 0 ? std::string() : "key " + std::to_string(i * i));
    characters += strings.back();
    offsets.push_back(static_cast<std::int32_t>(characters.size()));
  }
  const PackedStrings<std::int32_t> packed{characters, offsets};
  ASSERT_EQ(packed.size(), strings.size());
  auto filter = TypeParam::create({.keys = 1'000, .fpr = 0.001}).value();
  auto expected = TypeParam::create({.keys = 1'000, .fpr = 0.001}).value();
  Answers was_new(strings.size());
  const std::uint64_t fresh = filter.insert(packed, was_new);
  EXPECT_EQ(fresh, expected.insert(std::span(strings)));
  EXPECT_EQ(fresh, was_new.trues());
  EXPECT_EQ(filter, expected);
  Answers answers(strings.size());
  filter.contains(packed, answers);
  EXPECT_EQ(answers.trues(), strings.size());
  EXPECT_EQ(filter.insert(packed), 0u);
  EXPECT_EQ(filter.insert(PackedStrings<std::uint64_t>{}), 0u);
}

}  // namespace
}  // namespace probably
