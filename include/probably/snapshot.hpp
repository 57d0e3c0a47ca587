// Snapshots: filters as bytes that cannot lie. docs/format.md is the format.
//
//   probably::save(filter, "seen.probably").value();
//   auto again = probably::open<probably::BlockedBloom>("seen.probably");
//   auto mapped = probably::map<probably::BlockedBloom>("seen.probably");   // in place, read-only
//
// Every byte of a snapshot is checked, and sizes before memory is asked for: against the length of
// the file or buffer, and of a stream, whose length nobody knows, against OpenOptions::max_bytes.
// What is opened has every key that was in the filter, or is refused: with `corrupt` if the bytes
// are not those that were written, with `unsupported` if a newer version wrote them.
//
// Concurrency: save, save_delta and Mark read a filter while others insert. The snapshot holds
// every key whose insertion happened before the call, and any part of those that run beside it.
// apply_delta inserts, and may run beside whatever insert may.
//
// F is one of the kinds, or AnyFilter.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "probably/any_filter.hpp"
#include "probably/io.hpp"
#include "probably/kinds.hpp"

namespace probably {

template <class F>
concept Saveable = Filter<F> || std::same_as<F, AnyFilter>;

struct SaveOptions {
  // Store the secret of a keyed filter in the file, where whoever reads the file reads the secret.
  // Otherwise there is a fingerprint, and open() has to be told the secret; save() refuses with
  // `secret` if nobody can know it, because Hasher::keyed() drew it.
  bool store_secret = false;
  // Store where the set bits are, compressed with zstd: smaller while less than about a tenth of
  // them is set. Such a snapshot can be opened, but not mapped.
  bool sparse = false;
  // The time of creation that the file tells, in seconds since 1970; none: now. With a fixed one,
  // the same filter gives the same bytes.
  std::optional<std::uint64_t> created = std::nullopt;
  // The rate that the filter was planned for, between 0 and 1, for whoever asks the file when it is
  // full; 0: not told. A filter of fixed size does not know it.
  double promised_fpr = 0;
};

namespace detail {
Result<void> save(ConstFilterPointer filter, const std::string& path, const SaveOptions& options);
Result<void> save(ConstFilterPointer filter, ByteSink& sink, const SaveOptions& options);
}  // namespace detail

// Into a file: a temporary one in the same directory is written, synced and renamed, and the
// directory synced, so that the path holds the old snapshot or the new one, whole, whatever
// happens. On failure the old file is as it was and the temporary one is gone; only if the
// directory cannot be synced, the new file is in place and may be lost with the power. A symbolic
// link is followed; the old file's mode is kept, and its owner if the system lets us.
template <Saveable F>
Result<void> save(const F& filter, const std::string& path, const SaveOptions& options = {}) {
  return detail::save(detail::pointer_to(filter), path, options);
}
// To wherever bytes go.
template <Saveable F>
Result<void> save(const F& filter, ByteSink& sink, const SaveOptions& options = {}) {
  return detail::save(detail::pointer_to(filter), sink, options);
}

struct OpenOptions {
  // Of a keyed filter. Needed unless the file holds it, and checked then, too; ignored for filters
  // that are not keyed.
  std::optional<SecretKey> secret = std::nullopt;
  // Filters that take more memory are refused with too_large.
  std::uint64_t max_bytes = std::uint64_t{1} << 40;
  // The memory that the filter gets.
  StorageOptions storage = {};
};

namespace detail {

// The kind that a file has to hold, if not any.
template <Saveable F>
constexpr std::optional<Kind> wanted_kind() noexcept {
  if constexpr (Filter<F>) return kind_of<F>;
  return std::nullopt;
}
// Requires: the filter is an F.
template <Saveable F>
F take(AnyFilter filter) {
  if constexpr (Filter<F>) {
    return std::move(*filter.get_if<F>());
  } else {
    return filter;
  }
}
template <Saveable F>
Result<F> take(Result<AnyFilter> filter) {
  if (!filter) return filter.error();
  return take<F>(*std::move(filter));
}

Result<AnyFilter> open(std::optional<Kind> wanted, const std::string& path,
                       const OpenOptions& options);
Result<AnyFilter> open(std::optional<Kind> wanted, ByteSource& source, const OpenOptions& options);

}  // namespace detail

// Reads and verifies everything. Fails with incompatible if the file holds another kind than F.
// Throws std::bad_alloc when memory is short.
template <Saveable F = AnyFilter>
Result<F> open(const std::string& path, const OpenOptions& options = {}) {
  return detail::take<F>(detail::open(detail::wanted_kind<F>(), path, options));
}
// From wherever bytes come; reads the snapshot and not a byte beyond.
template <Saveable F = AnyFilter>
Result<F> open(ByteSource& source, const OpenOptions& options = {}) {
  return detail::take<F>(detail::open(detail::wanted_kind<F>(), source, options));
}

enum class Verify : std::uint8_t {
  at_once,  // reads the whole file
  later,    // checks header and sizes only; the bits when Mapped::verify() is called
};

struct MapOptions {
  Verify verify = Verify::at_once;
  // As in OpenOptions.
  std::optional<SecretKey> secret = std::nullopt;
};

namespace detail {

// A file in memory, and what to compare it with.
struct MappedFile {
  struct Chunk {
    std::uint64_t offset;  // in the file
    std::uint64_t bytes;
    std::uint64_t checksum;
  };
  // With the padding behind its bits.
  struct Section {
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t padded_bytes;
    std::uint64_t set_bits;
  };

