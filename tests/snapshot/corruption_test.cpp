// Bytes that are not what was written: every flipped bit, every length, every field, and files that
// somebody made on purpose, with right checksums.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <limits>
#include <random>

#include "endian.hpp"
#include "snapshot/format.hpp"
#include "support/golden.hpp"
#include "support/mapping.hpp"
#include "support/streams.hpp"
#include "support/temporary_file.hpp"

namespace probably {
namespace {

using detail::checksum;
using detail::kHeaderBytes;
using testing::DigestStream;
using testing::golden_files;
using testing::golden_secret;
using testing::TemporaryFile;

using Bytes = std::vector<std::byte>;

constexpr std::array<std::uint64_t, 6> kEdges = {0,
                                                 1,
                                                 std::uint64_t{1} << 31,
                                                 std::uint64_t{1} << 32,
                                                 (std::uint64_t{1} << 63) - 1,
                                                 ~std::uint64_t{0}};

struct Sample {
  std::string name;
  Bytes bytes;
};

// Small ones, of every kind and encoding.
std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const auto& golden : golden_files()) {
    BufferSink sink;
    save(golden.make(), sink, golden.options).value();
    all.push_back({golden.file, sink.bytes()});
  }
  return all;
}

Result<AnyFilter> open_bytes(std::span<const std::byte> bytes) {
  BufferSource source(bytes);
  return open(source, {.secret = golden_secret(), .max_bytes = 1 << 30});
}

bool is_refused(std::span<const std::byte> bytes) {
  const auto filter = open_bytes(bytes);
  return !filter && (filter.error().code == ErrorCode::corrupt ||
                     filter.error().code == ErrorCode::unsupported);
}

void set_word(Bytes& bytes, std::size_t at, std::uint64_t value) {
  detail::store_little_endian(bytes.data() + at, value);
}

// As whoever makes a file on purpose would.
void seal_header(Bytes& bytes) {
  set_word(bytes, kHeaderBytes - 8, checksum(std::span(bytes).first(kHeaderBytes - 8)));
}

TEST(Corruption, EveryFlippedBitIsFound) {
  // The example has one page of bits: the whole of it is tried, of the others every 37th bit.
  for (Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    const std::size_t step = sample.name == "example.probably" ? 1 : 37;
    ASSERT_TRUE(open_bytes(sample.bytes));
    for (std::size_t bit = 0; bit < 8 * sample.bytes.size(); bit += step) {
      sample.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      ASSERT_TRUE(is_refused(sample.bytes)) << "bit " << bit;
      sample.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
  }
}

TEST(Corruption, EveryTruncationIsFound) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    const std::size_t step = sample.name == "example.probably" ? 1 : 37;
    for (std::size_t size = 0; size < sample.bytes.size(); size += step) {
      ASSERT_TRUE(is_refused(std::span(sample.bytes).first(size))) << "length " << size;
    }
  }
}

TEST(Corruption, IsFoundInFilesAsWell) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    for (std::size_t bit = 5; bit < 8 * sample.bytes.size(); bit += 4999) {
      Bytes damaged = sample.bytes;
      damaged[bit / 8] ^= std::byte{1} << (bit % 8);
      const TemporaryFile file(damaged);
      EXPECT_FALSE(open(file.path(), {.secret = golden_secret()})) << bit;
      EXPECT_FALSE(verify(file.path())) << bit;
      EXPECT_FALSE(map(file.path(), {.secret = golden_secret()})) << bit;
    }
    for (std::size_t size = 0; size < sample.bytes.size(); size += 1009) {
      const TemporaryFile file(std::span(sample.bytes).first(size));
      EXPECT_FALSE(open(file.path(), {.secret = golden_secret()})) << size;
      EXPECT_FALSE(verify(file.path())) << size;
      EXPECT_FALSE(peek(file.path())) << size;
      EXPECT_FALSE(map(file.path(), {.verify = Verify::later, .secret = golden_secret()})) << size;
    }
  }
}

