// Which records are repeated for certain. A filter suspects some wrongly, so whatever it suspects
// is compared with the input, byte by byte, in a second reading.
//
// In the first reading the suspects' keys go into a filter of their own. A key that comes twice is
// among them, since its second record was suspected: filters miss nothing. In the second reading
// only keys that are in there, a few more than were suspected, are looked up in a table of places:
// where such a key stands first. Keys are not copied: the table takes 11 bytes for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "probably/any_filter.hpp"
#include "records/batch.hpp"
#include "records/mapped_files.hpp"

namespace probably::cli {

// Where keys stand first in the input. Of a key it holds the place and 24 bits of its digest, so
// most other keys need not be looked at.
class FirstPlaces {
 public:
  static constexpr std::uint64_t kMaxPlace = (std::uint64_t{1} << 40) - 2;

  // For so many keys; with more it grows.
  explicit FirstPlaces(std::uint64_t keys);

  // Whether the key was put in before; if not, puts it in.
  // is_same(place): whether the key at that place is equal. digest_at(place): its digest.
  // Requires: place <= kMaxPlace.
  template <class IsSame, class DigestAt>
  bool find_or_put(std::uint64_t digest, std::uint64_t place, IsSame&& is_same,
                   DigestAt&& digest_at);

  void prefetch(std::uint64_t digest) const noexcept {
    __builtin_prefetch(&slots_[home(digest, slots_.size())]);
  }
  // The place that find_or_put() will look at first, if there is one.
  [[nodiscard]] std::uint64_t first_guess(std::uint64_t digest, std::uint64_t otherwise) const;

 private:
  // The tag, and below it the place plus 1; zero is nothing.
  using Slot = std::uint64_t;
  static constexpr unsigned kPlaceBits = 40;
  static constexpr Slot kPlaceMask = (Slot{1} << kPlaceBits) - 1;

  static std::size_t home(std::uint64_t digest, std::size_t slots) noexcept {
    // From the upper bits; the tag is made of the lower ones.
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>((Wide{digest} * slots) >> 64);
  }
  static Slot tag(std::uint64_t digest) noexcept { return digest << kPlaceBits; }
  static std::uint64_t place_in(Slot slot) noexcept { return (slot & kPlaceMask) - 1; }
  static std::size_t slots_for(std::uint64_t keys);

  static void put(std::vector<Slot>& slots, std::uint64_t digest, std::uint64_t place);

  std::vector<Slot> slots_;
  std::uint64_t used_ = 0;
};

class ExactCheck {
 public:
  // Expects so many suspects; there may be more. Files and reader must outlive it. Throws Trouble
  // if the files are too large.
  ExactCheck(const MappedFiles& files, const RecordReader& reader, std::uint64_t suspects);

  // First reading: takes a batch whose answers tell which records the filter had not seen.
  void suspect(const Batch& batch);
  // Second reading: once before it, then for batches in parallel, and in order.
  void begin_second();
  void prepare(Batch& batch) const;
  // Now the answers tell which records come for the first time. Returns how many do.
  std::uint64_t settle(Batch& batch);

 private:
  [[nodiscard]] std::string_view key_at(std::uint64_t place) const;

  const MappedFiles& files_;
  const RecordReader& reader_;
  AnyFilter suspects_;
  std::uint64_t suspected_keys_ = 0;
  FirstPlaces places_{0};
  // Reused from call to call.
  std::vector<std::string_view> suspected_;
  AnyDigests digests_;
  Answers answers_;
  mutable KeyRoom key_room_;
};

}  // namespace probably::cli