  [[nodiscard]] Result<void> verify() const;
  [[nodiscard]] Result<void> verify_chunk(std::uint64_t chunk) const;

  Storage storage;
  std::string name;
  std::vector<Chunk> chunks;
  std::vector<Section> sections;
};

}  // namespace detail

// A snapshot that is used where it lies, in a file: read-only, shared between processes, without
// loading. The file must not be changed or truncated meanwhile; replacing it, as save() does, is
// fine.
template <Saveable F>
class Mapped {
 public:
  // Not of a temporary: the filter lives as long as the object.
  [[nodiscard]] const F& operator*() const& noexcept { return filter_; }
  [[nodiscard]] const F* operator->() const& noexcept { return &filter_; }
  const F& operator*() const&& = delete;
  const F* operator->() const&& = delete;

  // Compares the bits with their checksums: all, with the numbers of set bits, or one chunk, so
  // that somebody can do it little by little or in the background. Any number of threads.
  [[nodiscard]] Result<void> verify() const { return file_.verify(); }
  // Requires: chunk < chunk_count().
  [[nodiscard]] Result<void> verify_chunk(std::uint64_t chunk) const {
    return file_.verify_chunk(chunk);
  }
  [[nodiscard]] std::uint64_t chunk_count() const noexcept { return file_.chunks.size(); }

 private:
  Mapped(detail::MappedFile file, F filter) : file_(std::move(file)), filter_(std::move(filter)) {}

  template <Saveable G>
  friend Result<Mapped<G>> map(const std::string& path, const MapOptions& options);

  detail::MappedFile file_;
  F filter_;  // refers to file_
};

namespace detail {
Result<std::pair<MappedFile, AnyFilter>> map(std::optional<Kind> wanted, const std::string& path,
                                             const MapOptions& options);
}  // namespace detail

// Fails with unsupported if the snapshot is sparse or a delta, and on machines that do not keep the
// least byte first.
template <Saveable F = AnyFilter>
Result<Mapped<F>> map(const std::string& path, const MapOptions& options = {}) {
  auto mapped = detail::map(detail::wanted_kind<F>(), path, options);
  if (!mapped) return mapped.error();
  return Mapped<F>(std::move(mapped->first), detail::take<F>(std::move(mapped->second)));
}

// What a snapshot says of itself.
struct SnapshotInfo {
  struct Section {
    std::uint64_t bytes = 0;
    std::uint64_t set_bits = 0;
    std::variant<std::monostate, BlockedParams, RedisParams> link =
        {};                        // of a filter that has links
    std::uint64_t insertions = 0;  // counted, into that link
  };

