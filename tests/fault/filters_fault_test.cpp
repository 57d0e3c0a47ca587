#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

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

TYPED_TEST(FilterFault, AnErrorThatCannotBeWordedIsBadAlloc) {
  const auto sweep = for_each_failing_allocation(
      [] { EXPECT_FALSE(TypeParam::create(Plan{.keys = 1'000, .fpr = 2})); });
  EXPECT_GE(sweep.threw, 1U);
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
    auto filter = ScalableBloom::create(ScalableParams{.first_keys = 64, .fpr = 0.01}).value();
    {
      const FailingAllocation failing(n);
      for (const Digest key : keys) filter.insert(key);
      fired = failing.fired();
    }
    ASSERT_TRUE(contains_all(filter, keys)) << "request " << n;
    ASSERT_GE(filter.link_count(), 6U) << "the chain did not grow on after request " << n;
    ASSERT_LT(n, 1'000U);
  }
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

}  // namespace
}  // namespace probably
