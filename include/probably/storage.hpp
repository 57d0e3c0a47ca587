// Storage: who owns a filter's bytes.
//
// Memory from the kernel (zeroed, huge pages asked for), a file mapped read-only, or memory that
// the caller lends. Filters see 64-bit words and nothing else.
//
// Concurrency: a Storage hands out memory and never touches it again; the filter above it says
// which calls may run together.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "probably/result.hpp"

namespace probably {

inline constexpr std::size_t kCacheLineBytes = 64;
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

struct StorageOptions {
  // Ask for 2 MiB pages where the size makes them worth it. A large filter without them pays a
  // page-table walk on top of each cache miss. The kernel may refuse in silence: see
  // Storage::residency().
  bool huge_pages = true;
  // Touch every page at once, so that no later insertion waits for the kernel.
  bool prefault = false;
  // Threads for prefaulting, the caller's included; 0 means one per core. Where the system refuses
  // to start a thread, those that run do its share.
  unsigned prefault_threads = 0;
  // Spread the pages over all NUMA nodes. An error where libnuma or the kernel lack support.
  bool numa_interleave = false;
};

// What the kernel really gave, in bytes of the storage.
struct Residency {
  std::uint64_t resident_bytes = 0;
  std::uint64_t huge_page_bytes = 0;  // part of resident_bytes
};

class Storage {
 public:
  // Zeroed, writable, aligned to a cache line (to 2 MiB from 2 MiB on). Rounds up to whole lines.
  // From 2 MiB on, the pages on both sides are closed: an access that strays off the last page, or
  // before the first, faults.
  // Fails with invalid_argument when the size is zero or cannot be addressed, with unsupported when
  // NUMA interleaving was asked for and is not there. Throws std::bad_alloc when memory is short.
  static Result<Storage> allocate(std::uint64_t size_bytes, const StorageOptions& options = {});

  // Maps `size_bytes` of a regular file from `offset` on, read-only and shared; size 0 means to the
  // file's end. The offset need not be a multiple of the page size, but of eight. Fails with io,
  // naming the path, when the file cannot be opened or mapped, with invalid_argument when the range
  // is empty, not within the file or not whole words. Throws std::bad_alloc when memory is short.
  // Truncating a mapped file makes later reads raise SIGBUS, as with any mapping.
  static Result<Storage> map_file(const std::string& path, std::uint64_t offset = 0,
                                  std::uint64_t size_bytes = 0);

  // The caller's memory, which must outlive the storage. Not zeroed.
  // Requires: aligned to a cache line.
  static Storage borrow(std::span<std::uint64_t> words) noexcept;
  static Storage borrow(std::span<const std::uint64_t> words) noexcept;  // read-only

  // A moved-from storage is empty: no words, size 0, not writable.
  Storage(Storage&& other) noexcept;
  Storage& operator=(Storage&& other) noexcept;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage();

  [[nodiscard]] const std::uint64_t* words() const noexcept { return words_; }
  // Requires: writable().
  [[nodiscard]] std::uint64_t* mutable_words() noexcept {
    assert(writable_);
    return words_;
  }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] bool writable() const noexcept { return writable_; }

  // Asks the kernel how many of these bytes are on pages that this process has in memory now, and
  // how many of those on huge pages. Exact for allocate() from 2 MiB on and for map_file(): memory
  // that was read but never written does not count, nor does a file's page that lies in the page
  // cache but was not mapped yet. Small or borrowed memory may share its mapping with strangers:
  // then a page that was only read may count as resident, and huge_page_bytes is an upper bound.
  // Fails with io where /proc/self/smaps cannot be read. For a report, not for a hot path.
  [[nodiscard]] Result<Residency> residency() const;

 private:
  // What the destructor gives back. Nothing when `base` is null, a block of the heap when
  // `mapped_bytes` is 0, else a mapping.
  struct Owned {
    void* base = nullptr;
    std::size_t mapped_bytes = 0;
  };

  Storage(Owned owned, std::uint64_t* words, std::uint64_t size_bytes, bool writable) noexcept;

  static Storage from_heap(std::size_t size_bytes);
  static Storage from_kernel(std::size_t size_bytes);

  Owned owned_;
  // Never written through unless writable_.
  std::uint64_t* words_ = nullptr;
  std::uint64_t size_bytes_ = 0;
  bool writable_ = false;
};

}  // namespace probably
