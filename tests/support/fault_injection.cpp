#include "support/fault_injection.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace probably::fault {
namespace {

constexpr int kMadvisePopulateWrite = 23;
constexpr std::size_t kCalls = static_cast<std::size_t>(Call::thread_start) + 1;

// A body with more requests than this does not ask for the same whenever it runs.
constexpr std::uint64_t kMaxRuns = 1'000'000;

// All of this is initialised before any code runs, so that operator new may use it at any time.
std::atomic<std::int64_t> live_blocks{0};
std::atomic<std::int64_t> mapped_bytes{0};
// How many requests, the failing one included, are still to come; not above 0 once it has come.
std::atomic<std::int64_t> countdown{0};
std::atomic<bool> armed{false};
std::array<std::atomic<int>, kCalls> call_errors{};
std::array<std::atomic<std::uint64_t>, kCalls> call_failures{};

// The same for the calls that make files.
std::atomic<std::int64_t> file_countdown{0};
std::atomic<bool> file_armed{false};
std::atomic<Fate> file_fate{};
std::atomic<int> file_error{0};

bool request_fails() noexcept {
  return armed.load(std::memory_order_relaxed) &&
         countdown.fetch_sub(1, std::memory_order_relaxed) == 1;
}

std::size_t index_of(Call call) noexcept { return static_cast<std::size_t>(call); }

// Returns the errno that the call shall fail with, or 0.
int call_fails(Call call) noexcept {
  const int error = call_errors[index_of(call)].load(std::memory_order_relaxed);
  if (error != 0) call_failures[index_of(call)].fetch_add(1, std::memory_order_relaxed);
  return error;
}

// The same for a call that is a request for memory.
int memory_call_fails(Call call, int out_of_memory) noexcept {
  if (const int error = call_fails(call); error != 0) return error;
  return request_fails() ? out_of_memory : 0;
}

// Makes a call, unless it is the one that something befalls. `half` makes half of it.
template <class Whole, class Half>
auto file_call(Whole&& whole, Half&& half) noexcept -> decltype(whole()) {
  if (!file_armed.load(std::memory_order_relaxed) ||
      file_countdown.fetch_sub(1, std::memory_order_relaxed) != 1) {
    return whole();
  }
  switch (file_fate.load(std::memory_order_relaxed)) {
    case Fate::error:
      errno = file_error.load(std::memory_order_relaxed);
      return -1;
    case Fate::partly:
      return half();
    case Fate::kill_before:
      break;
    case Fate::kill_amid:
      half();
      break;
    case Fate::kill_after:
      whole();
      break;
  }
  ::raise(SIGKILL);
  return -1;
}

template <class Whole>
int file_call(Whole&& whole) noexcept {
  return file_call(whole, whole);
}

// From malloc and its kin, so that sanitizers keep watch. Null when there is none.
void* take_block(std::size_t size, std::size_t alignment) noexcept {
  if (request_fails()) return nullptr;
  void* block = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    block = std::malloc(std::max<std::size_t>(size, 1));
  } else if (::posix_memalign(&block, alignment, std::max<std::size_t>(size, 1)) != 0) {
    block = nullptr;
  }
  if (block != nullptr) live_blocks.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void* take_block_or_throw(std::size_t size, std::size_t alignment) {
  void* const block = take_block(size, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void give_block(void* block) noexcept {
  if (block == nullptr) return;
  live_blocks.fetch_sub(1, std::memory_order_relaxed);
  std::free(block);
}

std::int64_t count_descriptors() {
  DIR* const directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  std::int64_t count = 0;
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count;
}

}  // namespace

Held held() {
  return {live_blocks.load(std::memory_order_relaxed), mapped_bytes.load(std::memory_order_relaxed),
          count_descriptors()};
}

FailingAllocation::FailingAllocation(std::uint64_t n) noexcept {
  assert(n > 0 && !armed.load(std::memory_order_relaxed));
  countdown.store(static_cast<std::int64_t>(n), std::memory_order_relaxed);
  armed.store(true, std::memory_order_relaxed);
}

FailingAllocation::~FailingAllocation() { armed.store(false, std::memory_order_relaxed); }

bool FailingAllocation::fired() const noexcept {
  return countdown.load(std::memory_order_relaxed) <= 0;
}

FailingCall::FailingCall(Call call, int error_number) noexcept : call_(call) {
  assert(error_number > 0 && call_errors[index_of(call)].load(std::memory_order_relaxed) == 0);
  call_failures[index_of(call)].store(0, std::memory_order_relaxed);
  call_errors[index_of(call)].store(error_number, std::memory_order_relaxed);
}

FailingCall::~FailingCall() { call_errors[index_of(call_)].store(0, std::memory_order_relaxed); }

std::uint64_t FailingCall::count() const noexcept {
  return call_failures[index_of(call_)].load(std::memory_order_relaxed);
}

InterruptedFileCall::InterruptedFileCall(std::uint64_t n, Fate fate, int error_number) noexcept {
  assert(n > 0 && (error_number > 0 || fate != Fate::error));
  file_fate.store(fate, std::memory_order_relaxed);
  file_error.store(error_number, std::memory_order_relaxed);
  file_countdown.store(static_cast<std::int64_t>(n), std::memory_order_relaxed);
  file_armed.store(true, std::memory_order_relaxed);
}

InterruptedFileCall::~InterruptedFileCall() { file_armed.store(false, std::memory_order_relaxed); }

bool InterruptedFileCall::fired() const noexcept {
  return file_countdown.load(std::memory_order_relaxed) <= 0;
}

namespace {

enum class Outcome : std::uint8_t { returned, out_of_memory, other_exception };

Outcome run(const std::function<void()>& body) {
  try {
    body();
    return Outcome::returned;
  } catch (const std::bad_alloc&) {
    return Outcome::out_of_memory;
  } catch (...) {
    return Outcome::other_exception;
  }
}

}  // namespace

Sweep for_each_failing_allocation(const std::function<void()>& body) {
  Sweep sweep;
  // Undisturbed, so that what the program sets up once and keeps is no leak of a later run.
  EXPECT_EQ(run(body), Outcome::returned) << "undisturbed run";
  for (std::uint64_t n = 1; n <= kMaxRuns; ++n) {
    const Held before = held();
    bool fired = false;
    Outcome outcome{};
    {
      const FailingAllocation failing(n);
      outcome = run(body);
      fired = failing.fired();
    }
    const Held after = held();
    EXPECT_EQ(after.blocks, before.blocks) << "request " << n << " failed and blocks leaked";
    EXPECT_EQ(after.mapped_bytes, before.mapped_bytes)
        << "request " << n << " failed and mappings leaked";
    EXPECT_EQ(after.descriptors, before.descriptors)
        << "request " << n << " failed and descriptors leaked";
    if (!fired) {
      EXPECT_EQ(outcome, Outcome::returned) << "undisturbed run";
      return sweep;
    }
    EXPECT_NE(outcome, Outcome::other_exception)
        << "request " << n << " failed and another exception than std::bad_alloc came out";
    ++(outcome == Outcome::returned ? sweep.coped : sweep.threw);
    if (::testing::Test::HasFatalFailure()) return sweep;
  }
  ADD_FAILURE() << "The body made more than " << kMaxRuns << " requests for memory.";
  return sweep;
}

}  // namespace probably::fault

// --- operator new and delete: all of them, for a sanitizer's own would not call each other
// --------

namespace fault = probably::fault;

void* operator new(std::size_t size) { return fault::take_block_or_throw(size, 1); }
void* operator new[](std::size_t size) { return fault::take_block_or_throw(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return fault::take_block_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return fault::take_block_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return fault::take_block(size, 1);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return fault::take_block(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment,
                   const std::nothrow_t& /*tag*/) noexcept {
  return fault::take_block(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment,
                     const std::nothrow_t& /*tag*/) noexcept {
  return fault::take_block(size, static_cast<std::size_t>(alignment));
}

void operator delete(void* block) noexcept { fault::give_block(block); }
void operator delete[](void* block) noexcept { fault::give_block(block); }
void operator delete(void* block, std::size_t /*size*/) noexcept { fault::give_block(block); }
void operator delete[](void* block, std::size_t /*size*/) noexcept { fault::give_block(block); }
void operator delete(void* block, std::align_val_t /*alignment*/) noexcept {
  fault::give_block(block);
}
void operator delete[](void* block, std::align_val_t /*alignment*/) noexcept {
  fault::give_block(block);
}
void operator delete(void* block, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  fault::give_block(block);
}
void operator delete[](void* block, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  fault::give_block(block);
}
void operator delete(void* block, const std::nothrow_t& /*tag*/) noexcept {
  fault::give_block(block);
}
void operator delete[](void* block, const std::nothrow_t& /*tag*/) noexcept {
  fault::give_block(block);
}
void operator delete(void* block, std::align_val_t /*alignment*/,
                     const std::nothrow_t& /*tag*/) noexcept {
  fault::give_block(block);
}
void operator delete[](void* block, std::align_val_t /*alignment*/,
                       const std::nothrow_t& /*tag*/) noexcept {
  fault::give_block(block);
}

// --- System calls --------------------------------------------------------------------------------
//
// ld --wrap=f turns calls of f into __wrap_f, and __real_f into f.

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
#define PROBABLY_WRAP_THREAD_START(prefix) \
  prefix##_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE

extern "C" {

void* __real_mmap(void* address, std::size_t size, int protection, int flags, int file, off_t at);
int __real_munmap(void* address, std::size_t size);
int __real_mprotect(void* address, std::size_t size, int protection);
int __real_madvise(void* address, std::size_t size, int advice);
int __real_mincore(void* address, std::size_t size, unsigned char* present);
// Weak, because a program without libnuma has none and never calls it.
__attribute__((weak)) long __real_mbind(void* address, unsigned long size, int mode,
                                        const unsigned long* nodes, unsigned long max_node,
                                        unsigned flags);
int __real_open(const char* path, int flags, ...);
ssize_t __real_read(int file, void* buffer, std::size_t size);
ssize_t __real_pread(int file, void* buffer, std::size_t size, off_t at);
ssize_t __real_write(int file, const void* buffer, std::size_t size);
int __real_fsync(int file);
int __real_rename(const char* from, const char* to);
int __real_fchmod(int file, mode_t mode);
int __real_fstat(int file, struct stat* status);
// A member function takes its object first; a unique_ptr travels by address either way.
void PROBABLY_WRAP_THREAD_START(__real_)(std::thread* self,
                                         std::unique_ptr<std::thread::_State> state,
                                         void (*depend)());

void* __wrap_mmap(void* address, std::size_t size, int protection, int flags, int file, off_t at) {
  if (const int error = fault::memory_call_fails(fault::Call::mmap, ENOMEM); error != 0) {
    errno = error;
    return MAP_FAILED;
  }
  void* const base = __real_mmap(address, size, protection, flags, file, at);
  if (base != MAP_FAILED) fault::mapped_bytes += static_cast<std::int64_t>(size);
  return base;
}

int __wrap_munmap(void* address, std::size_t size) {
  const int result = __real_munmap(address, size);
  if (result == 0) fault::mapped_bytes -= static_cast<std::int64_t>(size);
  return result;
}

int __wrap_mprotect(void* address, std::size_t size, int protection) {
  if (const int error = fault::memory_call_fails(fault::Call::mprotect, ENOMEM); error != 0) {
    errno = error;
    return -1;
  }
  return __real_mprotect(address, size, protection);
}

int __wrap_madvise(void* address, std::size_t size, int advice) {
  if (advice == fault::kMadvisePopulateWrite) {
    if (const int error = fault::memory_call_fails(fault::Call::populate, ENOMEM); error != 0) {
      errno = error;
      return -1;
    }
  }
  return __real_madvise(address, size, advice);
}

int __wrap_mincore(void* address, std::size_t size, unsigned char* present) {
  if (const int error = fault::call_fails(fault::Call::mincore); error != 0) {
    errno = error;
    return -1;
  }
  return __real_mincore(address, size, present);
}

long __wrap_mbind(void* address, unsigned long size, int mode, const unsigned long* nodes,
                  unsigned long max_node, unsigned flags) {
  if (const int error = fault::call_fails(fault::Call::mbind); error != 0) {
    errno = error;
    return -1;
  }
  return __real_mbind(address, size, mode, nodes, max_node, flags);
}

int __wrap_open(const char* path, int flags, ...) {
  if (const int error = fault::call_fails(fault::Call::open); error != 0) {
    errno = error;
    return -1;
  }
  unsigned mode = 0;
  if ((flags & O_CREAT) != 0) {
    std::va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, unsigned);
    va_end(rest);
  }
  return fault::file_call([&] { return __real_open(path, flags, mode); });
}

ssize_t __wrap_pread(int file, void* buffer, std::size_t size, off_t at) {
  if (const int error = fault::call_fails(fault::Call::pread); error != 0) {
    errno = error;
    return -1;
  }
  return __real_pread(file, buffer, size, at);
}

ssize_t __wrap_write(int file, const void* buffer, std::size_t size) {
  return fault::file_call([&] { return __real_write(file, buffer, size); },
                          [&] { return __real_write(file, buffer, (size + 1) / 2); });
}

int __wrap_fsync(int file) {
  return fault::file_call([&] { return __real_fsync(file); });
}

int __wrap_rename(const char* from, const char* to) {
  return fault::file_call([&] { return __real_rename(from, to); });
}

int __wrap_fchmod(int file, mode_t mode) {
  return fault::file_call([&] { return __real_fchmod(file, mode); });
}

ssize_t __wrap_read(int file, void* buffer, std::size_t size) {
  if (const int error = fault::call_fails(fault::Call::read); error != 0) {
    errno = error;
    return -1;
  }
  return __real_read(file, buffer, size);
}

int __wrap_fstat(int file, struct stat* status) {
  if (const int error = fault::call_fails(fault::Call::fstat); error != 0) {
    errno = error;
    return -1;
  }
  return __real_fstat(file, status);
}

void PROBABLY_WRAP_THREAD_START(__wrap_)(std::thread* self,
                                         std::unique_ptr<std::thread::_State> state,
                                         void (*depend)()) {
  if (const int error = fault::memory_call_fails(fault::Call::thread_start, EAGAIN); error != 0) {
    throw std::system_error(error, std::generic_category());
  }
  PROBABLY_WRAP_THREAD_START(__real_)(self, std::move(state), depend);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
