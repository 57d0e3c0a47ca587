#include "snapshot/body.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "count_bits.hpp"
#include "endian.hpp"
#include "probably/detail/atomic.hpp"
#include "snapshot/sparse.hpp"
#include "text.hpp"

namespace probably::detail {
namespace {

constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);
// Before each frame of a sparse payload.
constexpr std::size_t kFrameSizeBytes = sizeof(std::uint32_t);

// A part of a section that has a checksum of its own. `bytes` ends with a page, `words` with the
// section.
struct ChunkShape {
  std::uint64_t first_word;
  std::size_t words;
  std::size_t bytes;
};

ChunkShape shape_of(const Section& section, std::uint64_t chunk, std::uint32_t chunk_bytes) {
  const std::uint64_t begin = chunk * chunk_bytes;
  const std::uint64_t in_use =
      std::min<std::uint64_t>(chunk_bytes, section.bytes - std::min(begin, section.bytes));
  const std::uint64_t stored = std::min<std::uint64_t>(chunk_bytes, section.padded_bytes() - begin);
  return {begin / kWordBytes, static_cast<std::size_t>(in_use / kWordBytes),
          static_cast<std::size_t>(stored)};
}

// Room for the largest chunk that there is, which may be far smaller than one could be.
std::vector<std::uint64_t> room_for_chunk(const Header& header) {
  std::uint64_t bytes = 0;
  for (const Section& section : header.sections) bytes = std::max(bytes, section.padded_bytes());
  bytes = std::min<std::uint64_t>(bytes, header.chunk_bytes);
  return std::vector<std::uint64_t>(static_cast<std::size_t>(bytes / kWordBytes));
}

// Calls work(section number, section, shape) for each chunk, as long as that succeeds.
template <class Work>
Result<void> for_each_chunk(const Header& header, Work&& work) {
  for (std::size_t i = 0; i < header.sections.size(); ++i) {
    const Section& section = header.sections[i];
    for (std::uint64_t chunk = 0; chunk < header.chunk_count(section); ++chunk) {
      auto done = work(i, shape_of(section, chunk, header.chunk_bytes));
      if (!done) return done;
    }
  }
  return {};
}

// To the order of bytes in files, or back.
void change_order(std::span<std::uint64_t> words) noexcept {
  if constexpr (std::endian::native != std::endian::little) {
    for (std::uint64_t& word : words) word = little_endian(word);
  }
}

std::vector<std::byte> encode_trailer(const Trailer& trailer) {
  std::vector<std::byte> bytes((trailer.set_bits.size() + trailer.checksums.size() + 1) *
                               kWordBytes);
  std::byte* next = bytes.data();
  const auto put = [&next](std::uint64_t word) {
    store_little_endian(next, word);
    next += kWordBytes;
  };
  std::ranges::for_each(trailer.set_bits, put);
  std::ranges::for_each(trailer.checksums, put);
  put(checksum(std::span(bytes).first(bytes.size() - kWordBytes)));
  return bytes;
}

// Zeros that make a sparse payload end with a whole word.
std::size_t padding_after(std::uint64_t stored_bytes) noexcept {
  return static_cast<std::size_t>((kWordBytes - stored_bytes % kWordBytes) % kWordBytes);
}

// Reads chunks of either encoding as words.
class ChunkReader {
 public:
  ChunkReader(ByteSource& source, const Header& header)
      : source_(source), words_(room_for_chunk(header)) {
    if (header.encoding == Encoding::sparse) decoder_.emplace();
  }

  // The words of the next chunk, valid until the next call; its checksum is in checksum().
  Result<std::span<const std::uint64_t>> read(const ChunkShape& shape) {
    return decoder_ ? read_sparse(shape) : read_plain(shape);
  }
  [[nodiscard]] std::uint64_t checksum() const noexcept { return checksum_; }

  // What lies between a sparse payload and its trailer.
  Result<void> read_padding() {
    std::array<std::byte, kWordBytes> zeros{};
    const auto padding = std::span(zeros).first(decoder_ ? padding_after(stored_bytes_) : 0);
    if (auto got = read_all(source_, padding); !got) return got;
    if (!std::ranges::all_of(padding, [](std::byte b) { return b == std::byte{0}; })) {
      return corrupt(source_.name(), "the padding of its payload is not zero");
    }
    return {};
  }

