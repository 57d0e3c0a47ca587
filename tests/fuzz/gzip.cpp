// Any bytes as gzip, and as a compressed file of DCSO's bloom.
#include <array>

#include "fuzz/foreign_file.hpp"

namespace {

using namespace probably;
using fuzz::Bytes;
using fuzz::require;

// A few bytes can stand for very many, which is slow, and no more interesting than some.
constexpr std::uint64_t kMostBytes = 1 << 17;

// All that comes, up to a limit, read in pieces of so many bytes.
Result<Bytes> decompress(ByteSource&& compressed, std::size_t piece_bytes) {
  GzipSource source(compressed);
  Bytes all;
  std::array<std::byte, 4096> room;
  while (all.size() < kMostBytes) {
    const auto count = source.read(std::span(room).first(piece_bytes));
    if (!count) return count.error();
    require(*count <= piece_bytes);
    if (*count == 0) {
      // An end stays one.
      require(source.read(room).value() == 0);
      return all;
    }
    all.insert(all.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count));
  }
  all.resize(kMostBytes);
  return all;
}

bool is_cut(const Result<Bytes>& all) { return all && all->size() == kMostBytes; }

Result<void> compress(const Bytes& bytes, ByteSink& sink) {
  GzipSink compressed(sink);
  if (auto done = compressed.write(bytes); !done) return done;
  return compressed.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = fuzz::as_input(data, size);
  const auto all = fuzz::within(2 * (bytes.size() + kMostBytes) + fuzz::kReaderBytes,
                                [&] { return decompress(BufferSource(bytes), 4096); });
  const auto streamed = decompress(fuzz::PiecewiseSource(bytes), 1000);
  // Who stops in the middle may, or may not, have met what is wrong behind it.
  if (!is_cut(all) && !is_cut(streamed)) {
    require(all.has_value() == streamed.has_value());
    if (all) {
      require(*all == *streamed);
      require(decompress(BufferSource(fuzz::written(compress, *all)), 4096).value() == *all);
    } else {
      fuzz::require_sentence(all.error());
    }
  }

  const auto read = [](ByteSource& compressed, const interop::ReadOptions&) {
    GzipSource source(compressed);
    return interop::read_dcso(source, {.max_bytes = kMostBytes});
  };
  const auto write = [](const interop::DcsoFile& file, ByteSink& sink) -> Result<void> {
    GzipSink compressed(sink);
    if (auto done = interop::write_dcso(file, compressed); !done) return done;
    return compressed.finish();
  };
  auto file = fuzz::read_and_write(bytes, read, write, kMostBytes);
  if (file) fuzz::use(file->filter);
  return 0;
}
