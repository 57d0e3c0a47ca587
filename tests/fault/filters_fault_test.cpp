#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "probably/capacity.hpp"
#include "probably/kinds.hpp"
#include "support/fault_injection.hpp"
#include "support/filters.hpp"
#include "support/streams.hpp"

namespace probably {
namespace {

using fault::FailingAllocation;
using fault::for_each_failing_allocation;
using testing::contains_all;
using testing::DigestStream;

template <class F>
class FilterFault : public ::testing::Test {};
TYPED_TEST_SUITE(FilterFault, testing::AllFilterTypes, testing::KindName);

// A small plan allocates blocks, a large one maps memory; both ways are swept.
constexpr std::uint64_t kPlannedKeys[] = {1'000, 3'000'000};

TYPED_TEST(FilterFault, CreateThatIsRefusedMemoryIsBadAllocAndLeaksNothing) {
  for (const std::uint64_t keys : kPlannedKeys) {
    const auto sweep = for_each_failing_allocation(
        [&] { static_cast<void>(TypeParam::create(Plan{.keys = keys, .fpr = 0.01}).value()); });
    EXPECT_GE(sweep.threw, 1U);
    EXPECT_EQ(sweep.coped, 0U);
  }
}

TYPED_TEST(FilterFault, CreateFromParamsAsksForNoMoreThanItsMemory) {
  for (const std::uint64_t keys : kPlannedKeys) {
    const auto params = TypeParam::Params::from(Plan{.keys = keys, .fpr = 0.01}).value();
    const auto sweep =
        for_each_failing_allocation([&] { static_cast<void>(TypeParam::create(params).value()); });
    // A block or a reservation that is opened; a chain has itself and its first link besides.
    const std::uint64_t storage = keys == kPlannedKeys[0] ? 1 : 2;
    EXPECT_EQ(sweep.threw, Growable<TypeParam> ? storage + 2 : storage);
    EXPECT_EQ(sweep.coped, 0U);
  }
}

TYPED_TEST(FilterFault, PrefaultingWithoutPagesIsBadAllocAndLeaksNothing) {
  const auto sweep = for_each_failing_allocation([] {
    static_cast<void>(TypeParam::create(Plan{.keys = 3'000'000, .fpr = 0.01}, Hasher{},
                                        StorageOptions{.prefault = true, .prefault_threads = 1})
                          .value());
  });
  EXPECT_GE(sweep.threw, 3U);
  EXPECT_EQ(sweep.coped, 0U);
}

TYPED_TEST(FilterFault, AnErrorThatCannotBeWordedIsBadAlloc) {
  const auto sweep = for_each_failing_allocation(
      [] { EXPECT_FALSE(TypeParam::create(Plan{.keys = 1'000, .fpr = 2})); });
  EXPECT_GE(sweep.threw, 1U);
}

// Without memory for the bins nothing happens; without threads, those that are there do all.
TEST(BulkFault, EitherInsertsAllOrChangesNothing) {
  const auto digests = DigestStream(5).take(150'000);
  const BlockedParams params{9'000, 8};
  const BulkOptions options{.threads = 3, .scratch_bytes = 2'000'000};
  auto expected = BlockedBloom::create(params).value();
  expected.insert(digests);
  const auto empty = BlockedBloom::create(params).value();
  auto filter = BlockedBloom::create(params).value();
  const auto sweep = for_each_failing_allocation([&] {
    filter.clear();
    try {
      filter.insert_bulk(digests, options);
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(filter, empty);
      throw;
    }
    EXPECT_EQ(filter, expected);
  });
  EXPECT_GE(sweep.threw, 2U);
  EXPECT_GE(sweep.coped, 2U);
}

TYPED_TEST(FilterFault, CloneThatIsRefusedMemoryLeavesTheOriginal) {
  auto filter = TypeParam::create(Plan{.keys = 1'000, .fpr = 0.01}).value();
  const auto keys = DigestStream(1).take(3'000);
  filter.insert(std::span<const Digest>(keys));
  const auto untouched = filter.clone();
  const auto sweep = for_each_failing_allocation([&] { static_cast<void>(filter.clone()); });
  EXPECT_GE(sweep.threw, 1U);
  EXPECT_TRUE(filter == untouched);
}

TYPED_TEST(FilterFault, MergeThatIsRefusedMemoryChangesNothing) {
  const Plan plan{.keys = 1'000, .fpr = 0.01};
  auto source = TypeParam::create(plan).value();
  source.insert(std::span<const Digest>(DigestStream(1).take(5'000)));
  auto target = TypeParam::create(plan).value();
  target.insert(std::span<const Digest>(DigestStream(2).take(500)));
  const auto before = target.clone();
  for (std::uint64_t n = 1; n < 1'000; ++n) {
    bool failed = false;
    {
      const FailingAllocation failing(n);
      try {
        target.merge(source).value();
      } catch (const std::bad_alloc&) {
        failed = true;
      }
    }
    if (!failed) break;
    ASSERT_TRUE(target == before) << "request " << n;
  }
  EXPECT_TRUE(contains_all(target, DigestStream(1).take(5'000)));
  EXPECT_TRUE(contains_all(target, DigestStream(2).take(500)));
}

TYPED_TEST(FilterFault, ARefusedMergeThatCannotBeWordedChangesNothing) {
  auto target = TypeParam::create(Plan{.keys = 1'000, .fpr = 0.01}).value();
  target.insert(std::span<const Digest>(DigestStream(1).take(500)));
  const auto before = target.clone();
  const auto other_size = TypeParam::create(Plan{.keys = 2'000, .fpr = 0.01}).value();
  const auto other_hasher =
      TypeParam::create(Plan{.keys = 1'000, .fpr = 0.01}, Hasher::xxh3(1)).value();
  for (const auto* const source : {&other_size, &other_hasher}) {
    const auto sweep =
        for_each_failing_allocation([&] { EXPECT_FALSE(target.merge(*source).has_value()); });
    EXPECT_GE(sweep.threw, 1U);
    EXPECT_TRUE(target == before);
  }
}

TYPED_TEST(FilterFault, MovingAndComparingAskForNoMemory) {
  auto filter = TypeParam::create(Plan{.keys = 1'000, .fpr = 0.01}).value();
  filter.insert(std::span<const Digest>(DigestStream(1).take(3'000)));
  const auto same = filter.clone();
  const auto sweep = for_each_failing_allocation([&] {
    auto taken = std::move(filter);
    filter = std::move(taken);
    EXPECT_TRUE(filter == same);
    EXPECT_TRUE(filter.params() == same.params() && filter.hasher() == same.hasher());
  });
  EXPECT_EQ(sweep.threw + sweep.coped, 0U);
}

TYPED_TEST(FilterFault, LookupsInsertionsAndObserversAskForNoMemory) {
  auto filter = TypeParam::create(Plan{.keys = 100'000, .fpr = 0.01}).value();
  const auto keys = DigestStream(1).take(1'000);
  testing::Answers answers(keys.size());
  filter.contains(std::span<const Digest>(keys).first(1),
                  answers.span().first(1));  // chooses the vector code
  {
    const FailingAllocation failing(1);
    EXPECT_EQ(filter.insert(std::span<const Digest>(keys)), keys.size());
    filter.contains(std::span<const Digest>(keys), answers);
    static_cast<void>(filter.approximate_size());
    static_cast<void>(filter.estimated_fpr());
    static_cast<void>(filter.fill_ratio());
    filter.clear();
    EXPECT_FALSE(failing.fired());
  }
  EXPECT_EQ(answers.trues(), keys.size());
}

// Every request for memory during the growth of a chain fails in turn: insertion never throws, no
// key is lost, and once there is memory again the chain grows on.
TEST(ScalableBloomFault, GrowthThatIsRefusedMemoryLosesNoKey) {
  const auto keys = DigestStream(1).take(4'000);
  bool fired = true;
  for (std::uint64_t n = 1; fired; ++n) {
    const fault::Held held_before = fault::held();
    std::optional<ScalableBloom> made =
        ScalableBloom::create(ScalableParams{.first_keys = 64, .fpr = 0.01}).value();
    ScalableBloom& filter = *made;
    {
      const FailingAllocation failing(n);
      for (const Digest key : keys) filter.insert(key);
      fired = failing.fired();
    }
    ASSERT_TRUE(contains_all(filter, keys)) << "request " << n;
    ASSERT_GE(filter.link_count(), 6U) << "the chain did not grow on after request " << n;
    ASSERT_LT(n, 1'000U);
    made.reset();
    ASSERT_EQ(fault::held(), held_before) << "request " << n;
  }
}

// A link takes 64 keys. The next one is tried for by every insertion after the 64th, and each of
// them that gets none is a failure of growth.
TEST(ScalableBloomFault, EveryInsertionThatFindsNoRoomCountsAsAFailure) {
  const auto keys = DigestStream(3).take(101);
  auto filter = ScalableBloom::create(ScalableParams{.first_keys = 64, .fpr = 0.0001}).value();
  for (int round = 0; round < 2; ++round) {
    std::uint64_t requests = 0;
    for (std::size_t i = 0; i < 100; ++i) {
      const FailingAllocation failing(1);
      ASSERT_TRUE(filter.insert(keys[i]));
      requests += failing.fired();
      ASSERT_EQ(filter.growth_failures(), i < 64 ? 0 : i - 63);
    }
    EXPECT_EQ(requests, 36U);
    EXPECT_EQ(filter.link_count(), 1U);
    EXPECT_TRUE(filter.insert(keys[100]));
    EXPECT_EQ(filter.link_count(), 2U);
    EXPECT_EQ(filter.growth_failures(), 36U);
    EXPECT_TRUE(contains_all(filter, keys));
    // A cleared filter has forgotten all of it.
    filter.clear();
    EXPECT_EQ(filter.growth_failures(), 0U);
  }
}

// A link that cannot be had as it was asked for is a failure, too, and not only one without memory.
TEST(ScalableBloomFault, GrowthThatTheKernelRefusesLosesNoKey) {
  const auto keys = DigestStream(4).take(101);
  auto created = ScalableBloom::create(ScalableParams{.first_keys = 64, .fpr = 0.0001}, Hasher{},
                                       StorageOptions{.numa_interleave = true});
  if (!created) GTEST_SKIP() << created.error().message;
  {
    const fault::FailingCall failing(fault::Call::mbind, EPERM);
    created->insert(std::span<const Digest>(keys).first(100));
    EXPECT_GE(failing.count(), 2U);
    EXPECT_GE(created->growth_failures(), 1U);
    EXPECT_EQ(created->link_count(), 1U);
  }
  created->insert(keys[100]);
  EXPECT_EQ(created->link_count(), 2U);
  EXPECT_TRUE(contains_all(*created, keys));
}

// While the kernel refuses all mappings, the chain stays as it is, says so, and loses no key; then
// it grows on.
TEST(ScalableBloomFault, GrowthGoesOnWhenThereIsMemoryAgain) {
  auto filter =
      ScalableBloom::create(ScalableParams{.first_keys = 1'000'000, .fpr = 0.0001}).value();
  const auto keys = DigestStream(1).take(1'300'000);
  const auto early = std::span<const Digest>(keys).first(1'200'000);
  {
    const fault::FailingCall failing(fault::Call::mmap, ENOMEM);
    filter.insert(early);
    EXPECT_GE(filter.growth_failures(), 1U);
    EXPECT_EQ(filter.link_count(), 1U);
    EXPECT_TRUE(contains_all(filter, early));
    EXPECT_GT(filter.estimated_fpr(), filter.params().link_fpr(0));
  }
  filter.insert(std::span<const Digest>(keys).subspan(early.size()));
  EXPECT_EQ(filter.link_count(), 2U);
  EXPECT_TRUE(contains_all(filter, keys));
}

// --- Sentences -----------------------------------------------------------------------------------

TEST(PlanFault, AnErrorThatCannotBeWordedIsBadAlloc) {
  for (const Plan& plan :
       {Plan{}, Plan{.keys = 10, .fpr = 2}, Plan{.keys = kMaxKeys + 1, .fpr = 0.01},
        Plan{.keys = 1'000'000, .fpr = 0.01, .size_bytes = 1}}) {
    const auto sweep = for_each_failing_allocation([&] { EXPECT_FALSE(solve(plan)); });
    EXPECT_GE(sweep.threw, 1U);
  }
  for (const auto& body : std::vector<std::function<void()>>{
           [] { EXPECT_FALSE(design_keys({.current_keys = 0})); },
           [] { EXPECT_FALSE(design_keys({.current_keys = kMaxKeys, .yearly_growth = 100})); },
           [] { EXPECT_FALSE(outlook({.keys = -1})); }}) {
    EXPECT_GE(for_each_failing_allocation(body).threw, 1U);
  }
}

}  // namespace
}  // namespace probably