 private:
  using Words = std::span<const std::uint64_t>;

  Result<Words> read_plain(const ChunkShape& shape) {
    const std::span stored(words_.data(), shape.bytes / kWordBytes);
    if (auto got = read_all(source_, std::as_writable_bytes(stored)); !got) return got.error();
    checksum_ = detail::checksum(std::as_bytes(stored));
    change_order(stored);
    if (count_bits(stored.subspan(shape.words)) != 0) {
      return corrupt(source_.name(), "the padding of a section is not zero");
    }
    return Words(stored.first(shape.words));
  }

  Result<Words> read_sparse(const ChunkShape& shape) {
    frame_.resize(kFrameSizeBytes);
    if (auto got = read_all(source_, frame_); !got) return got.error();
    const auto size = load_little_endian<std::uint32_t>(frame_.data());
    if (size > SparseDecoder::max_frame_bytes(shape.bytes)) {
      return corrupt(source_.name(), "a compressed chunk has " + text(size) + " bytes");
    }
    frame_.resize(kFrameSizeBytes + size);
    const auto frame = std::span(frame_).subspan(kFrameSizeBytes);
    if (auto got = read_all(source_, frame); !got) return got.error();
    checksum_ = detail::checksum(frame_);
    stored_bytes_ += frame_.size();
    const std::span words(words_.data(), shape.words);
    std::ranges::fill(words, 0);
    if (size != 0 && !decoder_->decode(frame, words)) {
      return corrupt(source_.name(), "a compressed chunk does not hold places of bits");
    }
    return Words(words);
  }

  ByteSource& source_;
  std::vector<std::uint64_t> words_;
  std::vector<std::byte> frame_;
  std::optional<SparseDecoder> decoder_;
  std::uint64_t checksum_ = 0;
  std::uint64_t stored_bytes_ = 0;
};

}  // namespace

Result<void> expect_size(const ByteSource& source, const Header& header) {
  const auto left = source.bytes_left();
  if (!left) return {};
  const std::uint64_t trailer = header.trailer_bytes();
  if (header.encoding == Encoding::sparse) {
    // Each chunk has a size at least.
    if (*left >= trailer && *left - trailer >= kFrameSizeBytes * header.chunk_count()) return {};
    return corrupt(source.name(), "it ends before its chunks can");
  }
  if (*left >= header.payload_bytes() + trailer) return {};
  return corrupt(source.name(), "it ends after " + text(kHeaderBytes + *left) + " bytes of " +
                                    text(kHeaderBytes + header.payload_bytes() + trailer));
}

Result<void> write_snapshot(const Contents& contents, ByteSink& sink,
                            const ForgetKnown& forget_known) {
  const Header& header = contents.header;
  if (auto done = sink.write(encode(header)); !done) return done;

  Trailer trailer;
  trailer.set_bits.resize(header.sections.size());
  std::optional<SparseEncoder> encoder;
  if (header.encoding == Encoding::sparse) encoder.emplace();
  std::vector<std::uint64_t> words = room_for_chunk(header);
  std::vector<std::byte> frame;
  std::uint64_t stored_bytes = 0;

  const auto write_chunk = [&](std::size_t section, const ChunkShape& shape) -> Result<void> {
    const std::uint64_t* const from = contents.words[section] + shape.first_word;
    const std::span copied(words.data(), shape.words);
    for (std::size_t i = 0; i < copied.size(); ++i) copied[i] = load_relaxed(from[i]);
    if (forget_known) forget_known(section, shape.first_word, copied);
    trailer.set_bits[section] += count_bits(copied);
    std::span<const std::byte> stored;
    if (encoder) {
      const auto gaps = encoder->encode(copied);
      frame.resize(kFrameSizeBytes);
      store_little_endian(frame.data(), static_cast<std::uint32_t>(gaps.size()));
      frame.insert(frame.end(), gaps.begin(), gaps.end());
      stored = frame;
    } else {
      const std::span padded(words.data(), shape.bytes / kWordBytes);
      std::ranges::fill(padded.subspan(shape.words), 0);
      change_order(padded);
      stored = std::as_bytes(padded);
    }
    trailer.checksums.push_back(checksum(stored));
    stored_bytes += stored.size();
    return sink.write(stored);
  };
  if (auto done = for_each_chunk(header, write_chunk); !done) return done;
  const std::array<std::byte, kWordBytes> zeros{};
  if (auto done = sink.write(std::span(zeros).first(padding_after(stored_bytes))); !done) {
    return done;
  }
  return sink.write(encode_trailer(trailer));
}