  std::uint16_t format_version = 0;
  Kind kind{};
  bool is_delta = false;
  bool is_sparse = false;
  HashAlgorithm algorithm{};
  std::uint64_t fingerprint = 0;  // Hasher::fingerprint()
  bool has_secret = false;        // in the file
  std::uint64_t created = 0;      // seconds since 1970
  double promised_fpr = 0;        // as whoever saved it says; 0: not told
  AnyParams params;
  std::vector<Section> sections;
  std::uint64_t filter_bytes = 0;  // what opening it takes
  std::uint64_t file_bytes = 0;
};

// Reads header and trailer, and verifies these; not the bits.
Result<SnapshotInfo> peek(const std::string& path);
// From a stream only the header: the number of set bits, and the size of the file, stay 0.
Result<SnapshotInfo> peek(ByteSource& source);

// Reads and verifies everything, and keeps nothing but a few checksums: 24 bytes for each 64 KiB.
Result<void> verify(const std::string& path);
Result<void> verify(ByteSource& source);

// --- Deltas --------------------------------------------------------------------------------------
//
// Bits are only ever set, so filters of one geometry and hasher are a grow-only set: what two
// replicas tell each other may come late, twice or in any order, and in the end both hold the same.
// A delta is a snapshot of the changes only.

// How many bits each cache line of a filter had at a moment: two bytes per line, and enough to see
// later which lines have changed, since a line that changed has more. Take the mark before you save
// the snapshot that it stands for. It is good for the filter that it was taken of, or a copy, until
// clear() is called.
class Mark {
 public:
  template <Saveable F>
  explicit Mark(const F& filter) : Mark(detail::pointer_to(filter)) {}
  // Copies share what they hold.
  Mark(const Mark&) = default;
  Mark& operator=(const Mark&) = default;
  ~Mark() = default;

 private:
  friend struct detail::SnapshotAccess;

  explicit Mark(detail::ConstFilterPointer filter);

  struct State;
  std::shared_ptr<const State> state_;
};

namespace detail {
Result<void> save_delta(ConstFilterPointer filter, ConstFilterPointer since, ByteSink& sink,
                        const SaveOptions& options);
Result<void> save_delta(ConstFilterPointer filter, const Mark& since, ByteSink& sink,
                        const SaveOptions& options);
Result<void> save_delta(ConstFilterPointer filter, ConstFilterPointer since,
                        const std::string& path, const SaveOptions& options);
Result<void> save_delta(ConstFilterPointer filter, const Mark& since, const std::string& path,
                        const SaveOptions& options);
}  // namespace detail

// What the filter has and `since` lacks, `since` being an older snapshot of it, for example mapped.
// Fails with incompatible unless params and hasher are equal.
template <Saveable F>
Result<void> save_delta(const F& filter, const F& since, ByteSink& sink,
                        const SaveOptions& options = {}) {
  return detail::save_delta(detail::pointer_to(filter), detail::pointer_to(since), sink, options);
}
template <Saveable F>
Result<void> save_delta(const F& filter, const F& since, const std::string& path,
                        const SaveOptions& options = {}) {
  return detail::save_delta(detail::pointer_to(filter), detail::pointer_to(since), path, options);
}
// The lines that have changed since the mark. Needs no older bits, but gives larger deltas: after 1
// % more keys about half of the filter, where older bits give a few percent. Fails with
// invalid_argument where the filter is seen not to be the mark's; bytes that the sink has by then
// are to be thrown away.
template <Saveable F>
Result<void> save_delta(const F& filter, const Mark& since, ByteSink& sink,
                        const SaveOptions& options = {}) {
  return detail::save_delta(detail::pointer_to(filter), since, sink, options);
}
template <Saveable F>
Result<void> save_delta(const F& filter, const Mark& since, const std::string& path,
                        const SaveOptions& options = {}) {
  return detail::save_delta(detail::pointer_to(filter), since, path, options);
}

struct ApplyOptions {
  // A filter that would take more memory, with the links that the delta brings, is left alone, with
  // too_large.
  std::uint64_t max_bytes = std::uint64_t{1} << 40;
};

namespace detail {
Result<void> apply_delta(FilterPointer filter, const std::string& path,
                         const ApplyOptions& options);
Result<void> apply_delta(FilterPointer filter, ByteSource& source, const ApplyOptions& options);
}  // namespace detail

// Adds what the delta, or a whole snapshot, holds. Fails with incompatible unless params and hasher
// are equal. Everything is read and verified before anything changes; a file is then read again,
// and must still be the same.
template <Saveable F>
Result<void> apply_delta(F& filter, const std::string& path, const ApplyOptions& options = {}) {
  return detail::apply_delta(detail::pointer_to(filter), path, options);
}
template <Saveable F>
Result<void> apply_delta(F& filter, ByteSource& source, const ApplyOptions& options = {}) {
  return detail::apply_delta(detail::pointer_to(filter), source, options);
}

}  // namespace probably
