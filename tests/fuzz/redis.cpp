// Any bytes as the chunks of BF.SCANDUMP, before each of which stand two bytes with its length.
#include "endian.hpp"
#include "fuzz/foreign_file.hpp"
#include "probably/snapshot.hpp"

namespace {

using namespace probably;
using fuzz::require;
using Chunk = std::span<const std::byte>;

std::vector<Chunk> chunks_of(std::span<const std::byte> bytes) {
  std::vector<Chunk> chunks;
  while (bytes.size() >= 2) {
    const std::size_t size = detail::load_little_endian<std::uint16_t>(bytes.data());
    bytes = bytes.subspan(2);
    chunks.push_back(bytes.first(std::min(size, bytes.size())));
    bytes = bytes.subspan(chunks.back().size());
  }
  return chunks;
}

// The header, and the bits byte by byte with nothing between them.
std::vector<Chunk> cut_finely(const std::vector<Chunk>& chunks) {
  std::vector<Chunk> fine;
  for (const Chunk& chunk : chunks) {
    if (fine.empty()) {
      if (!chunk.empty()) fine.push_back(chunk);
      continue;
    }
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      fine.push_back(chunk.subspan(i, 1));
      fine.emplace_back();
    }
  }
  return fine;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto chunks = chunks_of(fuzz::as_input(data, size));
  auto chain = fuzz::within(2 * size + fuzz::kReaderBytes,
                            [&] { return interop::read_redis_dump(chunks, fuzz::kReadOptions); });
  const auto fine = interop::read_redis_dump(cut_finely(chunks), fuzz::kReadOptions);
  require(chain.has_value() == fine.has_value());
  if (!chain) {
    fuzz::require_sentence(chain.error());
    return 0;
  }
  require(*chain == *fine);
  BufferSink sink;
  require(save(*chain, sink).has_value());
  BufferSource source(sink.bytes());
  require(open<RedisChain>(source).value() == *chain);
  fuzz::use(*chain);
  return 0;
}
