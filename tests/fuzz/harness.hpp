// What the fuzzing programs share: requirements, a watch over memory and time, and the input as a
// stream or a file.
#pragma once

#include <sys/mman.h>
#include <time.h>  // NOLINT: clock_gettime is POSIX's
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "file_descriptor.hpp"
#include "probably/io.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define PROBABLY_FUZZ_WATCHES_HEAP
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PROBABLY_FUZZ_WATCHES_HEAP
#endif
#endif
#ifdef PROBABLY_FUZZ_WATCHES_HEAP
// GCC has these in its library, and no header that tells of them.
extern "C" {
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                              void (*)(const volatile void*));
std::size_t __sanitizer_get_allocated_size(const volatile void*);
}
#endif

namespace probably::fuzz {

using Bytes = std::vector<std::byte>;

// Ends the run, naming the line that called.
inline void require(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "The requirement at %s:%d does not hold.\n", file, line);
  std::abort();
}

inline void require_sentence(const Error& error) {
  require(!error.message.empty() && error.message.back() == '.');
}

inline std::span<const std::byte> as_input(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

// --- Memory and time -----------------------------------------------------------------------------

// What readers are given as their limit. Storage takes so little from the heap, and not from the
// kernel, so that the watch below misses nothing.
inline constexpr std::uint64_t kLimitBytes = 1 << 20;
// Buffers and contexts of readers, whatever the file.
inline constexpr std::uint64_t kReaderBytes = 256 << 10;

// Bytes that the heap has given away, as AddressSanitizer counts them: those of zlib and zstd, too.
// Without it they stay 0.
struct Heap {
  std::atomic<std::int64_t> used = 0;
  std::atomic<std::int64_t> peak = 0;
};
inline Heap heap;

#ifdef PROBABLY_FUZZ_WATCHES_HEAP
inline const int kWatchHeap = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t bytes) {
      const std::int64_t used = heap.used += static_cast<std::int64_t>(bytes);
      if (used > heap.peak) heap.peak = used;
    },
    [](const volatile void* block) {
      heap.used -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(block));
    });
#endif

// Of this thread. A clock on the wall also counts what a busy machine does for others.
inline std::chrono::nanoseconds processor_time() {
  timespec now{};
  require(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// The result of work(), which may never hold more memory than this, nor take a second.
template <class Work>
auto within(std::uint64_t bytes, Work&& work, const char* file = __builtin_FILE(),
            int line = __builtin_LINE()) {
  const std::int64_t before = heap.used;
  heap.peak = before;
  const auto begin = processor_time();
  auto result = work();
  require(processor_time() - begin < std::chrono::seconds(1), file, line);
  require(heap.peak - before <= static_cast<std::int64_t>(bytes), file, line);
  return result;
}

// --- The input -----------------------------------------------------------------------------------

// Nobody knows how long it is, and it comes in pieces: of one byte, of three, seven and so on.
class PiecewiseSource final : public ByteSource {
 public:
  explicit PiecewiseSource(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  Result<std::size_t> read(std::span<std::byte> room) override {
    const std::size_t count = std::min({room.size(), bytes_.size(), piece_});
    std::copy_n(bytes_.begin(), count, room.begin());
    bytes_ = bytes_.subspan(count);
    piece_ = 2 * piece_ + 1;
    return count;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t piece_ = 1;
};

// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes)
      : file_(::memfd_create("input", MFD_CLOEXEC)) {
    require(::write(file_.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  detail::FileDescriptor file_;
};

}  // namespace probably::fuzz