TEST(Corruption, LaterVerificationFindsIt) {
  Bytes bytes = samples().front().bytes;
  bytes[kHeaderBytes + 100] ^= std::byte{1};
  const TemporaryFile file(bytes);
  const auto mapped = map(file.path(), {.verify = Verify::later});
  if (!testing::is_mapped(mapped)) return;
  EXPECT_EQ(mapped->chunk_count(), 1u);
  EXPECT_FALSE(mapped->verify_chunk(0));
  ASSERT_FALSE(mapped->verify());
  EXPECT_EQ(mapped->verify().error().code, ErrorCode::corrupt);
}

// Every word of the header becomes what it must not be. With the old checksum that is found; with a
// new one the file is another's file, and must not do harm.
TEST(Corruption, EdgeValuesInTheHeaderDoNoHarm) {
  std::uint64_t tried = 0;
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    for (std::size_t at = 0; at < 256; ++at) {
      for (const std::uint64_t edge : kEdges) {
        for (const std::size_t width : {1u, 2u, 4u, 8u}) {
          if (at % width != 0) continue;
          Bytes damaged = sample.bytes;
          for (std::size_t i = 0; i < width; ++i) {
            damaged[at + i] = static_cast<std::byte>(edge >> (8 * i));
          }
          if (damaged == sample.bytes) continue;
          ASSERT_TRUE(is_refused(damaged)) << "offset " << at << ", value " << edge;
          seal_header(damaged);
          const auto filter = open_bytes(damaged);
          if (filter) {
            // What it claims is then what it holds.
            BufferSink sink;
            ASSERT_TRUE(save(*filter, sink, {.store_secret = true, .created = 0}));
            BufferSource again(sink.bytes());
            EXPECT_TRUE(open(again).value() == *filter);
          }
          BufferSource source(damaged);
          static_cast<void>(verify(source));
          ++tried;
        }
      }
    }
  }
  EXPECT_GT(tried, 10'000u);
}

TEST(Corruption, PromisesThatAreNoRates) {
  BufferSink sink;
  save(BlockedBloom::create(BlockedParams{1, 8}).value(), sink, {.promised_fpr = 0.25}).value();
  for (const double promise : {-0.0, -0.25, 1.0, 2.0, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
    Bytes bytes = sink.bytes();
    set_word(bytes, 88, std::bit_cast<std::uint64_t>(promise));
    seal_header(bytes);
    const auto opened = open_bytes(bytes);
    ASSERT_FALSE(opened) << promise;
    EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
  }
}

TEST(Corruption, ClaimsOfHugeSizesTakeNoMemory) {
  // 2^57 bytes, in 4 KiB.
  auto filter = BlockedBloom::create(BlockedParams{1, 8}).value();
  BufferSink sink;
  save(filter, sink).value();
  Bytes bytes = sink.bytes();
  constexpr std::uint64_t kLines = std::uint64_t{1} << 51;
  set_word(bytes, 48, kLines);
  set_word(bytes, 80, kLines * 64);
  set_word(bytes, 96, kLines * 64);
  seal_header(bytes);
  EXPECT_TRUE(is_refused(bytes));
  const TemporaryFile file(bytes);
  EXPECT_FALSE(peek(file.path()));
  EXPECT_FALSE(verify(file.path()));
  EXPECT_FALSE(map(file.path(), {.verify = Verify::later}));
  // Of a stream nobody knows the length.
  std::stringstream stream(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  StreamSource source(stream);
  const auto opened = open(source);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::too_large);
}

TEST(Corruption, OtherVersionsAreNamed) {
  Bytes bytes = samples().front().bytes;
  bytes[8] = std::byte{2};
  const auto opened = open_bytes(bytes);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::unsupported);
  EXPECT_NE(opened.error().message.find("version 2"), std::string::npos) << opened.error().message;
}

// Ten thousand files with some bytes changed, half of them with a right checksum of the header.
TEST(Corruption, RandomDamageDoesNoHarm) {
  std::mt19937_64 random(1);
  const auto all = samples();
  for (int round = 0; round < 10'000; ++round) {
    Bytes damaged = all[random() % all.size()].bytes;
    const std::size_t changes = 1 + random() % 8;
    for (std::size_t i = 0; i < changes; ++i) {
      const bool in_header = random() % 2 == 0;
      damaged[random() % (in_header ? 200 : damaged.size())] = static_cast<std::byte>(random());
    }
    if (random() % 2 == 0) seal_header(damaged);
    static_cast<void>(open_bytes(damaged));
  }
}

}  // namespace
}  // namespace probably
