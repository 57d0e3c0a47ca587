// RedisBloom's BF.SCANDUMP. The header: u64 keys, u32 links, u32 options, u32 growth, and 53 bytes
// for each link: u64 bytes, u64 bits, u64 keys, f64 rate, f64 bits per key, u32 hashes, u64
// capacity, u8 log2 of the bits, or 0. Then the bits of each. All of it least byte first.
#include <bit>
#include <cmath>

#include "interop/bits.hpp"
#include "snapshot/contents.hpp"

namespace probably::interop {
namespace {

constexpr std::size_t kHeadBytes = 20;
constexpr std::size_t kLinkBytes = 53;
constexpr std::uint32_t kForce64 = 4;
constexpr std::uint32_t kNoScaling = 8;
const std::string kName = "The dump";

// The chunks behind the header as one source.
class ChunksSource final : public ByteSource {
 public:
  explicit ChunksSource(std::span<const std::span<const std::byte>> chunks) noexcept
      : chunks_(chunks) {}
  Result<std::size_t> read(std::span<std::byte> room) override {
    while (!chunks_.empty() && offset_ == chunks_.front().size()) {
      chunks_ = chunks_.subspan(1);
      offset_ = 0;
    }
    if (chunks_.empty()) return std::size_t{0};
    const auto some = chunks_.front().subspan(offset_);
    const std::size_t count = std::min(some.size(), room.size());
    std::copy_n(some.begin(), count, room.begin());
    offset_ += count;
    return count;
  }
  [[nodiscard]] std::optional<std::uint64_t> bytes_left() const override {
    std::uint64_t sum = 0;
    for (const auto& chunk : chunks_) sum += chunk.size();
    return sum - offset_;
  }
  [[nodiscard]] std::string name() const override { return kName; }

 private:
  std::span<const std::span<const std::byte>> chunks_;
  std::size_t offset_ = 0;
};

struct LinkHeader {
  RedisParams params;
  std::uint64_t keys;
  double fpr;
  std::uint64_t capacity;
};

Result<LinkHeader> read_link(std::span<const std::byte> bytes) {
  const auto word = [&bytes](std::size_t at) {
    return detail::load_little_endian<std::uint64_t>(bytes.data() + at);
  };
  const std::uint64_t stored_bytes = word(0);
  const std::uint64_t bits = word(8);
  const auto hashes = detail::load_little_endian<std::uint32_t>(bytes.data() + 40);
  if (auto valid = check_geometry(kName, bits, hashes); !valid) return valid.error();
  if (bytes[52] != std::byte{0}) {
    return Error{
        ErrorCode::unsupported,
        kName + " has a link whose number of bits is a power of two, as old versions made."};
  }
  if (bits % 64 != 0 || stored_bytes != bits / 8) {
    return corrupt(kName,
                   "a link has " + text(stored_bytes) + " bytes for " + text(bits) + " bits");
  }
  const LinkHeader link{{bits, hashes}, word(16), std::bit_cast<double>(word(24)), word(44)};
  if (link.capacity < 1 || link.capacity > kMaxKeys || link.keys > kMaxKeys) {
    return corrupt(kName, "a link claims " + text(link.keys) + " keys of " + text(link.capacity));
  }
  return link;
}

}  // namespace

Result<RedisChain> read_redis_dump(std::span<const std::span<const std::byte>> chunks,
                                   const ReadOptions& options) {
  while (!chunks.empty() && chunks.front().empty()) chunks = chunks.subspan(1);
  if (chunks.empty() || chunks.front().size() < kHeadBytes) {
    return corrupt(kName, "its header is too short");
  }
  const auto head = chunks.front();
  const auto half = [&head](std::size_t at) {
    return detail::load_little_endian<std::uint32_t>(head.data() + at);
  };
  const std::uint32_t count = half(8);
  const std::uint32_t flags = half(12);
  const std::uint32_t growth = half(16);
  if (count < 1 || head.size() != kHeadBytes + std::uint64_t{count} * kLinkBytes) {
    return corrupt(kName, "its header has " + text(std::uint64_t{head.size()}) + " bytes for " +
                              text(count) + " links");
  }
  if (count > RedisChain::kMaxLinks) {
    return Error{ErrorCode::unsupported, kName + " has " + text(count) + " links; up to " +
                                             text(RedisChain::kMaxLinks) + " are supported."};
  }
  // A growth of 0 leaves no room for another link.
  const bool grows = (flags & kNoScaling) == 0 && growth != 0;
  if (!grows && count != 1) {
    return corrupt(kName, "it has " + text(count) + " links and must not grow");
  }
  if ((flags & kForce64) == 0) {
    return Error{ErrorCode::unsupported, kName + " is of a filter that hashes to 32 bits."};
  }

  std::vector<LinkHeader> headers;
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto link = read_link(head.subspan(kHeadBytes + i * kLinkBytes, kLinkBytes));
    if (!link) return link.error();
    headers.push_back(*link);
    bytes += link->params.size_bytes();
  }
  const RedisChainParams params{.first_keys = headers.front().capacity,
                                // The first link has half of the rate that was asked for.
                                .fpr = grows ? 2 * headers.front().fpr : headers.front().fpr,
                                .growth = grows ? growth : 0};
  if (auto valid = params.validate(); !valid) {
    return Error{ErrorCode::unsupported,
                 kName + " is beyond what this library can: " + valid.error().message};
  }
  if (bytes > options.max_bytes) return detail::too_large(kName, bytes, options.max_bytes);

  ChunksSource source(chunks.subspan(1));
  if (*source.bytes_left() != bytes) {
    return corrupt(kName, "it has " + text(*source.bytes_left()) + " bytes of bits where " +
                              text(bytes) + " belong");
  }
  std::vector<std::pair<RedisBloom, std::uint64_t>> links;
  for (const LinkHeader& link : headers) {
    auto storage =
        read_words(source, link.params.bits, link.params.bits / 64, Order::least_first, options);
    if (!storage) return storage.error();
    auto filter = RedisBloom::adopt(link.params, {}, *std::move(storage));
    if (!filter) return filter.error();
    links.emplace_back(*std::move(filter), link.keys);
  }
  return detail::SnapshotAccess::from_links(params, options.storage, std::move(links));
}

}  // namespace probably::interop
