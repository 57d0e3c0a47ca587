// Saving when the system says no, and when the process ends in the middle of it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "probably/snapshot.hpp"
#include "support/fault_injection.hpp"
#include "support/streams.hpp"
#include "support/temporary_directory.hpp"
#include "support/temporary_file.hpp"

namespace probably {
namespace {

using fault::Fate;
using fault::InterruptedFileCall;
using testing::DigestStream;
using testing::TemporaryDirectory;
using testing::TemporaryFile;

BlockedBloom filled(std::uint64_t lines, std::uint64_t stream) {
  auto filter = BlockedBloom::create(BlockedParams{lines, 8}).value();
  filter.insert(DigestStream(stream).take(1000));
  return filter;
}

// A filter in a file, about to be replaced.
class Replacing {
 public:
  explicit Replacing(std::uint64_t new_lines) : newer_(filled(new_lines, 2)) { restore(); }

  Result<void> save_newer() { return save(newer_, path_, {.created = 1}); }
  // Makes the old file again, alone in its directory.
  void restore() {
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      std::filesystem::remove(entry);
    }
    save(older_, path_, {.created = 1}).value();
  }
  [[nodiscard]] bool is_old() const { return open<BlockedBloom>(path_).value() == older_; }
  [[nodiscard]] bool is_new() const { return open<BlockedBloom>(path_).value() == newer_; }
  [[nodiscard]] std::size_t file_count() const { return directory_.file_count(); }

 private:
  TemporaryDirectory directory_;
  std::string path_ = directory_.file("filter");
  BlockedBloom older_ = filled(10, 1);
  BlockedBloom newer_;
};

// For a filter of 5,000 lines: five chunks, header, trailer, and what surrounds them.
constexpr std::uint64_t kCallsOfSave = 12;

TEST(SnapshotFaults, EveryRefusedCallLeavesTheOldFile) {
  for (const int error : {ENOSPC, EIO}) {
    Replacing replacing(5'000);
    std::uint64_t refused = 0;
    int replaced = 0;
    for (std::uint64_t n = 1;; ++n) {
      const InterruptedFileCall interrupted(n, Fate::error, error);
      const auto saved = replacing.save_newer();
      if (!interrupted.fired()) {
        EXPECT_TRUE(saved);
        break;
      }
      ++refused;
      ASSERT_FALSE(saved) << "call " << n;
      EXPECT_EQ(saved.error().code, ErrorCode::io);
      EXPECT_EQ(replacing.file_count(), 1u) << "call " << n;
      // The last call syncs the directory: the new file has its name by then.
      if (!replacing.is_old()) {
        EXPECT_TRUE(replacing.is_new()) << "call " << n;
        EXPECT_EQ(++replaced, 1) << "call " << n;
        replacing.restore();
      }
    }
    EXPECT_GE(refused, kCallsOfSave);
  }
}

TEST(SnapshotFaults, ShortWritesAreContinued) {
  Replacing replacing(5'000);
  for (std::uint64_t n = 1;; ++n) {
    const InterruptedFileCall interrupted(n, Fate::partly);
    ASSERT_TRUE(replacing.save_newer());
    EXPECT_TRUE(replacing.is_new()) << "call " << n;
    if (interrupted.fired()) continue;
    EXPECT_GE(n, kCallsOfSave);
    break;
  }
}

TEST(SnapshotFaults, InterruptedCallsAreMadeAgain) {
  Replacing replacing(5'000);
  std::uint64_t refused = 0;
  for (std::uint64_t n = 1;; ++n) {
    const InterruptedFileCall interrupted(n, Fate::error, EINTR);
    const auto saved = replacing.save_newer();
    if (!interrupted.fired()) {
      EXPECT_TRUE(saved);
      EXPECT_GE(n, kCallsOfSave);
      break;
    }
    if (!saved) ++refused;
    EXPECT_EQ(replacing.is_new(), saved.has_value()) << "call " << n;
    replacing.restore();
  }
  // Opening the directory, setting the mode and renaming, which no signal interrupts on local file
  // systems.
  EXPECT_EQ(refused, 3u);
}

// Ends a process that saves, at every call, before, amid and after it.
TEST(SnapshotFaults, AKilledProcessLeavesTheOldFileOrTheNew) {
  Replacing replacing(340'000);
  std::uint64_t killed = 0;
  std::uint64_t found_new = 0;
  for (const Fate fate : {Fate::kill_before, Fate::kill_amid, Fate::kill_after}) {
    for (std::uint64_t n = 1;; ++n) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        const InterruptedFileCall interrupted(n, fate);
        ::_exit(replacing.save_newer() ? 0 : 1);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      if (WIFEXITED(status)) {
        EXPECT_EQ(WEXITSTATUS(status), 0);
        break;
      }
      ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
      ++killed;
      const bool is_old = replacing.is_old();
      if (!is_old) {
        ASSERT_TRUE(replacing.is_new()) << "call " << n;
        ++found_new;
      }
      if (!is_old || n % 64 == 0) replacing.restore();
    }
    replacing.restore();
  }
  EXPECT_GE(killed, 1'000u);
  EXPECT_GE(found_new, 3u);
  RecordProperty("points", std::to_string(killed));
}

TEST(SnapshotFaults, ReadErrorsAreReported) {
  const TemporaryFile file;
  save(filled(10, 1), file.path()).value();
  const fault::FailingCall failing(fault::Call::pread, EIO);
  for (const auto& error :
       {open(file.path()).error(), peek(file.path()).error(), verify(file.path()).error()}) {
    EXPECT_EQ(error.code, ErrorCode::io);
    EXPECT_NE(error.message.find(file.path()), std::string::npos);
  }
}

TEST(SnapshotFaults, EveryFailedAllocationIsSurvived) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("filter");
  const auto filter = filled(100, 1);
  const auto scalable = [] {
    auto chain = ScalableBloom::create({.keys = 10, .fpr = 0.01}).value();
    chain.insert(DigestStream(1).take(100));
    return chain;
  }();
  save(filter, path).value();
  fault::for_each_failing_allocation([&] { static_cast<void>(save(filter, path)); });
  EXPECT_EQ(directory.file_count(), 1u);
  EXPECT_TRUE(open<BlockedBloom>(path).value() == filter);
  fault::for_each_failing_allocation([&] { EXPECT_TRUE(open(path)); });
  fault::for_each_failing_allocation([&] { EXPECT_TRUE(map(path)); });
  fault::for_each_failing_allocation([&] { EXPECT_TRUE(peek(path)); });
  fault::for_each_failing_allocation([&] {
    BufferSink sink;
    ASSERT_TRUE(save(scalable, sink, {.sparse = true}));
    BufferSource source(sink.bytes());
    EXPECT_TRUE(open<ScalableBloom>(source));
  });
  fault::for_each_failing_allocation([&] {
    BufferSink sink;
    const Mark mark(scalable);
    ASSERT_TRUE(save_delta(scalable, mark, sink));
    auto replica = ScalableBloom::create({.keys = 10, .fpr = 0.01}).value();
    BufferSource source(sink.bytes());
    EXPECT_TRUE(apply_delta(replica, source));
  });
}

}  // namespace
}  // namespace probably
