// Any bytes as a snapshot: as they are, or with everything that follows from the rest put right, as
// somebody would who makes a file on purpose.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "endian.hpp"
#include "fuzz/harness.hpp"
#include "snapshot/body.hpp"
#include "snapshot/format.hpp"

namespace probably::fuzz {

// docs/format.md: the first byte, and where these fields are.
inline constexpr std::byte kMagicByte{0x89};
inline constexpr std::size_t kKindAt = 10;
inline constexpr std::size_t kSectionCountAt = 76;
inline constexpr std::size_t kPayloadBytesAt = 80;
inline constexpr std::size_t kSectionsAt = 96;
inline constexpr std::size_t kSectionEntryBytes = 32;
inline constexpr std::size_t kHeaderChecksumAt = detail::kHeaderBytes - 8;

inline void put(Bytes& bytes, std::size_t at, std::uint64_t word) {
  detail::store_little_endian(bytes.data() + at, word);
}

inline Result<detail::Header> header_of(std::span<const std::byte> bytes) {
  BufferSource source(bytes);
  return detail::read_header(source);
}

inline void seal_header(Bytes& bytes) {
  put(bytes, kHeaderChecksumAt, detail::checksum(std::span(bytes).first(kHeaderChecksumAt)));
}

// Puts right what follows from the rest, as far as it is there: the checksums of header, chunks and
// trailer, and the numbers of set bits.
inline void seal(Bytes& bytes) {
  if (bytes.size() < detail::kHeaderBytes) return;
  seal_header(bytes);
  const auto all = std::span(bytes);
  const auto header = header_of(bytes);
  if (!header || header->trailer_bytes() > bytes.size() - detail::kHeaderBytes) return;
  const std::size_t trailer = bytes.size() - header->trailer_bytes();

  // Bits are handed out before the trailer is looked at.
  std::vector<std::uint64_t> set_bits(header->sections.size());
  BufferSource body(all.subspan(detail::kHeaderBytes));
  static_cast<void>(detail::read_body(
      body, *header, [&](std::size_t section, std::uint64_t, std::span<const std::uint64_t> words) {
        for (const std::uint64_t word : words) {
          set_bits[section] += static_cast<std::uint64_t>(std::popcount(word));
        }
      }));
  std::size_t put_at = trailer;
  for (const std::uint64_t bits : set_bits) {
    put(bytes, put_at, bits);
    put_at += 8;
  }
  std::size_t at = detail::kHeaderBytes;
  for (const detail::Section& section : header->sections) {
    for (std::uint64_t begin = 0; begin < section.padded_bytes(); begin += header->chunk_bytes) {
      std::uint64_t size =
          std::min<std::uint64_t>(header->chunk_bytes, section.padded_bytes() - begin);
      if (header->encoding == detail::Encoding::sparse) {
        if (trailer - at < 4) return;
        size = 4 + std::uint64_t{detail::load_little_endian<std::uint32_t>(bytes.data() + at)};
      }
      if (trailer - at < size) return;
      put(bytes, put_at, detail::checksum(all.subspan(at, size)));
      at += size;
      put_at += 8;
    }
  }
  put(bytes, put_at, detail::checksum(all.subspan(trailer, put_at - trailer)));
}

// A file of its folded form, which has only what matters, so that mutations hit it: the header from
// the kind to the number of sections, their table, and the payload, if it is plain without padding.
// The result is sealed.
inline Bytes unfold(std::span<const std::byte> folded) {
  constexpr std::uint64_t kMostUnfolded = 1 << 16;
  const auto take = [&folded](std::uint64_t count) {
    const auto taken = folded.first(std::min<std::size_t>(count, folded.size()));
    folded = folded.subspan(taken.size());
    return taken;
  };
  const detail::HeaderBytes magic = detail::encode({});
  Bytes bytes(detail::kHeaderBytes);
  std::copy_n(magic.begin(), kKindAt, bytes.begin());
  std::ranges::copy(take(kPayloadBytesAt - kKindAt), bytes.begin() + kKindAt);
  const std::uint32_t sections =
      std::min(detail::load_little_endian<std::uint32_t>(bytes.data() + kSectionCountAt),
               detail::kMaxSections);
  std::ranges::copy(take(sections * kSectionEntryBytes), bytes.begin() + kSectionsAt);
  std::uint64_t payload_bytes = 0;
  for (std::size_t i = 0; i < sections; ++i) {
    const detail::Section section{.bytes = detail::load_little_endian<std::uint64_t>(
                                      bytes.data() + kSectionsAt + i * kSectionEntryBytes)};
    payload_bytes += section.padded_bytes();
  }
  put(bytes, kPayloadBytesAt, payload_bytes);
  seal_header(bytes);

  const auto header = header_of(bytes);
  if (!header || header->trailer_bytes() > kMostUnfolded) return bytes;
  if (header->encoding == detail::Encoding::sparse) {
    const auto payload = take(folded.size());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    bytes.resize((bytes.size() + 7) / 8 * 8);
  } else if (payload_bytes <= kMostUnfolded) {
    for (const detail::Section& section : header->sections) {
      const std::size_t end = bytes.size() + section.padded_bytes();
      const auto payload = take(section.bytes);
      bytes.insert(bytes.end(), payload.begin(), payload.end());
      bytes.resize(end);
    }
  }
  bytes.resize(bytes.size() + header->trailer_bytes());
  seal(bytes);
  return bytes;
}

// Calls check(bytes, header) with the snapshots that an input stands for, if they have a header:
// those that do not begin as a snapshot does are folded. refuse(bytes) gets the others.
template <class Check, class Refuse>
void for_each_snapshot(std::span<const std::byte> input, Check&& check, Refuse&& refuse) {
  const auto try_out = [&](const Bytes& bytes) {
    const auto header = header_of(bytes);
    if (header) return check(bytes, *header);
    require_sentence(header.error());
    refuse(bytes);
  };
  if (input.empty() || input.front() != kMagicByte) return try_out(unfold(input));
  Bytes bytes(input.begin(), input.end());
  try_out(bytes);
  seal(bytes);
  try_out(bytes);
}

// What a reader may hold of a file with such a header: twice the file, the filter that it declares,
// and, of a chunk, the words, the frame and what that decompresses to.
inline std::uint64_t most_memory(std::span<const std::byte> bytes, const detail::Header& header) {
  std::uint64_t chunk_bytes = 0;
  for (const detail::Section& section : header.sections) {
    chunk_bytes =
        std::max(chunk_bytes, std::min<std::uint64_t>(section.padded_bytes(), header.chunk_bytes));
  }
  if (header.encoding == detail::Encoding::sparse) chunk_bytes *= 1 + 9 + 8;
  return 2 * (bytes.size() + std::min(header.filter_bytes(), kLimitBytes) + chunk_bytes) +
         kReaderBytes;
}

}  // namespace probably::fuzz
