#include "interop/bits.hpp"

#include <algorithm>
#include <vector>

#include "probably/detail/atomic.hpp"

namespace probably::interop {
namespace {

constexpr std::size_t kChunkWords = 8192;
constexpr std::uint64_t kMaxBits = std::uint64_t{1} << 60;
constexpr std::uint64_t kMaxHashes = 64;

}  // namespace

Result<Storage> read_words(ByteSource& source, std::uint64_t bits, std::uint64_t stored_words,
                           Order order, const ReadOptions& options) {
  const std::uint64_t words = (bits + 63) / 64;
  if (const auto left = source.bytes_left(); left && *left / 8 < stored_words) {
    return corrupt(source.name(), "it ends before its bits do");
  }
  if (words * 8 > options.max_bytes) {
    return detail::too_large(source.name(), words * 8, options.max_bytes);
  }
  auto storage = Storage::allocate(words * 8, options.storage);
  if (!storage) return storage;
  std::uint64_t* const to = storage->mutable_words();
  std::vector<std::uint64_t> chunk(kChunkWords);
  for (std::uint64_t first = 0; first < stored_words; first += kChunkWords) {
    const std::span some(chunk.data(), static_cast<std::size_t>(std::min<std::uint64_t>(
                                           kChunkWords, stored_words - first)));
    if (auto got = detail::read_all(source, std::as_writable_bytes(some)); !got) return got.error();
    for (std::size_t i = 0; i < some.size() && first + i < words; ++i) {
      // Pages that hold no bit stay untouched.
      if (some[i] != 0) to[first + i] = in_order(some[i], order);
    }
  }
  if (bits % 64 != 0) to[words - 1] &= (std::uint64_t{1} << (bits % 64)) - 1;
  return storage;
}

Result<void> write_words(std::span<const std::uint64_t> words, ByteSink& sink, Order order) {
  std::vector<std::uint64_t> chunk(std::min(words.size(), kChunkWords));
  while (!words.empty()) {
    const auto some = words.first(std::min(words.size(), kChunkWords));
    std::ranges::transform(some, chunk.begin(), [order](const std::uint64_t& word) {
      return in_order(detail::load_relaxed(word), order);
    });
    if (auto done = sink.write(std::as_bytes(std::span(chunk).first(some.size()))); !done) {
      return done;
    }
    words = words.subspan(some.size());
  }
  return {};
}

Result<std::vector<std::byte>> read_to_end(ByteSource& source, std::uint64_t max_bytes) {
  std::vector<std::byte> all;
  std::array<std::byte, 65536> room;
  for (;;) {
    const auto count = source.read(room);
    if (!count) return count.error();
    if (*count == 0) return all;
    all.insert(all.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count));
    if (all.size() > max_bytes) {
      return Error{ErrorCode::too_large, source.name() + " goes on for more than " +
                                             text(max_bytes) + " bytes, which is the limit."};
    }
  }
}

Result<void> check_geometry(const std::string& name, std::uint64_t bits, std::uint64_t hashes) {
  if (bits == 0) return corrupt(name, "it has no bits");
  if (hashes == 0) return corrupt(name, "it has no hashes");
  if (bits > kMaxBits) return corrupt(name, "it claims " + text(bits) + " bits");
  if (hashes > kMaxHashes) {
    return Error{ErrorCode::unsupported,
                 name + " has " + text(hashes) + " hashes; up to 64 are supported."};
  }
  return {};
}

}  // namespace probably::interop
