// Sources and sinks: what is compressed comes out whole, or is refused.
#include "probably/io.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace probably {
namespace {

using Bytes = std::vector<std::byte>;

Bytes sample(std::size_t size) {
  std::mt19937_64 random(size);
  Bytes bytes(size);
  // Half of it compresses.
  for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte(i % 2 == 0 ? random() : 7);
  return bytes;
}

Bytes zstd(const Bytes& bytes) {
  Bytes out(ZSTD_compressBound(bytes.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

Bytes gzip(const Bytes& bytes) {
  BufferSink sink;
  GzipSink compressed(sink);
  compressed.write(bytes).value();
  compressed.finish().value();
  return sink.bytes();
}

Bytes joined(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Gives so many bytes at a time at most, and fails after the last if it shall.
class SlowSource final : public ByteSource {
 public:
  SlowSource(const Bytes& bytes, std::size_t step, bool fails = false)
      : source_(bytes), step_(step), fails_(fails) {}
  Result<std::size_t> read(std::span<std::byte> room) override {
    auto count = source_.read(room.first(std::min(step_, room.size())));
    if (fails_ && *count == 0) return Error{ErrorCode::io, "The disk failed."};
    return count;
  }

 private:
  BufferSource source_;
  std::size_t step_;
  bool fails_;
};

template <class Source>
Result<Bytes> decompress(ByteSource& compressed, std::size_t room_size) {
  Source source(compressed);
  Bytes out;
  Bytes room(room_size);
  for (;;) {
    const auto count = source.read(room);
    if (!count) return count.error();
    if (*count == 0) break;
    out.insert(out.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count));
  }
  // The end stays the end.
  EXPECT_EQ(source.read(room).value(), 0u);
  return out;
}

struct Zstd {
  using Source = ZstdSource;
  static Bytes compress(const Bytes& bytes) { return zstd(bytes); }
};
struct Gzip {
  using Source = GzipSource;
  static Bytes compress(const Bytes& bytes) { return gzip(bytes); }
};

template <class Format>
class Decompression : public ::testing::Test {
 protected:
  static Result<Bytes> decompress_all(const Bytes& bytes, std::size_t step = 4096,
                                      std::size_t room = 4096) {
    SlowSource source(bytes, step);
    return decompress<typename Format::Source>(source, room);
  }
};
using Formats = ::testing::Types<Zstd, Gzip>;
TYPED_TEST_SUITE(Decompression, Formats);

TYPED_TEST(Decompression, GivesWhatWentIn) {
  for (const std::size_t size : {0u, 1u, 1'000u, 300'000u}) {
    const Bytes bytes = sample(size);
    const Bytes compressed = TypeParam::compress(bytes);
    EXPECT_EQ(this->decompress_all(compressed, 70'000, 1'000'000).value(), bytes);
    EXPECT_EQ(this->decompress_all(compressed, 3, 1'000).value(), bytes);
    if (size <= 1'000) {
      EXPECT_EQ(this->decompress_all(compressed, 1, 1).value(), bytes);
    }
  }
}

TYPED_TEST(Decompression, TakesSeveralPartsAsOne) {
  const Bytes first = sample(5'000);
  const Bytes second = sample(100);
  const Bytes both = joined(joined(TypeParam::compress(first), TypeParam::compress({})),
                            TypeParam::compress(second));
  EXPECT_EQ(this->decompress_all(both).value(), joined(first, second));
}

TYPED_TEST(Decompression, RefusesWhatEndsTooEarly) {
  const Bytes whole = TypeParam::compress(sample(1'000));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto result = this->decompress_all(part);
    ASSERT_FALSE(result) << size;
    EXPECT_EQ(result.error().code, ErrorCode::corrupt);
  }
}

TYPED_TEST(Decompression, RefusesWhatFollows) {
  const Bytes whole = joined(TypeParam::compress(sample(1'000)), sample(10));
  const auto result = this->decompress_all(whole);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::corrupt);
}

TYPED_TEST(Decompression, PassesErrorsOn) {
  Bytes part = TypeParam::compress(sample(10'000));
  part.resize(part.size() / 2);
  SlowSource source(part, 100, true);
  const auto result = decompress<typename TypeParam::Source>(source, 4096);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::io);
}

TEST(ZstdSource, SaysWhenTheWindowIsTooLarge) {
  // A frame whose header asks for a window of 2 GiB.
  const Bytes frame{std::byte{0x28}, std::byte{0xb5}, std::byte{0x2f},
                    std::byte{0xfd}, std::byte{0x00}, std::byte{0xa8},
                    std::byte{0x01}, std::byte{0x00}, std::byte{0x00}};
  SlowSource source(frame, 100);
  const auto result = decompress<ZstdSource>(source, 4096);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::unsupported) << result.error().message;
}

}  // namespace
}  // namespace probably