Result<void> read_all(ByteSource& source, std::span<std::byte> room) {
  while (!room.empty()) {
    const auto count = source.read(room);
    if (!count) return count.error();
    if (*count == 0) return corrupt(source.name(), "it ends too early");
    room = room.subspan(*count);
  }
  return {};
}

Result<void> expect_end(ByteSource& source) {
  std::byte more{};
  const auto count = source.read(std::span(&more, 1));
  if (!count) return count.error();
  if (*count == 0) return {};
  return corrupt(source.name(), "it goes on behind its end");
}

Result<Header> read_header(ByteSource& source) {
  HeaderBytes bytes{};
  std::size_t size = 0;
  while (size < bytes.size()) {
    const auto count = source.read(std::span(bytes).subspan(size));
    if (!count) return count.error();
    if (*count == 0) return too_short(std::span(bytes).first(size), source.name());
    size += *count;
  }
  return decode(bytes, source.name());
}

Result<void> read_body(ByteSource& source, const Header& header, const TakeWords& take) {
  if (auto fits = expect_size(source, header); !fits) return fits;
  Trailer seen;
  seen.set_bits.resize(header.sections.size());
  ChunkReader chunks(source, header);
  const auto read_chunk = [&](std::size_t section, const ChunkShape& shape) -> Result<void> {
    const auto words = chunks.read(shape);
    if (!words) return words.error();
    seen.checksums.push_back(chunks.checksum());
    const std::uint64_t bits = count_bits(*words);
    seen.set_bits[section] += bits;
    const bool ends_section =
        shape.first_word + words->size() == header.sections[section].bytes / kWordBytes;
    if (ends_section && !words->empty() && (words->back() & ~header.last_word_bits()) != 0) {
      return corrupt(source.name(), "bits behind the last one are set");
    }
    if (bits != 0) take(section, shape.first_word, *words);
    return {};
  };
  if (auto done = for_each_chunk(header, read_chunk); !done) return done;
  if (auto done = chunks.read_padding(); !done) return done;

  // As large as what was read by now.
  std::vector<std::byte> bytes(static_cast<std::size_t>(header.trailer_bytes()));
  if (auto got = read_all(source, bytes); !got) return got;
  const auto trailer = decode_trailer(bytes, header, source.name());
  if (!trailer) return trailer.error();
  const auto [ours, theirs] = std::ranges::mismatch(seen.checksums, trailer->checksums);
  if (ours != seen.checksums.end()) {
    const auto chunk = static_cast<std::uint64_t>(ours - seen.checksums.begin());
    return corrupt(source.name(), "the checksum of chunk " + text(chunk + 1) + " of " +
                                      text(std::uint64_t{seen.checksums.size()}) + " is wrong");
  }
  if (seen.set_bits != trailer->set_bits) {
    return corrupt(source.name(), "it has another number of set bits than it says");
  }
  return {};
}

Result<Trailer> decode_trailer(std::span<const std::byte> bytes, const Header& header,
                               const std::string& name) {
  const auto word = [&bytes](std::size_t i) {
    return load_little_endian<std::uint64_t>(bytes.data() + i * kWordBytes);
  };
  const std::size_t count = bytes.size() / kWordBytes;
  if (word(count - 1) != checksum(bytes.first(bytes.size() - kWordBytes))) {
    return corrupt(name, "the checksum of its trailer is wrong");
  }
  Trailer trailer;
  const std::size_t sections = header.sections.size();
  for (std::size_t i = 0; i < sections; ++i) trailer.set_bits.push_back(word(i));
  for (std::size_t i = sections; i + 1 < count; ++i) trailer.checksums.push_back(word(i));
  return trailer;
}

}  // namespace probably::detail
