#include "probably/storage.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/temporary_file.hpp"

namespace probably {
namespace {

using ::probably::testing::TemporaryFile;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
// On both sides of each border: a line, a page, the change from the heap to the kernel.
constexpr std::array<std::uint64_t, 11> kSizes{
    1,        64,           65,           4096,     4097, 2 * kMiB - 64, 2 * kMiB - 63,
    2 * kMiB, 2 * kMiB + 1, 3 * kMiB + 8, 17 * kMiB};

static_assert(!std::is_copy_constructible_v<Storage> && !std::is_copy_assignable_v<Storage>);
static_assert(std::is_nothrow_move_constructible_v<Storage> &&
              std::is_nothrow_move_assignable_v<Storage>);

std::uintptr_t address_of(const Storage& storage) {
  return reinterpret_cast<std::uintptr_t>(storage.words());
}

std::span<const std::uint64_t> words_of(const Storage& storage) {
  return {storage.words(), storage.size_bytes() / sizeof(std::uint64_t)};
}

// Where a line begins in memory that has room for `count` words after it.
std::span<std::uint64_t> whole_lines(std::vector<std::uint64_t>& memory, std::size_t count) {
  memory.resize(count + kCacheLineBytes / sizeof(std::uint64_t));
  void* start = memory.data();
  std::size_t space = memory.size() * sizeof(std::uint64_t);
  std::align(kCacheLineBytes, count * sizeof(std::uint64_t), start, space);
  return {static_cast<std::uint64_t*>(start), count};
}

// 0, 1, 2, ... as the bytes of 64-bit words.
std::vector<std::uint64_t> counting_words(std::size_t count) {
  std::vector<std::uint64_t> words(count);
  std::iota(words.begin(), words.end(), std::uint64_t{0});
  return words;
}

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

TEST(Storage, IsZeroed) {
  // Dirty heap blocks first, so that zeroes come from the storage and not from a fresh heap.
  for (const std::uint64_t size : {std::uint64_t{64}, std::uint64_t{4096}, kMiB}) {
    Storage dirty = Storage::allocate(size).value();
    std::memset(dirty.mutable_words(), 0xff, dirty.size_bytes());
  }
  for (const std::uint64_t size : kSizes) {
    const Storage storage = Storage::allocate(size).value();
    const auto words = words_of(storage);
    EXPECT_TRUE(std::all_of(words.begin(), words.end(), [](std::uint64_t w) { return w == 0; }))
        << size;
  }
}

TEST(Storage, IsAlignedToACacheLineAndFromTwoMebibytesOnToAHugePage) {
  for (const std::uint64_t size : kSizes) {
    const Storage storage = Storage::allocate(size).value();
    EXPECT_EQ(address_of(storage) % kCacheLineBytes, 0U) << size;
    if (size >= 2 * kMiB) {
      EXPECT_EQ(address_of(storage) % kHugePageBytes, 0U) << size;
    }
  }
}

TEST(Storage, RoundsUpToWholeCacheLines) {
  for (const std::uint64_t size : kSizes) {
    const Storage storage = Storage::allocate(size).value();
    EXPECT_EQ(storage.size_bytes(), (size + 63) / 64 * 64);
  }
}

TEST(Storage, IsWritableToTheLastWord) {
  for (const std::uint64_t size : kSizes) {
    Storage storage = Storage::allocate(size).value();
    ASSERT_TRUE(storage.writable());
    const std::size_t count = words_of(storage).size();
    for (std::size_t i = 0; i < count; ++i) storage.mutable_words()[i] = i + 1;
    EXPECT_EQ(storage.words()[0], 1U);
    EXPECT_EQ(storage.words()[count - 1], count);
  }
}

TEST(Storage, SeveralDoNotOverlap) {
  std::vector<Storage> all;
  for (int round = 0; round < 4; ++round) {
    for (const std::uint64_t size : kSizes) all.push_back(Storage::allocate(size).value());
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::fill_n(all[i].mutable_words(), words_of(all[i]).size(), i);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto words = words_of(all[i]);
    EXPECT_TRUE(std::all_of(words.begin(), words.end(), [i](std::uint64_t w) { return w == i; }));
  }
}

TEST(Storage, SizeZeroIsAnErrorThatNamesTheRange) {
  const auto storage = Storage::allocate(0);
  ASSERT_FALSE(storage);
  EXPECT_EQ(storage.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(storage.error().message, "size_bytes is 0; accepted are 1 to 9223372036854775744.");
}

TEST(Storage, SizesThatCannotBeAddressedAreErrorsThatNameTheRange) {
  const std::uint64_t limit = 9223372036854775744U;
  for (const std::uint64_t size :
       {limit + 1, limit + 63, limit + 64, std::numeric_limits<std::uint64_t>::max() - 63,
        std::numeric_limits<std::uint64_t>::max()}) {
    const auto storage = Storage::allocate(size, {.prefault = true});
    ASSERT_FALSE(storage) << size;
    EXPECT_EQ(storage.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(storage.error().message,
              "size_bytes is " + std::to_string(size) + "; accepted are 1 to 9223372036854775744.");
  }
}

TEST(Storage, MoreMemoryThanTheMachineHasIsBadAlloc) {
  EXPECT_THROW(static_cast<void>(Storage::allocate(9223372036854775744U)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(Storage::allocate(9223372036854775744U - 63)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(Storage::allocate(std::uint64_t{1} << 62)), std::bad_alloc);
}

TEST(StorageDeathTest, AccessBeyondTheLastPageFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Storage storage = Storage::allocate(4 * kMiB).value();
  volatile std::uint64_t* const words = storage.mutable_words();
  EXPECT_DEATH(words[words_of(storage).size()] = 1, "");
  EXPECT_DEATH(words[-1] = 1, "");
}

// --- What the kernel gave ------------------------------------------------------------------------

TEST(Storage, UntouchedMemoryIsNotResident) {
  Storage storage = Storage::allocate(32 * kMiB, {.huge_pages = false}).value();
  EXPECT_EQ(storage.residency().value().resident_bytes, 0U);
  // Reading shows the kernel's page of zeroes, which costs no memory.
  const auto words = words_of(storage);
  EXPECT_EQ(std::accumulate(words.begin(), words.end(), std::uint64_t{0}), 0U);
  EXPECT_EQ(storage.residency().value().resident_bytes, 0U);
}

TEST(Storage, TouchedPagesAreResidentOneByOne) {
  Storage storage = Storage::allocate(32 * kMiB, {.huge_pages = false}).value();
  // Where huge pages come unasked, one word makes two mebibytes resident.
  ASSERT_EQ(::madvise(storage.mutable_words(), storage.size_bytes(), MADV_NOHUGEPAGE), 0);
  for (const std::uint64_t at : {std::uint64_t{0}, 7 * kMiB, 32 * kMiB - 8}) {
    storage.mutable_words()[at / 8] = 1;
  }
  const Residency residency = storage.residency().value();
  EXPECT_EQ(residency.resident_bytes, 3 * page_bytes());
  EXPECT_EQ(residency.huge_page_bytes, 0U);
}

TEST(Storage, PrefaultingMakesEveryByteResident) {
  for (const std::uint64_t size : kSizes) {
    for (const bool huge_pages : {false, true}) {
      const Storage storage =
          Storage::allocate(size, {.huge_pages = huge_pages, .prefault = true}).value();
      EXPECT_EQ(storage.residency().value().resident_bytes, storage.size_bytes()) << size;
    }
  }
}

TEST(Storage, AnyNumberOfThreadsPrefaults) {
  for (const unsigned threads : {1U, 2U, 3U, 7U, std::numeric_limits<unsigned>::max()}) {
    const Storage storage =
        Storage::allocate(66 * kMiB + 64, {.prefault = true, .prefault_threads = threads}).value();
    EXPECT_EQ(storage.residency().value().resident_bytes, storage.size_bytes()) << threads;
    const auto words = words_of(storage);
    EXPECT_TRUE(std::all_of(words.begin(), words.end(), [](std::uint64_t w) { return w == 0; }));
  }
}

// Empty when the machine can be expected to give huge pages that are asked for.
std::string why_no_huge_pages() {
  std::string enabled;
  std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), enabled);
  if (enabled.find("[always]") == std::string::npos &&
      enabled.find("[madvise]") == std::string::npos) {
    return "The kernel gives no transparent huge pages: '" + enabled + "'.";
  }
  if (::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) != 0) {
    return "Transparent huge pages are disabled for this process.";
  }
  std::ifstream meminfo("/proc/meminfo");
  std::string name;
  std::string unit;
  for (std::uint64_t kib = 0; meminfo >> name >> kib; std::getline(meminfo, unit)) {
    // Less may be too scattered to have 2 MiB in one piece.
    if (name == "MemAvailable:" && kib < 1024 * 1024) return "There is little memory left.";
  }
  return {};
}

TEST(Storage, HugePagesAreGivenWhereTheKernelAllowsThem) {
  if (const std::string reason = why_no_huge_pages(); !reason.empty()) GTEST_SKIP() << reason;
  const Storage storage = Storage::allocate(33 * kMiB, {.prefault = true}).value();
  const Residency residency = storage.residency().value();
  EXPECT_GT(residency.huge_page_bytes, 0U);
  // The odd last mebibyte has no room for one.
  EXPECT_LE(residency.huge_page_bytes, 32 * kMiB);
  EXPECT_EQ(residency.huge_page_bytes % kHugePageBytes, 0U);
  EXPECT_EQ(residency.resident_bytes, 33 * kMiB);
}

TEST(Storage, ResidencyDoesNotCountTheNeighbours) {
  std::vector<Storage> neighbours;
  neighbours.reserve(8);
  for (int i = 0; i < 8; ++i) {
    neighbours.push_back(
        Storage::allocate(4 * kMiB, {.huge_pages = false, .prefault = i % 2 == 0}).value());
  }
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    EXPECT_EQ(neighbours[i].residency().value().resident_bytes, i % 2 == 0 ? 4 * kMiB : 0) << i;
  }
}

TEST(Storage, ResidencyOfBorrowedMemoryIsThatOfItsPages) {
  const std::size_t page = page_bytes();
  void* const base =
      ::mmap(nullptr, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(base, MAP_FAILED);
  auto* const bytes = static_cast<unsigned char*>(base);
  // Resident:   x x . x x . . . . . . . . . . .
  // Borrowed:         |--------|                   from within page 1 into page 4
  for (const std::size_t i : {0U, 1U, 3U, 4U}) bytes[i * page] = 1;
  void* const start = bytes + page + 64;
  const std::span<std::uint64_t> words(static_cast<std::uint64_t*>(start), 3 * page / 8);
  const Storage part = Storage::borrow(words);
  // All of page 1 but a line, page 3, and one line of page 4.
  EXPECT_EQ(part.residency().value().resident_bytes, 2 * page);
  EXPECT_EQ(::munmap(base, 16 * page), 0);
}

TEST(Storage, ResidencySpansSeveralMappings) {
  const std::size_t page = page_bytes();
  void* const base =
      ::mmap(nullptr, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(base, MAP_FAILED);
  std::memset(base, 1, 16 * page);
  auto* const bytes = static_cast<unsigned char*>(base);
  // Another protection makes pages 4 to 7 a mapping of their own, and pages 8 to 15 a third.
  ASSERT_EQ(::mprotect(bytes + 4 * page, 4 * page, PROT_READ), 0);
  ASSERT_EQ(::madvise(bytes + 8 * page, page, MADV_DONTNEED), 0);
  const std::span<const std::uint64_t> words(static_cast<const std::uint64_t*>(base),
                                             10 * page / 8);
  EXPECT_EQ(Storage::borrow(words).residency().value().resident_bytes, 9 * page);
  EXPECT_EQ(::munmap(base, 16 * page), 0);
}

TEST(Storage, ResidencyKnowsExplicitHugePages) {
  void* const base = ::mmap(nullptr, kHugePageBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  if (base == MAP_FAILED) GTEST_SKIP() << "No huge pages are set aside: " << std::strerror(errno);
  static_cast<unsigned char*>(base)[0] = 1;
  const std::span<std::uint64_t> words(static_cast<std::uint64_t*>(base), kHugePageBytes / 8);
  const Residency residency = Storage::borrow(words).residency().value();
  EXPECT_EQ(residency.resident_bytes, kHugePageBytes);
  EXPECT_EQ(residency.huge_page_bytes, kHugePageBytes);
  EXPECT_EQ(::munmap(base, kHugePageBytes), 0);
}

TEST(Storage, NumaInterleaveWorksOrIsUnsupported) {
  for (const std::uint64_t size : {std::uint64_t{64}, 2 * kMiB, 20 * kMiB + 64}) {
    const auto storage = Storage::allocate(size, {.prefault = true, .numa_interleave = true});
    if (!storage) {
      EXPECT_EQ(storage.error().code, ErrorCode::unsupported);
      EXPECT_NE(storage.error().message.find("numa_interleave"), std::string::npos);
      continue;
    }
    EXPECT_EQ(storage->size_bytes(), size);
    EXPECT_EQ(storage->residency().value().resident_bytes, size);
    const auto words = words_of(*storage);
    EXPECT_TRUE(std::all_of(words.begin(), words.end(), [](std::uint64_t w) { return w == 0; }));
  }
}

// --- Mapped files --------------------------------------------------------------------------------

class MappedStorage : public ::testing::Test {
 protected:
  static constexpr std::size_t kWords = 3000;

  void expect_invalid(std::uint64_t offset, std::uint64_t size, const std::string& message) const {
    const auto storage = Storage::map_file(file_.path(), offset, size);
    ASSERT_FALSE(storage) << offset << ", " << size;
    EXPECT_EQ(storage.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(storage.error().message, message);
  }

  const std::vector<std::uint64_t> words_ = counting_words(kWords);
  const TemporaryFile file_{std::as_bytes(std::span(words_))};
};

TEST_F(MappedStorage, ShowsTheFileReadOnly) {
  const Storage storage = Storage::map_file(file_.path()).value();
  EXPECT_FALSE(storage.writable());
  EXPECT_EQ(storage.size_bytes(), kWords * 8);
  EXPECT_EQ(address_of(storage) % page_bytes(), 0U);
  EXPECT_TRUE(std::ranges::equal(words_of(storage), words_));
}

TEST_F(MappedStorage, ShowsAnyWholeWordsOfTheFile) {
  for (const std::uint64_t first : {0U, 1U, 8U, 511U, 512U, 513U, 1024U, 2999U}) {
    for (const std::uint64_t count : {1U, 2U, 500U, 512U, 1976U}) {
      if (first + count > kWords) continue;
      const Storage storage = Storage::map_file(file_.path(), first * 8, count * 8).value();
      EXPECT_TRUE(std::ranges::equal(words_of(storage), std::span(words_).subspan(first, count)))
          << first << ", " << count;
    }
    const Storage rest = Storage::map_file(file_.path(), first * 8).value();
    EXPECT_TRUE(std::ranges::equal(words_of(rest), std::span(words_).subspan(first))) << first;
  }
}

TEST_F(MappedStorage, SeesWhatIsWrittenToTheFile) {
  const Storage storage = Storage::map_file(file_.path(), 8).value();
  std::fstream stream(file_.path(), std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(8);
  stream.write("ABCDEFGH", 8);
  stream.close();
  EXPECT_EQ(std::memcmp(storage.words(), "ABCDEFGH", 8), 0);
}

TEST_F(MappedStorage, OutlivesTheNameOfTheFile) {
  const Storage storage = Storage::map_file(file_.path()).value();
  ASSERT_EQ(::unlink(file_.path().c_str()), 0);
  EXPECT_TRUE(std::ranges::equal(words_of(storage), words_));
}

TEST_F(MappedStorage, ResidencyCountsThePagesThatWereRead) {
  const Storage storage = Storage::map_file(file_.path(), 8).value();
  EXPECT_EQ(storage.residency().value().resident_bytes, 0U);
  EXPECT_EQ(std::accumulate(storage.words(), storage.words() + kWords - 1, std::uint64_t{0}),
            kWords * (kWords - 1) / 2);
  EXPECT_EQ(storage.residency().value().resident_bytes, storage.size_bytes());
}

TEST_F(MappedStorage, RangesOutsideTheFileAreErrors) {
  const std::string file = " in '" + file_.path() + "', which has 24000 bytes; accepted are ";
  const std::string offsets = file + "multiples of 8 before its end.";
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max() - 7;
  expect_invalid(24000, 0, "offset is 24000" + offsets);
  expect_invalid(24000, 8, "offset is 24000" + offsets);
  expect_invalid(24008, 0, "offset is 24008" + offsets);
  expect_invalid(huge, 8, "offset is " + std::to_string(huge) + offsets);
  expect_invalid(0, 24008,
                 "size_bytes is 24008 from offset 0" + file + "multiples of 8 up to 24000.");
  expect_invalid(23992, 16,
                 "size_bytes is 16 from offset 23992" + file + "multiples of 8 up to 8.");
  // Their sum is small again.
  expect_invalid(16, huge,
                 "size_bytes is " + std::to_string(huge) + " from offset 16" + file +
                     "multiples of 8 up to 23984.");
}

TEST_F(MappedStorage, RangesThatAreNotWholeWordsAreErrors) {
  const std::string file = " in '" + file_.path() + "', which has 24000 bytes; accepted are ";
  expect_invalid(4, 8, "offset is 4" + file + "multiples of 8 before its end.");
  expect_invalid(8, 12, "size_bytes is 12 from offset 8" + file + "multiples of 8 up to 23992.");
}

TEST(Storage, FilesThatAreNotWholeWordsMapOnlyInPart) {
  const std::array<std::byte, 21> bytes{};
  const TemporaryFile file(bytes);
  const auto all = Storage::map_file(file.path());
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(all.error().message,
            "size_bytes is 21 from offset 0 in '" + file.path() +
                "', which has 21 bytes; accepted are multiples of 8 up to 16.");
  EXPECT_EQ(Storage::map_file(file.path(), 0, 16).value().size_bytes(), 16U);
}

TEST(Storage, EmptyFilesCannotBeMapped) {
  const TemporaryFile file;
  const auto storage = Storage::map_file(file.path());
  ASSERT_FALSE(storage);
  EXPECT_EQ(storage.error().code, ErrorCode::invalid_argument);
}

void expect_io_error(const std::string& path, const std::string& message) {
  const auto storage = Storage::map_file(path);
  ASSERT_FALSE(storage) << path;
  EXPECT_EQ(storage.error().code, ErrorCode::io);
  EXPECT_EQ(storage.error().message, message);
}

TEST(Storage, AMissingFileIsAnErrorThatNamesIt) {
  expect_io_error("/nonexistent/filter.bin",
                  "Cannot open '/nonexistent/filter.bin': No such file or directory.");
  expect_io_error("", "Cannot open '': No such file or directory.");
}

TEST(Storage, OnlyRegularFilesAreMapped) {
  expect_io_error("/", "Cannot map '/': Is a directory.");
  expect_io_error("/dev/zero", "Cannot map '/dev/zero': Not a regular file.");
  // Returns at once, although nobody writes to the pipe.
  std::string pipe;
  {
    const TemporaryFile file;
    pipe = file.path();
  }
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_io_error(pipe, "Cannot map '" + pipe + "': Not a regular file.");
  ::unlink(pipe.c_str());
}

TEST(Storage, APathWithAZeroByteOpensNoOtherFile) {
  const auto storage = Storage::map_file(std::string("/etc/passwd\0.bin", 16));
  ASSERT_FALSE(storage);
  EXPECT_EQ(storage.error().code, ErrorCode::invalid_argument);
}

TEST(StorageDeathTest, WritingToAMappedFileFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::array<std::byte, 64> bytes{};
  const TemporaryFile file(bytes);
  const Storage storage = Storage::map_file(file.path()).value();
  EXPECT_DEATH(*const_cast<volatile std::uint64_t*>(storage.words()) = 1, "");
}

// --- Borrowed memory -----------------------------------------------------------------------------

TEST(Storage, BorrowsMemoryWithoutChangingIt) {
  std::vector<std::uint64_t> memory;
  const std::span<std::uint64_t> words = whole_lines(memory, 24);
  std::iota(words.begin(), words.end(), std::uint64_t{1});
  {
    Storage storage = Storage::borrow(words);
    EXPECT_TRUE(storage.writable());
    EXPECT_EQ(storage.words(), words.data());
    EXPECT_EQ(storage.size_bytes(), 24U * 8);
    storage.mutable_words()[3] = 77;
    EXPECT_EQ(storage.residency().value().resident_bytes, 24U * 8);
  }
  EXPECT_EQ(words[3], 77U);
  EXPECT_EQ(words[23], 24U);
}

TEST(Storage, BorrowsConstantMemoryReadOnly) {
  std::vector<std::uint64_t> memory;
  const std::span<const std::uint64_t> words = whole_lines(memory, 8);
  const Storage storage = Storage::borrow(words);
  EXPECT_FALSE(storage.writable());
  EXPECT_EQ(storage.words(), words.data());
  EXPECT_EQ(storage.size_bytes(), 64U);
}

#ifndef NDEBUG
TEST(StorageDeathTest, BorrowingRequiresACacheLine) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::vector<std::uint64_t> memory;
  const std::span<std::uint64_t> words = whole_lines(memory, 16);
  EXPECT_DEATH(Storage::borrow(words.subspan(1)), "kCacheLineBytes");
  EXPECT_DEATH(Storage::borrow(std::span<const std::uint64_t>(words.subspan(1))),
               "kCacheLineBytes");
}

TEST(StorageDeathTest, WritingRequiresWritableStorage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::vector<std::uint64_t> memory;
  const std::span<const std::uint64_t> words = whole_lines(memory, 8);
  Storage storage = Storage::borrow(words);
  EXPECT_DEATH(static_cast<void>(storage.mutable_words()), "writable");
}
#endif

// --- Moving --------------------------------------------------------------------------------------

void expect_empty(const Storage& storage) {
  EXPECT_EQ(storage.words(), nullptr);  // NOLINT(clang-analyzer-cplusplus.Move)
  EXPECT_EQ(storage.size_bytes(), 0U);
  EXPECT_FALSE(storage.writable());
  EXPECT_EQ(storage.residency().value().resident_bytes, 0U);
}

TEST(Storage, MovesTheBytesAndLeavesAnEmptyObject) {
  for (const std::uint64_t size : kSizes) {
    Storage source = Storage::allocate(size).value();
    source.mutable_words()[0] = 5;
    const std::uint64_t* const words = source.words();
    const std::uint64_t bytes = source.size_bytes();

    Storage constructed = std::move(source);
    expect_empty(source);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(constructed.words(), words);

    Storage assigned = Storage::allocate(128).value();
    assigned = std::move(constructed);
    expect_empty(constructed);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(assigned.words(), words);
    EXPECT_EQ(assigned.size_bytes(), bytes);
    EXPECT_TRUE(assigned.writable());
    EXPECT_EQ(assigned.words()[0], 5U);
  }
}

TEST(Storage, SurvivesBeingAssignedToItself) {
  Storage storage = Storage::allocate(2 * kMiB).value();
  storage.mutable_words()[9] = 5;
  Storage& same = storage;
  storage = std::move(same);
  EXPECT_EQ(storage.words()[9], 5U);
  EXPECT_EQ(storage.size_bytes(), 2 * kMiB);
}

TEST(Storage, AnEmptyObjectCanBeAssignedTo) {
  Storage storage = Storage::allocate(64).value();
  { const Storage gone = std::move(storage); }
  storage = Storage::allocate(192).value();
  EXPECT_EQ(storage.size_bytes(), 192U);
}

}  // namespace
}  // namespace probably
