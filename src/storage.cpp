#include "probably/storage.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "file_descriptor.hpp"
#include "probably/detail/require.hpp"

#ifdef PROBABLY_HAVE_NUMA
#include <numa.h>
#include <numaif.h>
#endif

namespace probably {

using detail::describe;
using detail::FileDescriptor;
using detail::io_error;

namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

// No object may be larger than PTRDIFF_MAX. Whole lines, so that rounding up never passes it.
constexpr std::uint64_t kMaxBytes =
    std::uint64_t{std::numeric_limits<std::ptrdiff_t>::max()} / kCacheLineBytes * kCacheLineBytes;

// The unit of work of a prefaulting thread: some milliseconds, and whole huge pages, so that no two
// threads meet in one.
constexpr std::size_t kPrefaultSliceBytes = 8 * kHugePageBytes;

// Since Linux 5.14, newer than the C library's headers on some systems; the number is the same on
// every architecture that Linux runs on.
constexpr int kMadvisePopulateWrite = 23;

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

template <class Integer>
Integer round_down(Integer value, Integer multiple) noexcept {
  return value / multiple * multiple;
}

template <class Integer>
Integer round_up(Integer value, Integer multiple) noexcept {
  return round_down(value + (multiple - 1), multiple);
}

// Vector instructions would fault on anything else.
void require_aligned(const std::uint64_t* words) noexcept {
  detail::require(reinterpret_cast<std::uintptr_t>(words) % kCacheLineBytes == 0,
                  "borrow: the words must be aligned to kCacheLineBytes.");
}

Error invalid(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

Error unsupported(std::string message) { return {ErrorCode::unsupported, std::move(message)}; }

// --- Prefaulting ---------------------------------------------------------------------------------

// Makes the pages of [begin, begin + bytes) present. Requires: zeroed, not yet shared.
// Returns false when memory is short.
bool populate(std::byte* begin, std::size_t bytes, std::size_t page) noexcept {
  for (;;) {
    if (::madvise(begin, bytes, kMadvisePopulateWrite) == 0) return true;
    if (errno != EINTR) break;
  }
  // An older kernel does not know the advice, a sandbox may forbid it. Everything else says that
  // there is no page to be had, and touching one would kill the process.
  if (errno != EINVAL && errno != ENOSYS && errno != EPERM) return false;
  for (std::size_t at = 0; at < bytes; at += page) {
    // Volatile, because the compiler may otherwise see that nobody reads the zero.
    static_cast<volatile std::byte&>(begin[at]) = std::byte{0};
  }
  return true;
}

// Throws std::bad_alloc when memory is short.
void prefault(std::byte* begin, std::size_t bytes, unsigned threads) {
  const std::size_t page = page_bytes();
  const std::size_t slices = (bytes + kPrefaultSliceBytes - 1) / kPrefaultSliceBytes;
  std::atomic<std::size_t> next_slice{0};
  std::atomic<bool> out_of_memory{false};

  // Relaxed throughout: a slice number carries no data, and joining the helpers orders the rest.
  const auto work = [&]() noexcept {
    while (!out_of_memory.load(std::memory_order_relaxed)) {
      const std::size_t slice = next_slice.fetch_add(1, std::memory_order_relaxed);
      if (slice >= slices) return;
      const std::size_t at = slice * kPrefaultSliceBytes;
      if (!populate(begin + at, std::min(kPrefaultSliceBytes, bytes - at), page)) {
        out_of_memory.store(true, std::memory_order_relaxed);
      }
    }
  };

  if (threads == 0) threads = std::thread::hardware_concurrency();
  const std::size_t workers = std::clamp<std::size_t>(threads, 1, slices);
  {
    std::vector<std::jthread> helpers;
    try {
      helpers.reserve(workers - 1);
      while (helpers.size() < workers - 1) helpers.emplace_back(work);
    } catch (const std::exception&) {
      // Slices are taken, not dealt out: with fewer helpers, or none, all of them still get done.
    }
    work();
  }
  if (out_of_memory.load(std::memory_order_relaxed)) throw std::bad_alloc();
}

// --- NUMA ----------------------------------------------------------------------------------------

Result<void> require_numa() {
#ifdef PROBABLY_HAVE_NUMA
  if (numa_available() >= 0) return {};
  return unsupported("numa_interleave is not possible: the kernel has no NUMA support.");
#else
  return unsupported("numa_interleave is not possible: this build of probably has no libnuma.");
#endif
}

// Requires: require_numa() succeeded, no page is present yet.
Result<void> interleave([[maybe_unused]] std::byte* begin, [[maybe_unused]] std::size_t bytes) {
#ifdef PROBABLY_HAVE_NUMA
  // Not numa_interleave_memory, which reports a failure on standard error only. The kernel takes
  // the number of bits plus one.
  const bitmask& nodes = *numa_all_nodes_ptr;
  if (::mbind(begin, bytes, MPOL_INTERLEAVE, nodes.maskp, nodes.size + 1, 0) != 0) {
    if (errno == ENOMEM) throw std::bad_alloc();
    return unsupported("numa_interleave is not possible: " + describe(errno) + ".");
  }
#endif
  return {};
}

// --- Residency -----------------------------------------------------------------------------------

constexpr const char* kSmapsPath = "/proc/self/smaps";

struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] std::uint64_t size() const noexcept { return end > begin ? end - begin : 0; }
  [[nodiscard]] bool within(const AddressRange& outer) const noexcept {
    return begin >= outer.begin && end <= outer.end;
  }
};

