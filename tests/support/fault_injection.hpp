// Fault injection: what does the code do when the system says no?
//
// Linked into a test program, fault_injection.cpp replaces every operator new and delete of the
// program, and the linker redirects the system calls that the code under test makes. Both count
// what is held, and both fail when told to.
//
//   TEST(Filter, SurvivesEveryAllocationFailure) {
//     fault::for_each_failing_allocation([] { auto filter = Filter::create(...); });
//   }
//
// The program links the library statically (calls made inside a shared library are out of reach)
// and needs these options; without them it does not link:
//
//  -Wl,--wrap=mmap,--wrap=munmap,--wrap=mprotect,--wrap=madvise,--wrap=mincore,--wrap=mbind
//  -Wl,--wrap=open,--wrap=read,--wrap=pread,--wrap=fstat
//  -Wl,--wrap=write,--wrap=fsync,--wrap=rename,--wrap=fchmod
//  -Wl,--wrap=_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE
//
// The last is std::thread's start in libstdc++. Works under ASan, UBSan and the TSan of g++; that
// of clang brings an operator new that cannot be replaced.
//
// Concurrency: the counters see all threads. Arming, disarming and reading them is for one thread.
#pragma once

#include <cstdint>
#include <functional>

namespace probably::fault {

// What the program holds now.
struct Held {
  std::int64_t blocks = 0;        // from operator new
  std::int64_t mapped_bytes = 0;  // mmap less munmap, by code that was linked statically
  std::int64_t descriptors = 0;   // open files

  friend bool operator==(const Held&, const Held&) = default;
};
[[nodiscard]] Held held();

// While one lives, the n-th request for memory from its creation on fails, and only that one.
// Requests are: operator new (std::bad_alloc, or null where it is nothrow), mmap, mprotect, madvise
// that populates (ENOMEM), and the start of a thread (EAGAIN). Not nestable.
class FailingAllocation {
 public:
  // Requires: n > 0.
  explicit FailingAllocation(std::uint64_t n) noexcept;
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();

  // Whether there were as many requests.
  [[nodiscard]] bool fired() const noexcept;
};

enum class Call : std::uint8_t {
  mmap,
  mprotect,
  populate,  // madvise with MADV_POPULATE_WRITE
  mincore,
  mbind,
  open,
  read,
  pread,
  fstat,
  thread_start,  // std::system_error instead of errno
};

// While one lives, every such call fails with the given errno. Not nestable for one call.
class FailingCall {
 public:
  // Requires: error_number > 0.
  FailingCall(Call call, int error_number) noexcept;
  FailingCall(const FailingCall&) = delete;
  FailingCall& operator=(const FailingCall&) = delete;
  ~FailingCall();

  // How many calls failed.
  [[nodiscard]] std::uint64_t count() const noexcept;

 private:
  Call call_;
};

// What befalls a call by which a file is made: open, fchmod, write, fsync or rename.
enum class Fate : std::uint8_t {
  error,        // it fails
  partly,       // a write takes half of its bytes; other calls are made
  kill_before,  // the process ends by SIGKILL before the call,
  kill_amid,    // after half of a write; other calls are made before
  kill_after,   // and after the call
};

// While one lives, this befalls the n-th such call from its creation on, and only that one. Not
// nestable.
class InterruptedFileCall {
 public:
  // Requires: n > 0; error_number > 0 if the fate is an error.
  InterruptedFileCall(std::uint64_t n, Fate fate, int error_number = 0) noexcept;
  InterruptedFileCall(const InterruptedFileCall&) = delete;
  InterruptedFileCall& operator=(const InterruptedFileCall&) = delete;
  ~InterruptedFileCall();

  // Whether there were as many calls.
  [[nodiscard]] bool fired() const noexcept;
};

// What the runs of for_each_failing_allocation came to.
struct Sweep {
  std::uint64_t threw = 0;  // std::bad_alloc left the body
  std::uint64_t coped = 0;  // the body did without what it was refused
};

// Runs the body once undisturbed, then with its first request for memory failing, then with its
// second, and so on until one run has fewer requests. Adds a failure to the running test when a run
// leaves anything behind (compare Held), when anything but std::bad_alloc leaves a disturbed run,
// or when anything leaves an undisturbed one.
// Requires: the body asks for the same whenever it runs, and keeps nothing. Where it runs threads,
// their order decides which request is the n-th.
Sweep for_each_failing_allocation(const std::function<void()>& body);

}  // namespace probably::fault
