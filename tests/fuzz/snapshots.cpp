// Any bytes as a snapshot, and again with right checksums, as somebody would make them on purpose:
// refused, or a filter that can be asked, saved and opened again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "endian.hpp"
#include "probably/snapshot.hpp"
#include "snapshot/format.hpp"

namespace {

using namespace probably;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kMaxBytes = 1 << 24;

// Ends the run, naming the line that called.
void require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "The requirement at line %d does not hold.\n", line);
  std::abort();
}

void put(Bytes& bytes, std::size_t at, std::uint64_t word) {
  detail::store_little_endian(bytes.data() + at, word);
}

// Gives header, chunks and trailer the checksums that they should have, as far as they are there.
void seal(Bytes& bytes) {
  if (bytes.size() < detail::kHeaderBytes) return;
  const auto all = std::span(bytes);
  put(bytes, detail::kHeaderBytes - 8, detail::checksum(all.first(detail::kHeaderBytes - 8)));
  detail::HeaderBytes head;
  std::copy_n(bytes.begin(), head.size(), head.begin());
  const auto header = detail::decode(head, "the input");
  if (!header || header->trailer_bytes() > bytes.size() - detail::kHeaderBytes) return;
  const std::size_t trailer = bytes.size() - header->trailer_bytes();
  std::size_t at = detail::kHeaderBytes;
  std::size_t checksum_at = trailer + 8 * header->sections.size();
  for (const detail::Section& section : header->sections) {
    for (std::uint64_t begin = 0; begin < section.padded_bytes(); begin += header->chunk_bytes) {
      std::size_t size =
          std::min<std::uint64_t>(header->chunk_bytes, section.padded_bytes() - begin);
      if (header->encoding == detail::Encoding::sparse) {
        if (trailer - at < 4) return;
        size = 4 + detail::load_little_endian<std::uint32_t>(bytes.data() + at);
      }
      if (trailer - at < size) return;
      put(bytes, checksum_at, detail::checksum(all.subspan(at, size)));
      at += size;
      checksum_at += 8;
    }
  }
  put(bytes, bytes.size() - 8, detail::checksum(all.subspan(trailer, header->trailer_bytes() - 8)));
}

void try_to_open(const Bytes& bytes) {
  BufferSource source(bytes);
  const auto filter = open(source, {.secret = SecretKey{}, .max_bytes = kMaxBytes});
  if (!filter) {
    require(!filter.error().message.empty() && filter.error().message.back() == '.');
    return;
  }
  static_cast<void>(filter->contains("a key"));
  static_cast<void>(filter->approximate_size());
  BufferSink sink;
  require(save(*filter, sink, {.store_secret = true, .sparse = true}).has_value());
  BufferSource again(sink.bytes());
  require(open(again).value() == *filter);
}

void try_to_apply(const Bytes& bytes) {
  auto filter = BlockedBloom::create(BlockedParams{21, 8}, Hasher::xxh3(7)).value();
  filter.insert("kept");
  const auto before = filter.clone();
  BufferSource source(bytes);
  const bool is_applied = apply_delta(filter, source).has_value();
  require(filter.contains("kept"));
  require(is_applied || filter == before);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* const begin = reinterpret_cast<const std::byte*>(data);
  Bytes bytes(begin, begin + size);
  try_to_open(bytes);
  seal(bytes);
  try_to_open(bytes);
  try_to_apply(bytes);
  return 0;
}