AddressRange intersection(const AddressRange& a, const AddressRange& b) noexcept {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

Result<std::string> read_smaps() {
  const FileDescriptor file(::open(kSmapsPath, O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return io_error("open", kSmapsPath, describe(errno));
  std::string text;
  std::array<char, 1 << 14> buffer;
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got == 0) return text;
    if (got > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      return io_error("read", kSmapsPath, describe(errno));
    }
  }
}

// One mapping as smaps tells it.
struct Mapping {
  AddressRange range;
  std::uint64_t resident_bytes = 0;
  std::uint64_t huge_page_bytes = 0;
};

// "7f01c0000000-7f01c0200000 rw-p 00000000 00:00 0" opens a mapping; other lines do not match.
bool parse_range(std::string_view line, AddressRange& range) noexcept {
  const char* const end = line.data() + line.size();
  const auto low = std::from_chars(line.data(), end, range.begin, 16);
  if (low.ec != std::errc{} || low.ptr == end || *low.ptr != '-') return false;
  return std::from_chars(low.ptr + 1, end, range.end, 16).ec == std::errc{};
}

// "Rss:                  24 kB" adds to the mapping; lines about something else do not.
void parse_field(std::string_view line, Mapping& mapping) noexcept {
  struct Field {
    std::string_view name;
    bool resident;
    bool huge;
  };
  // The kernel leaves pages of hugetlbfs out of Rss.
  static constexpr std::array<Field, 6> kFields{{{"Rss:", true, false},
                                                 {"AnonHugePages:", false, true},
                                                 {"ShmemPmdMapped:", false, true},
                                                 {"FilePmdMapped:", false, true},
                                                 {"Shared_Hugetlb:", true, true},
                                                 {"Private_Hugetlb:", true, true}}};
  for (const Field& field : kFields) {
    if (!line.starts_with(field.name)) continue;
    const std::size_t digits = line.find_first_not_of(' ', field.name.size());
    if (digits == std::string_view::npos) return;
    std::uint64_t kib = 0;
    std::from_chars(line.data() + digits, line.data() + line.size(), kib);
    if (field.resident) mapping.resident_bytes += kib * 1024;
    if (field.huge) mapping.huge_page_bytes += kib * 1024;
  }
}

// The mappings that overlap `range`.
std::vector<Mapping> parse_smaps(std::string_view text, const AddressRange& range) {
  std::vector<Mapping> mappings;
  bool relevant = false;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    Mapping opened;
    if (parse_range(line, opened.range)) {
      relevant = intersection(opened.range, range).size() > 0;
      if (relevant) mappings.push_back(opened);
    } else if (relevant) {
      parse_field(line, mappings.back());
    }
  }
  return mappings;
}

