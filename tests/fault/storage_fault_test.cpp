#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "probably/storage.hpp"
#include "support/fault_injection.hpp"
#include "support/temporary_file.hpp"

namespace probably {
namespace {

using fault::Call;
using fault::FailingCall;
using ::probably::testing::TemporaryFile;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

bool all_resident(const Storage& storage) {
  return storage.residency().value().resident_bytes == storage.size_bytes();
}

// --- Every allocation, one by one ----------------------------------------------------------------

TEST(StorageFault, ASmallBlockThatIsRefusedIsBadAlloc) {
  const auto sweep =
      fault::for_each_failing_allocation([] { static_cast<void>(Storage::allocate(64)); });
  EXPECT_EQ(sweep.threw, 1U);
  EXPECT_EQ(sweep.coped, 0U);
}

TEST(StorageFault, AMappingThatIsRefusedIsBadAlloc) {
  const auto sweep =
      fault::for_each_failing_allocation([] { static_cast<void>(Storage::allocate(4 * kMiB)); });
  // mmap reserves, mprotect opens.
  EXPECT_EQ(sweep.threw, 2U);
  EXPECT_EQ(sweep.coped, 0U);
}

TEST(StorageFault, PrefaultingWithoutPagesIsBadAlloc) {
  const auto sweep = fault::for_each_failing_allocation([] {
    const Storage storage =
        Storage::allocate(66 * kMiB, {.prefault = true, .prefault_threads = 1}).value();
  });
  // mmap, mprotect, and five slices of at most 16 MiB.
  EXPECT_EQ(sweep.threw, 7U);
  EXPECT_EQ(sweep.coped, 0U);
}

TEST(StorageFault, PrefaultingCopesWithoutThreads) {
  const auto sweep = fault::for_each_failing_allocation([] {
    const Storage storage =
        Storage::allocate(66 * kMiB, {.prefault = true, .prefault_threads = 3}).value();
  });
  // Requests: the seven above, the list of helpers, and at least a state and a start for each of
  // the two. Which of them comes when is up to the threads, but for mmap, mprotect and the list.
  EXPECT_GE(sweep.threw, 2U);
  EXPECT_GE(sweep.coped, 1U);
  EXPECT_GE(sweep.threw + sweep.coped, 12U);
}

TEST(StorageFault, AMappedFileThatIsRefusedIsBadAlloc) {
  const std::array<std::byte, 4096> bytes{};
  const TemporaryFile file(bytes);
  const auto sweep = fault::for_each_failing_allocation(
      [&] { static_cast<void>(Storage::map_file(file.path(), 8)); });
  EXPECT_EQ(sweep.threw, 1U);
  EXPECT_EQ(sweep.coped, 0U);
}

TEST(StorageFault, ErrorsAndReportsSurviveOrAreBadAlloc) {
  const Storage storage = Storage::allocate(4 * kMiB).value();
  fault::for_each_failing_allocation([&] { static_cast<void>(storage.residency()); });
  fault::for_each_failing_allocation([] { static_cast<void>(Storage::allocate(0)); });
  fault::for_each_failing_allocation([] { static_cast<void>(Storage::map_file("/nonexistent")); });
  fault::for_each_failing_allocation([] { static_cast<void>(Storage::map_file("/dev/zero")); });
}

TEST(StorageFault, MovingAsksForNothing) {
  Storage storage = Storage::allocate(4 * kMiB).value();
  const auto sweep = fault::for_each_failing_allocation([&] {
    Storage taken = std::move(storage);
    storage = std::move(taken);
  });
  EXPECT_EQ(sweep.threw + sweep.coped, 0U);
}

TEST(StorageFault, AFailedAllocationLeavesTheTargetAlone) {
  Storage storage = Storage::allocate(4 * kMiB).value();
  const std::uint64_t* const words = storage.words();
  const FailingCall refused(Call::mmap, ENOMEM);
  EXPECT_THROW(storage = Storage::allocate(8 * kMiB).value(), std::bad_alloc);
  EXPECT_EQ(storage.words(), words);
  EXPECT_EQ(storage.size_bytes(), 4 * kMiB);
}

TEST(StorageFault, DestructionGivesEverythingBack) {
  const std::array<std::byte, 4096> bytes{};
  const TemporaryFile file(bytes);
  const fault::Held before = fault::held();
  {
    const Storage small = Storage::allocate(64).value();
    const Storage large = Storage::allocate(9 * kMiB + 64, {.prefault = true}).value();
    const Storage mapped = Storage::map_file(file.path(), 64, 128).value();
    const fault::Held during = fault::held();
    EXPECT_EQ(during.blocks, before.blocks + 1);
    EXPECT_GT(during.mapped_bytes, before.mapped_bytes + 9 * static_cast<std::int64_t>(kMiB));
    EXPECT_EQ(during.descriptors, before.descriptors);
  }
  EXPECT_EQ(fault::held(), before);
}

// --- System calls that say no --------------------------------------------------------------------

TEST(StorageFault, PrefaultingTouchesPagesWhereTheKernelCannotPopulate) {
  for (const int error : {EINVAL, ENOSYS, EPERM}) {
    const FailingCall refused(Call::populate, error);
    const Storage storage =
        Storage::allocate(40 * kMiB + 64, {.prefault = true, .prefault_threads = 2}).value();
    EXPECT_EQ(refused.count(), 3U);
    EXPECT_TRUE(all_resident(storage)) << error;
  }
}

TEST(StorageFault, PrefaultingThatTheKernelFailsIsBadAllocAndLeaksNothing) {
  for (const int error : {ENOMEM, EFAULT, EHWPOISON}) {
    const fault::Held before = fault::held();
    const FailingCall refused(Call::populate, error);
    EXPECT_THROW(static_cast<void>(Storage::allocate(64 * kMiB, {.prefault = true})),
                 std::bad_alloc);
    EXPECT_EQ(fault::held(), before) << error;
  }
}

TEST(StorageFault, PrefaultingNeedsNoSecondThread) {
  const FailingCall refused(Call::thread_start, EAGAIN);
  const Storage storage =
      Storage::allocate(64 * kMiB, {.prefault = true, .prefault_threads = 4}).value();
  EXPECT_EQ(refused.count(), 1U);
  EXPECT_TRUE(all_resident(storage));
}

TEST(StorageFault, AFileThatCannotBeMappedIsAnErrorThatNamesIt) {
  const std::array<std::byte, 64> bytes{};
  const TemporaryFile file(bytes);
  const fault::Held before = fault::held();
  {
    const FailingCall refused(Call::mmap, ENODEV);
    const auto storage = Storage::map_file(file.path());
    ASSERT_FALSE(storage);
    EXPECT_EQ(storage.error().code, ErrorCode::io);
    EXPECT_EQ(storage.error().message, "Cannot map '" + file.path() + "': No such device.");
  }
  {
    const FailingCall refused(Call::fstat, EIO);
    const auto storage = Storage::map_file(file.path());
    ASSERT_FALSE(storage);
    EXPECT_EQ(storage.error().code, ErrorCode::io);
    EXPECT_EQ(storage.error().message, "Cannot inspect '" + file.path() + "': Input/output error.");
  }
  {
    const FailingCall refused(Call::open, EACCES);
    const auto storage = Storage::map_file(file.path());
    ASSERT_FALSE(storage);
    EXPECT_EQ(storage.error().message, "Cannot open '" + file.path() + "': Permission denied.");
  }
  EXPECT_EQ(fault::held(), before);
}

TEST(StorageFault, ResidencyWithoutProcIsAnError) {
  const Storage storage = Storage::allocate(4 * kMiB).value();
  {
    const FailingCall refused(Call::open, ENOENT);
    const auto residency = storage.residency();
    ASSERT_FALSE(residency);
    EXPECT_EQ(residency.error().code, ErrorCode::io);
    EXPECT_EQ(residency.error().message,
              "Cannot open '/proc/self/smaps': No such file or directory.");
  }
  {
    const FailingCall refused(Call::read, EACCES);
    const auto residency = storage.residency();
    ASSERT_FALSE(residency);
    EXPECT_EQ(residency.error().message, "Cannot read '/proc/self/smaps': Permission denied.");
  }
}

TEST(StorageFault, ResidencyOfASharedMappingNeedsMincore) {
  const Storage storage = Storage::allocate(64).value();
  const FailingCall refused(Call::mincore, EAGAIN);
  const auto residency = storage.residency();
  ASSERT_FALSE(residency);
  EXPECT_EQ(residency.error().code, ErrorCode::io);
  EXPECT_EQ(residency.error().message, "mincore failed: Resource temporarily unavailable.");
}

TEST(StorageFault, NumaInterleaveThatTheKernelRefusesIsUnsupported) {
  const fault::Held before = fault::held();
  {
    const FailingCall refused(Call::mbind, EPERM);
    const auto storage = Storage::allocate(4 * kMiB, {.numa_interleave = true});
    ASSERT_FALSE(storage);
    EXPECT_EQ(storage.error().code, ErrorCode::unsupported);
    if (refused.count() == 0) GTEST_SKIP() << storage.error().message;
    EXPECT_EQ(storage.error().message, "numa_interleave is not possible: Operation not permitted.");
  }
  {
    const FailingCall refused(Call::mbind, ENOMEM);
    EXPECT_THROW(static_cast<void>(Storage::allocate(4 * kMiB, {.numa_interleave = true})),
                 std::bad_alloc);
  }
  EXPECT_EQ(fault::held(), before);
}

// --- The injection itself ------------------------------------------------------------------------

TEST(FaultInjection, ReachesEveryFormOfNew) {
  struct alignas(128) Wide {
    std::array<std::byte, 128> bytes;
  };
  const auto sweep = fault::for_each_failing_allocation([] {
    // Straight calls: a compiler may leave out the allocation of an unused new-expression.
    constexpr std::align_val_t kAlignment{alignof(Wide)};
    ::operator delete(::operator new(8));
    ::operator delete[](::operator new[](8));
    ::operator delete(::operator new(sizeof(Wide), kAlignment), kAlignment);
    ::operator delete[](::operator new[](sizeof(Wide), kAlignment), kAlignment);
    ::operator delete(::operator new(8, std::nothrow), std::nothrow);
    ::operator delete[](::operator new[](8, std::nothrow), std::nothrow);
    ::operator delete(::operator new(sizeof(Wide), kAlignment, std::nothrow), kAlignment);
    ::operator delete[](::operator new[](sizeof(Wide), kAlignment, std::nothrow), kAlignment);
  });
  EXPECT_EQ(sweep.threw, 4U);
  EXPECT_EQ(sweep.coped, 4U);
}

TEST(FaultInjection, CountsWhatIsHeld) {
  const fault::Held before = fault::held();
  void* const block = ::operator new(8);
  EXPECT_EQ(fault::held().blocks, before.blocks + 1);
  ::operator delete(block);
  EXPECT_EQ(fault::held(), before);
}

}  // namespace
}  // namespace probably
