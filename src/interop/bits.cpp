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
  // Also those that are dropped, or a stream might go on for ever.
  if (const std::uint64_t most = std::max(words, stored_words); most > options.max_bytes / 8) {
    return detail::too_large(source.name(), most * 8, options.max_bytes);
  }
  auto storage = Storage::allocate(words * 8, options.storage);
  if (!storage) return storage;
  std::uint64_t* const to = storage->mutable_words();
  std::vector<std::uint64_t> chunk(
      static_cast<std::size_t>(std::min<std::uint64_t>(kChunkWords, stored_words)));
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
  // What grows is there twice for a moment, so it grows at once, or never beyond the limit.
  const auto make_room = [&](std::uint64_t bytes) {
    if (bytes > all.capacity()) {
      all.reserve(static_cast<std::size_t>(
          std::clamp<std::uint64_t>(2 * all.capacity(), bytes, max_bytes)));
    }
  };
  make_room(std::min(source.bytes_left().value_or(0), max_bytes));
  std::array<std::byte, 65536> room;
  for (;;) {
    const auto count = source.read(room);
    if (!count) return count.error();
    if (*count == 0) return all;
    const std::uint64_t size = all.size() + *count;
    if (size > max_bytes) {
      return Error{ErrorCode::too_large, source.name() + " goes on for more than " +
                                             text(max_bytes) + " bytes, which is the limit."};
    }
    make_room(size);
    all.insert(all.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count));
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