// How many bytes of `range` lie on pages that are in memory.
Result<std::uint64_t> count_resident(const AddressRange& range, std::size_t page) {
  std::array<unsigned char, 4096> present;
  std::uint64_t total = 0;
  for (std::uintptr_t at = round_down<std::uintptr_t>(range.begin, page); at < range.end;) {
    const std::size_t pages =
        std::min<std::size_t>((range.end - at + page - 1) / page, present.size());
    // The kernel names mappings by number. NOLINTNEXTLINE(performance-no-int-to-ptr)
    if (::mincore(reinterpret_cast<void*>(at), pages * page, present.data()) != 0) {
      return Error{ErrorCode::io, "mincore failed: " + describe(errno) + "."};
    }
    for (std::size_t i = 0; i < pages; ++i, at += page) {
      if ((present[i] & 1) != 0) total += intersection({at, at + page}, range).size();
    }
  }
  return total;
}

}  // namespace

// --- Ownership -----------------------------------------------------------------------------------

Storage::Storage(Owned owned, std::uint64_t* words, std::uint64_t size_bytes,
                 bool writable) noexcept
    : owned_(owned), words_(words), size_bytes_(size_bytes), writable_(writable) {}

Storage::Storage(Storage&& other) noexcept
    : owned_(std::exchange(other.owned_, {})),
      words_(std::exchange(other.words_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      writable_(std::exchange(other.writable_, false)) {}

Storage& Storage::operator=(Storage&& other) noexcept {
  // Through a third object, so that a storage survives being assigned to itself.
  Storage taken(std::move(other));
  std::swap(owned_, taken.owned_);
  std::swap(words_, taken.words_);
  std::swap(size_bytes_, taken.size_bytes_);
  std::swap(writable_, taken.writable_);
  return *this;
}

Storage::~Storage() {
  if (owned_.base == nullptr) return;
  if (owned_.mapped_bytes != 0) {
    ::munmap(owned_.base, owned_.mapped_bytes);
  } else {
    ::operator delete (owned_.base, std::align_val_t{kCacheLineBytes});
  }
}

// --- Sources -------------------------------------------------------------------------------------

Storage Storage::from_heap(std::size_t size_bytes) {
  void* const block = ::operator new (size_bytes, std::align_val_t{kCacheLineBytes});
  std::memset(block, 0, size_bytes);
  return {Owned{block, 0}, static_cast<std::uint64_t*>(block), size_bytes, true};
}

// Reserves more than is needed and opens an aligned part of it:
//
//   base              data, a multiple of 2 MiB
//   |- no access >= 1 page -|- read, write: whole pages -|- no access >= 1 page -|
//
// What is left over on the two sides stays reserved. It costs addresses only, catches accesses that
// stray, and keeps the kernel from joining the data with a neighbouring mapping, which makes the
// figures of smaps exact.
Storage Storage::from_kernel(std::size_t size_bytes) {
  const std::size_t page = page_bytes();
  const std::size_t data_bytes = round_up(size_bytes, page);
  // One page in front, at most 2 MiB - 1 page until the next multiple of 2 MiB, one page behind.
  const std::size_t reserved_bytes = data_bytes + kHugePageBytes + page;
  void* const base = ::mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();

  const auto address = reinterpret_cast<std::uintptr_t>(base);
  const std::size_t front = round_up<std::uintptr_t>(address + page, kHugePageBytes) - address;
  void* const data = static_cast<std::byte*>(base) + front;
  Storage storage({base, reserved_bytes}, static_cast<std::uint64_t*>(data), size_bytes, true);
  // The kernel counts memory against its limits here, not when it reserves addresses.
  if (::mprotect(data, data_bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  return storage;
}

Result<Storage> Storage::allocate(std::uint64_t size_bytes, const StorageOptions& options) {
  if (size_bytes == 0 || size_bytes > kMaxBytes) {
    return invalid("size_bytes is " + std::to_string(size_bytes) + "; accepted are 1 to " +
                   std::to_string(kMaxBytes) + ".");
  }
  if (options.numa_interleave) {
    if (auto numa = require_numa(); !numa) return numa.error();
  }
  const auto rounded =
      static_cast<std::size_t>(round_up<std::uint64_t>(size_bytes, kCacheLineBytes));
  // A block of the heap shares its pages with others, so that it cannot be spread over nodes.
  if (rounded < kHugePageBytes && !options.numa_interleave) return from_heap(rounded);

  Storage storage = from_kernel(rounded);
  auto* const data = reinterpret_cast<std::byte*>(storage.words_);
  const std::size_t data_bytes = round_up(rounded, page_bytes());
  // Both before the first page is touched, for they say where it comes from. A kernel without huge
  // pages refuses the advice, and the storage is as good with small ones.
  if (options.huge_pages) static_cast<void>(::madvise(data, data_bytes, MADV_HUGEPAGE));
  if (options.numa_interleave) {
    if (auto interleaved = interleave(data, data_bytes); !interleaved) return interleaved.error();
  }
  if (options.prefault) prefault(data, data_bytes, options.prefault_threads);
  return storage;
}

Result<Storage> Storage::map_file(const std::string& path, std::uint64_t offset,
                                  std::uint64_t size_bytes) {
  const auto file = detail::open_regular(path, "map");
  if (!file) return file.error();
  const std::uint64_t file_bytes = file->size_bytes;
  const auto refuse = [&](const std::string& argument, const std::string& accepted) {
    return invalid(argument + " in '" + path + "', which has " + std::to_string(file_bytes) +
                   " bytes; accepted are " + accepted + ".");
  };
  if (offset % kWordBytes != 0 || offset >= file_bytes) {
    return refuse("offset is " + std::to_string(offset), "multiples of 8 before its end");
  }
  const std::uint64_t rest = file_bytes - offset;
  const std::uint64_t limit = round_down<std::uint64_t>(std::min(rest, kMaxBytes), kWordBytes);
  if (size_bytes == 0) size_bytes = rest;
  if (size_bytes % kWordBytes != 0 || size_bytes > limit) {
    return refuse(
        "size_bytes is " + std::to_string(size_bytes) + " from offset " + std::to_string(offset),
        "multiples of 8 up to " + std::to_string(limit));
  }

  const auto lead = static_cast<std::size_t>(offset % page_bytes());
  const std::size_t mapped_bytes = lead + static_cast<std::size_t>(size_bytes);
  void* const base = ::mmap(nullptr, mapped_bytes, PROT_READ, MAP_SHARED, file->descriptor.get(),
                            static_cast<off_t>(offset - lead));
  if (base == MAP_FAILED) {
    if (errno == ENOMEM) throw std::bad_alloc();
    return io_error("map", path, describe(errno));
  }
  // A multiple of 8 from the start of a page, hence aligned for words.
  void* const words = static_cast<std::byte*>(base) + lead;
  return Storage({base, mapped_bytes}, static_cast<std::uint64_t*>(words), size_bytes, false);
}

Storage Storage::borrow(std::span<std::uint64_t> words) noexcept {
  require_aligned(words.data());
  return {Owned{}, words.data(), words.size_bytes(), true};
}

Storage Storage::borrow(std::span<const std::uint64_t> words) noexcept {
  require_aligned(words.data());
  // The constness lives on in writable_.
  return {Owned{}, const_cast<std::uint64_t*>(words.data()), words.size_bytes(), false};
}

Result<Residency> Storage::residency() const {
  if (size_bytes_ == 0) return Residency{};
  const std::size_t page = page_bytes();
  const auto begin = reinterpret_cast<std::uintptr_t>(words_);
  const AddressRange bytes{begin, begin + static_cast<std::uintptr_t>(size_bytes_)};
  const AddressRange pages{round_down<std::uintptr_t>(bytes.begin, page),
                           round_up<std::uintptr_t>(bytes.end, page)};

  const auto text = read_smaps();
  if (!text) return text.error();
  Residency total;
  for (const Mapping& mapping : parse_smaps(*text, bytes)) {
    const AddressRange common = intersection(mapping.range, bytes);
    std::uint64_t resident = mapping.resident_bytes;
    if (!mapping.range.within(pages)) {
      // Strangers share this mapping and its Rss, so the pages are asked one by one.
      const auto counted = count_resident(common, page);
      if (!counted) return counted.error();
      resident = *counted;
    }
    resident = std::min(resident, common.size());
    total.resident_bytes += resident;
    total.huge_page_bytes += std::min(mapping.huge_page_bytes, resident);
  }
  return total;
}

}  // namespace probably
