// Files that other software wrote (tests/data/interop/README.md): read, asked, and written back
// byte for byte; and what is refused.
#include "probably/interop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <random>
#include <sstream>

#include "probably/snapshot.hpp"
#include "support/json_strings.hpp"

namespace probably::interop {
namespace {

using testing::bytes_from_hex;
using testing::read_test_data;
using testing::strings_of_first_list;

std::string data(const std::string& file) { return read_test_data("interop/" + file); }

std::string data_path(const std::string& file) {
  return std::string(PROBABLY_TEST_DATA_DIR) + "/interop/" + file;
}

// key-000000 to key-000999.
std::vector<std::string> thousand_keys() {
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) {
    char key[16];
    std::snprintf(key, sizeof key, "key-%06d", i);
    keys.emplace_back(key);
  }
  return keys;
}

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

template <class Read>
auto read_with(Read&& read, const std::string& text) {
  BufferSource source(bytes(text));
  return read(source, ReadOptions{.max_bytes = 1 << 28});
}

template <class Write>
std::string written(Write&& write) {
  BufferSink sink;
  write(sink).value();
  return {reinterpret_cast<const char*>(sink.bytes().data()), sink.bytes().size()};
}

ErrorCode code_of(const auto& result) { return result ? ErrorCode{} : result.error().code; }

void expect_thousand_keys(const auto& filter) {
  for (const std::string& key : thousand_keys()) EXPECT_TRUE(filter.contains(key)) << key;
  // Planned for 1 % at as many keys.
  int wrong = 0;
  for (int i = 0; i < 10'000; ++i) wrong += filter.contains("absent-" + std::to_string(i));
  EXPECT_LT(wrong, 200);
}

// A filter planned and filled like the one in the file.
template <class F>
F rebuilt() {
  F filter = F::create(Plan{.keys = 1000, .fpr = 0.01}).value();
  for (const std::string& key : thousand_keys()) filter.insert(key);
  return filter;
}

// --- bits-and-blooms -----------------------------------------------------------------------------

TEST(Go, BinaryFilesAreReadAndWritten) {
  const std::string file = data("go_bitsandblooms_v3_n1000_p01.bin");
  const auto filter = read_with(read_go, file);
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_EQ(filter->params(), (GoParams{9586, 7}));
  expect_thousand_keys(*filter);
  EXPECT_TRUE(*filter == rebuilt<GoBloom>());
  EXPECT_EQ(written([&](ByteSink& sink) { return write_go(*filter, sink); }), file);
}

TEST(Go, JsonIsReadAndWritten) {
  const std::string file = data("go_bitsandblooms_v3_n1000_p01.json");
  const auto filter = read_with(read_go_json, file);
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_TRUE(*filter == rebuilt<GoBloom>());
  EXPECT_EQ(written([&](ByteSink& sink) { return write_go_json(*filter, sink); }), file);
}

TEST(Go, TinyFiltersAreTheSameInBoth) {
  auto filter = GoBloom::create(GoParams{100, 3}).value();
  filter.insert("Love");
  filter.insert("hello");
  EXPECT_EQ(written([&](ByteSink& sink) { return write_go(filter, sink); }),
            data("go_bitsandblooms_v3_m100_k3_tiny.bin"));
  EXPECT_EQ(written([&](ByteSink& sink) { return write_go_json(filter, sink); }),
            data("go_bitsandblooms_v3_m100_k3_tiny.json"));
  EXPECT_TRUE(read_with(read_go, data("go_bitsandblooms_v3_m100_k3_tiny.bin")).value() == filter);
  EXPECT_TRUE(read_with(read_go_json, data("go_bitsandblooms_v3_m100_k3_tiny.json")).value() ==
              filter);
}

TEST(Go, JsonMayBeSpacedOtherwise) {
  const auto filter =
      read_with(read_go_json, data("go_bitsandblooms_v3_m100_k3_tiny.json")).value();
  EXPECT_TRUE(read_with(read_go_json,
                        " { \"b\" : \"AAAAAAAAAGQAAOAIAAAAQAAAAAQAAAAA\" ,\n\"k\":3, \"m\":100 }\n")
                  .value() == filter);
  for (const char* const text :
       {"", "{", "{}", "[]", R"({"m":100,"k":3})", R"({"m":100,"k":3,"b":"AAA"})",
        R"({"m":100,"k":3,"b":"AAAAAAAAAGQAAOAIAAAAQAAAAAQAAAA%"})",
        R"({"m":100,"k":3,"b":"AAAAAAAAAGQAAOAIAAAAQAAAAAQAAAAA"}x)",
        R"({"m":-1,"k":3,"b":"AAAAAAAAAGQAAOAIAAAAQAAAAAQAAAAA"})",
        R"({"m":100,"k":0,"b":"AAAAAAAAAGQAAOAIAAAAQAAAAAQAAAAA"})",
        R"({"m":100,"k":3,"x":1,"b":"AAAAAAAAAGQAAOAIAAAAQAAAAAQAAAAA"})"}) {
    EXPECT_EQ(code_of(read_with(read_go_json, text)), ErrorCode::corrupt) << text;
  }
}

TEST(Go, PlacesAreThoseOfTheLibrary) {
  const auto strings = strings_of_first_list(data("go_bitsandblooms_v3_locations.json"));
  constexpr std::uint64_t kBits = (std::uint64_t{1} << 60) - 93;
  std::size_t vectors = 0;
  for (std::size_t i = 0; i + 1 < strings.size(); ++i) {
    if (strings[i] != "key_hex") continue;
    const std::string key = bytes_from_hex(strings[i + 1]);
    GoScheme::Walk walk(GoScheme::digest(bytes(key)), kBits);
    std::size_t first = i + 2;
    while (strings[first] != "locations_k8_hex") ++first;
    for (std::size_t j = 1; j <= 8; ++j) {
      const std::uint64_t expected = std::stoull(strings[first + j], nullptr, 16);
      ASSERT_EQ(walk.next(), expected % kBits) << strings[i + 1] << ", place " << j;
    }
    ++vectors;
  }
  EXPECT_EQ(vectors, 46u);
}

TEST(Go, ALongerBitsetIsAccepted) {
  const std::string file = data("go_bitsandblooms_v3_m100_k3_tiny.bin");
  const auto filter = read_with(read_go, file).value();
  // Longer: with bits behind m, which no key has.
  std::string longer = file;
  longer[23] = static_cast<char>(192);
  longer += std::string(8, '\xff');
  EXPECT_TRUE(read_with(read_go, longer).value() == filter);
  // Shorter: keys might be lost.
  std::string shorter = file.substr(0, 32);
  shorter[23] = 64;
  EXPECT_EQ(code_of(read_with(read_go, shorter)), ErrorCode::corrupt);
}

// --- Guava ---------------------------------------------------------------------------------------

TEST(Guava, FilesAreReadAndWritten) {
  const std::string file = data("guava31_mitz64_utf8_n1000_p01.bin");
  const auto read = read_with(read_guava, file);
  ASSERT_TRUE(read) << read.error().message;
  const auto& filter = std::get<Guava64Bloom>(*read);
  EXPECT_EQ(filter.params(), (Guava64Params{9600, 7}));
  expect_thousand_keys(filter);
  EXPECT_TRUE(filter == rebuilt<Guava64Bloom>());
  EXPECT_EQ(written([&](ByteSink& sink) { return write_guava(filter, sink); }), file);
}

TEST(Guava, TinyFilesAreTheSame) {
  auto filter = Guava64Bloom::create(Guava64Params{128, 5}).value();
  const std::string third =
      std::string("\x00\xff", 2) +
      std::string("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f", 15);
  filter.insert("hello");
  filter.insert("");
  filter.insert(third);
  EXPECT_EQ(written([&](ByteSink& sink) { return write_guava(filter, sink); }),
            data("guava31_mitz64_bytes_tiny.bin"));
}

TEST(Guava, TheOlderStrategyIsReadAndWritten) {
  auto filter = rebuilt<Guava32Bloom>();
  expect_thousand_keys(filter);
  const std::string file = written([&](ByteSink& sink) { return write_guava(filter, sink); });
  EXPECT_EQ(file[0], 0);
  EXPECT_TRUE(std::get<Guava32Bloom>(read_with(read_guava, file).value()) == filter);
}

// --- DCSO ----------------------------------------------------------------------------------------

TEST(Dcso, FilesAreReadAndWritten) {
  const std::string file = data("dcso_n1000_p01.bloom");
  const auto read = read_with(read_dcso, file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->filter.params(), (DcsoParams{9585, 7}));
  EXPECT_EQ(read->planned_keys, 1000u);
  EXPECT_EQ(read->planned_fpr, 0.01);
  EXPECT_EQ(read->insertions, 997u);
  EXPECT_TRUE(read->data.empty());
  expect_thousand_keys(read->filter);
  EXPECT_TRUE(read->filter == rebuilt<DcsoBloom>());
  EXPECT_EQ(written([&](ByteSink& sink) { return write_dcso(*read, sink); }), file);
}

TEST(Dcso, InsertionsAreCountedAlike) {
  auto filter = DcsoBloom::create(Plan{.keys = 1000, .fpr = 0.01}).value();
  std::uint64_t insertions = 0;
  for (const std::string& key : thousand_keys()) insertions += filter.insert(key);
  EXPECT_EQ(insertions, 997u);
}

TEST(Dcso, UserDataIsKept) {
  const std::string file = data("dcso_tiny_with_data.bloom");
  const auto read = read_with(read_dcso, file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->data.size(), 8u);
  EXPECT_EQ(std::memcmp(read->data.data(), "note: hi", 8), 0);
  EXPECT_TRUE(read->filter.contains("foo") && read->filter.contains("bar"));
  EXPECT_EQ(written([&](ByteSink& sink) { return write_dcso(*read, sink); }), file);
}

TEST(Dcso, GzipIsReadAndWritten) {
  const std::string plain = data("dcso_tiny_with_data.bloom");
  const std::string file = data("dcso_tiny_with_data.bloom.gz");
  const auto read_gzip = [](const std::string& text) {
    BufferSource compressed(bytes(text));
    GzipSource source(compressed);
    return read_dcso(source);
  };
  const auto read = read_gzip(file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(written([&](ByteSink& sink) { return write_dcso(*read, sink); }), plain);

  const std::string again = written([&](ByteSink& sink) -> Result<void> {
    GzipSink compressed(sink);
    if (auto done = write_dcso(*read, compressed); !done) return done;
    return compressed.finish();
  });
  EXPECT_TRUE(read_gzip(again).value().filter == read->filter);
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_EQ(code_of(read_gzip(file.substr(0, size))), ErrorCode::corrupt) << size;
  }
  std::string damaged = file;
  damaged[file.size() - 6] ^= 1;
  EXPECT_EQ(code_of(read_gzip(damaged)), ErrorCode::corrupt);
  EXPECT_EQ(code_of(read_gzip(plain)), ErrorCode::corrupt);
  EXPECT_EQ(code_of(read_gzip("")), ErrorCode::corrupt);
  // Members follow each other.
  const std::string two_members = file + file;
  BufferSource twice(bytes(two_members));
  GzipSource source(twice);
  std::string all(200, '\0');
  std::size_t size = 0;
  while (const std::size_t count =
             source.read(std::as_writable_bytes(std::span(all)).subspan(size)).value()) {
    size += count;
  }
  EXPECT_EQ(all.substr(0, size), plain + plain);
}

TEST(Dcso, UserDataCountsTowardTheLimit) {
  std::string file = data("dcso_n1000_p01.bloom");
  const std::uint64_t filter_bytes = file.size() - 48;
  file += std::string(1000, 'x');
  const auto read = [&file](std::uint64_t max_bytes) {
    BufferSource source(bytes(file));
    return code_of(read_dcso(source, {.max_bytes = max_bytes}));
  };
  EXPECT_EQ(read(filter_bytes + 1000), ErrorCode{});
  EXPECT_EQ(read(filter_bytes + 999), ErrorCode::too_large);
}

// --- Parquet -------------------------------------------------------------------------------------

TEST(Parquet, FiltersAreReadAndWritten) {
  const std::string file = data("parquet_sbbf_k.header_and_bitset.bin");
  const auto filter = read_with(read_parquet_filter, file);
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_EQ(filter->params(), SplitBlockParams{64});
  expect_thousand_keys(*filter);
  EXPECT_EQ(written([&](ByteSink& sink) { return write_parquet_filter(*filter, sink); }), file);
}

TEST(Parquet, FilesTellWhereTheirFiltersAre) {
  const auto filters = list_parquet_filters(data_path("duckdb_bloom.parquet"));
  ASSERT_TRUE(filters) << filters.error().message;
  ASSERT_FALSE(filters->empty());
  const auto read = read_parquet_file(data_path("duckdb_bloom.parquet"), "k", 0);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(written([&](ByteSink& sink) { return write_parquet_filter(*read, sink); }),
            data("parquet_sbbf_k.header_and_bitset.bin"));
  // Integers of four bytes are hashed as such.
  const auto n32 = read_parquet_file(data_path("duckdb_bloom.parquet"), "n32", 0).value();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::array<unsigned char, 4> bytes_of{static_cast<unsigned char>(i),
                                                static_cast<unsigned char>(i >> 8), 0, 0};
    EXPECT_TRUE(n32.contains(std::span<const unsigned char>(bytes_of)));
  }
  const auto type_of = [&](std::string_view column) {
    return std::ranges::find(*filters, column, &ParquetFilter::column)->type;
  };
  EXPECT_EQ(type_of("k"), ParquetType::byte_array);
  EXPECT_EQ(type_of("n32"), ParquetType::int32);
  EXPECT_EQ(type_of("id"), ParquetType::int64);
  EXPECT_EQ(type_of("dbl"), ParquetType::float64);
  for (const ParquetFilter& filter : *filters) {
    EXPECT_TRUE(
        read_parquet_file(data_path("duckdb_bloom.parquet"), filter.column, filter.row_group))
        << filter.column;
  }
  const auto missing = read_parquet_file(data_path("duckdb_bloom.parquet"), "nothing", 0);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(missing.error().message.find("k in row group 0"), std::string::npos);
}

// Bytes that once made a loop without end, and one that overflowed.
TEST(Parquet, HostileHeadersEnd) {
  std::string map_of_truths = "\x1b";
  map_of_truths += std::string(9, '\xff');
  map_of_truths += "\x01\x11";
  EXPECT_EQ(code_of(read_with(read_parquet_filter, map_of_truths)), ErrorCode::corrupt);
  std::string large_id = "\x05\xfe";
  large_id += std::string(8, '\xff');
  large_id += std::string("\x01\x02\x15\x02\x00", 5);
  EXPECT_EQ(code_of(read_with(read_parquet_filter, large_id)), ErrorCode::corrupt);
}

TEST(Parquet, OtherHashersAreNotWritten) {
  BufferSink sink;
  EXPECT_EQ(
      code_of(write_parquet_filter(SplitBlockBloom::create(SplitBlockParams{1}).value(), sink)),
      ErrorCode::unsupported);
}

// --- RedisBloom ----------------------------------------------------------------------------------

// The chunks of one case of the dump file.
std::vector<std::string> redis_chunks(const std::string& name) {
  const std::string file = data("redisbloom_scandump.json");
  const auto strings = testing::strings_of_list(file.substr(file.find('"' + name + '"')), "chunks");
  std::vector<std::string> chunks;
  for (std::size_t i = 0; i + 1 < strings.size(); ++i) {
    if (strings[i] == "hex") chunks.push_back(bytes_from_hex(strings[i + 1]));
  }
  return chunks;
}

Result<RedisChain> read_redis(const std::vector<std::string>& chunks) {
  std::vector<std::span<const std::byte>> spans;
  for (const std::string& chunk : chunks) spans.push_back(bytes(chunk));
  return read_redis_dump(spans, {.max_bytes = 1 << 28});
}

TEST(Redis, DumpsAreRead) {
  for (const std::string name : {"scaling_n1000_p01", "nonscaling_n1000_p01"}) {
    const auto chain = read_redis(redis_chunks(name));
    ASSERT_TRUE(chain) << chain.error().message;
    EXPECT_EQ(chain->link_count(), 1u);
    expect_thousand_keys(*chain);
    // The same bits as RedisBloom's.
    auto again = RedisChain::create(chain->params()).value();
    for (const std::string& key : thousand_keys()) again.insert(key);
    EXPECT_TRUE(again.link(0) == chain->link(0));
    EXPECT_EQ(again.link_insertions(0), chain->link_insertions(0));
  }
}

TEST(Redis, ChainsThatGrewAreReadAndGrowOn) {
  const auto chunks = redis_chunks("scaled_n10_p01_exp2");
  auto chain = read_redis(chunks);
  ASSERT_TRUE(chain) << chain.error().message;
  EXPECT_GT(chain->link_count(), 1u);
  for (std::uint32_t i = 0; i < chain->link_count(); ++i) {
    EXPECT_EQ(chain->link(i).params(), chain->params().link_params(i).value()) << i;
  }
  const std::uint32_t links = chain->link_count();
  for (int i = 0; i < 5000; ++i) chain->insert("more-" + std::to_string(i));
  for (int i = 0; i < 5000; ++i) EXPECT_TRUE(chain->contains("more-" + std::to_string(i)));
  EXPECT_GT(chain->link_count(), links);
}

TEST(Redis, ChainsAreSavedLikeAnyOther) {
  const auto chain = read_redis(redis_chunks("scaled_n10_p01_exp2")).value();
  BufferSink sink;
  ASSERT_TRUE(save(chain, sink));
  BufferSource source(sink.bytes());
  const auto again = open(source).value();
  EXPECT_EQ(again.kind(), Kind::redis_chain);
  EXPECT_TRUE(*again.get_if<RedisChain>() == chain);
}

// What is read can be saved and opened, and a chain that does not grow has one link.
TEST(Redis, ChainsThatCannotHaveGrownAreRefused) {
  auto chunks = redis_chunks("scaled_n10_p01_exp2");
  for (std::size_t at = 16; at < 20; ++at) chunks[0][at] = 0;  // the growth
  EXPECT_EQ(code_of(read_redis(chunks)), ErrorCode::corrupt);
  chunks = redis_chunks("scaling_n1000_p01");
  for (std::size_t at = 16; at < 20; ++at) chunks[0][at] = 0;
  const auto chain = read_redis(chunks);
  ASSERT_TRUE(chain) << chain.error().message;
  // The one link has the whole rate.
  EXPECT_EQ(chain->params().fpr, 0.5 * read_redis(redis_chunks("scaling_n1000_p01"))->params().fpr);
}

TEST(Redis, DamagedDumpsAreRefusedOrDoNoHarm) {
  const auto chunks = redis_chunks("scaled_n10_p01_exp2");
  for (std::size_t at = 0; at < chunks[0].size(); ++at) {
    for (const char value : {'\0', '\x01', '\x7f', '\xff'}) {
      auto damaged = chunks;
      damaged[0][at] = value;
      static_cast<void>(read_redis(damaged));
    }
    auto cut = chunks;
    cut[0].resize(at);
    EXPECT_FALSE(read_redis(cut)) << at;
  }
  auto shorter = chunks;
  shorter.back().pop_back();
  EXPECT_FALSE(read_redis(shorter));
  auto longer = chunks;
  longer.emplace_back("x");
  EXPECT_FALSE(read_redis(longer));
  EXPECT_FALSE(read_redis({}));
}

// --- All of them ---------------------------------------------------------------------------------

constexpr std::uint64_t kLimit = 1 << 28;

struct Format {
  std::string name;
  std::string file;
  // With a limit to the memory; the code is 0 if the file is accepted.
  std::function<ErrorCode(ByteSource&, std::uint64_t)> read;

  [[nodiscard]] bool is_accepted(const std::string& text) const {
    BufferSource source(bytes(text));
    return read(source, kLimit) == ErrorCode{};
  }
  // Of unknown length.
  [[nodiscard]] bool is_accepted_from_stream(const std::string& text) const {
    std::istringstream stream(text);
    StreamSource source(stream);
    return read(source, kLimit) == ErrorCode{};
  }
};

std::vector<Format> formats() {
  const auto format = [](const std::string& name, const std::string& file, auto read) {
    return Format{name, data(file), [read](ByteSource& source, std::uint64_t max_bytes) {
                    return code_of(read(source, ReadOptions{.max_bytes = max_bytes}));
                  }};
  };
  return {format("go", "go_bitsandblooms_v3_n1000_p01.bin", read_go),
          format("go json", "go_bitsandblooms_v3_n1000_p01.json", read_go_json),
          format("guava", "guava31_mitz64_utf8_n1000_p01.bin", read_guava),
          format("dcso", "dcso_n1000_p01.bloom", read_dcso),
          format("parquet", "parquet_sbbf_k.header_and_bitset.bin", read_parquet_filter)};
}

TEST(Interop, TruncatedFilesAreRefused) {
  for (const Format& format : formats()) {
    ASSERT_TRUE(format.is_accepted(format.file)) << format.name;
    for (std::size_t size = 0; size < format.file.size(); ++size) {
      ASSERT_FALSE(format.is_accepted(format.file.substr(0, size))) << format.name << " " << size;
    }
  }
}

// A disk that fails does not make the file corrupt.
TEST(Interop, ErrorsOfTheSourceArePassedOn) {
  class FailingSource final : public ByteSource {
   public:
    explicit FailingSource(const std::string& bytes) : bytes_(bytes) {}
    Result<std::size_t> read(std::span<std::byte> room) override {
      if (at_ == bytes_.size()) return Error{ErrorCode::io, "The disk failed."};
      room.front() = std::byte(bytes_[at_++]);
      return std::size_t{1};
    }

   private:
    const std::string& bytes_;
    std::size_t at_ = 0;
  };
  for (const Format& format : formats()) {
    for (std::size_t size = 0; size < 100; ++size) {
      const std::string begin = format.file.substr(0, size);
      FailingSource source(begin);
      ASSERT_EQ(format.read(source, kLimit), ErrorCode::io) << format.name << " " << size;
    }
  }
}

TEST(Interop, FilesThatGoOnAreRefused) {
  for (const Format& format : formats()) {
    if (format.name == "dcso") continue;  // that is its user data
    EXPECT_FALSE(format.is_accepted(format.file + '\x01')) << format.name;
    EXPECT_FALSE(format.is_accepted_from_stream(format.file + '\x01')) << format.name;
    EXPECT_TRUE(format.is_accepted_from_stream(format.file)) << format.name;
  }
}

// A stream that begins with some bytes and has no end.
class EndlessSource final : public ByteSource {
 public:
  explicit EndlessSource(std::string begin) : begin_(std::move(begin)) {}
  Result<std::size_t> read(std::span<std::byte> room) override {
    for (std::byte& byte : room) {
      byte = given_ < begin_.size() ? static_cast<std::byte>(begin_[given_]) : std::byte{};
      ++given_;
    }
    // Stands for a reader that would never come back.
    if (given_ > std::size_t{1} << 24) throw std::runtime_error("nobody stops");
    return room.size();
  }

 private:
  std::string begin_;
  std::size_t given_ = 0;
};

TEST(Interop, EndlessStreamsAreLeft) {
  const auto code = [](auto read, const std::string& begin) {
    EndlessSource source(begin);
    return code_of(read(source, ReadOptions{.max_bytes = 1 << 16}));
  };
  for (const Format& format : formats()) {
    EndlessSource source(format.file);
    EXPECT_NE(format.read(source, 1 << 16), ErrorCode{}) << format.name;
  }
  // A bitset of 2^62 bits behind the 100 that count.
  std::string longer = data("go_bitsandblooms_v3_m100_k3_tiny.bin");
  longer[16] = 0x40;
  EXPECT_EQ(code(read_go, longer), ErrorCode::too_large);
  EXPECT_EQ(code(read_go_json, "{"), ErrorCode::too_large);
  EXPECT_EQ(code(read_guava, std::string("\x01\x07\x7f\xff\xff\xff", 6)), ErrorCode::too_large);
  // 2^61 + 32 bytes, which in bits are 256 and more than fit into 64 bits.
  const std::string unions("\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0", 13);
  EXPECT_EQ(
      code(read_parquet_filter, std::string("\x15\xc0").append(7, '\x80').append("\x40") + unions),
      ErrorCode::corrupt);
  // A field that nobody knows, of 2^62 bytes.
  EXPECT_EQ(code(read_parquet_filter, std::string("\x58").append(8, '\x80').append("\x40")),
            ErrorCode::corrupt);
}

TEST(Interop, EdgeValuesDoNoHarm) {
  for (const Format& format : formats()) {
    for (std::size_t at = 0; at < std::min<std::size_t>(format.file.size(), 64); ++at) {
      for (const std::size_t width : {1u, 2u, 4u, 8u}) {
        for (const char fill : {'\0', '\x01', '\x7f', '\x80', '\xff'}) {
          std::string damaged = format.file;
          for (std::size_t i = at; i < at + width; ++i) damaged[i] = fill;
          static_cast<void>(format.is_accepted(damaged));
        }
      }
    }
  }
}

TEST(Interop, RandomDamageDoesNoHarm) {
  std::mt19937_64 random(1);
  const auto all = formats();
  for (int round = 0; round < 20'000; ++round) {
    const Format& format = all[random() % all.size()];
    std::string damaged = format.file;
    for (std::size_t i = 0; i <= random() % 4; ++i) {
      damaged[random() % std::min<std::size_t>(damaged.size(), 80)] = static_cast<char>(random());
    }
    static_cast<void>(format.is_accepted(damaged));
  }
}

// --- As filters ----------------------------------------------------------------------------------

template <class F>
class Foreign : public ::testing::Test {};
using ForeignTypes = ::testing::Types<GoBloom, Guava32Bloom, Guava64Bloom, DcsoBloom, RedisBloom>;
TYPED_TEST_SUITE(Foreign, ForeignTypes);

TYPED_TEST(Foreign, FiltersDoWhatFiltersDo) {
  const auto keys = thousand_keys();
  auto filter = rebuilt<TypeParam>();
  auto batch = TypeParam::create(filter.params()).value();
  EXPECT_GT(batch.insert(std::span(keys)), 980u);
  EXPECT_TRUE(batch == filter);
  auto answers = std::make_unique<bool[]>(keys.size());
  batch.contains(std::span(keys), std::span(answers.get(), keys.size()));
  EXPECT_EQ(std::count(answers.get(), answers.get() + keys.size(), true), 1000);
  EXPECT_NEAR(filter.approximate_size().value, 1000, 30);
  EXPECT_NEAR(filter.estimated_fpr(), 0.01, 0.004);

  auto other = TypeParam::create(filter.params()).value();
  other.insert("another");
  other.insert(42);
  ASSERT_TRUE(filter.merge(other));
  EXPECT_TRUE(filter.contains("another") && filter.contains(42) && filter.contains(keys[5]));
  EXPECT_TRUE(filter.clone() == filter);
  filter.clear();
  EXPECT_FALSE(filter.contains(keys[5]));
}

TYPED_TEST(Foreign, FiltersAreSavedLikeAnyOther) {
  const auto filter = rebuilt<TypeParam>();
  BufferSink sink;
  ASSERT_TRUE(save(filter, sink));
  BufferSource source(sink.bytes());
  EXPECT_TRUE(open<TypeParam>(source).value() == filter);
  BufferSource again(sink.bytes());
  const auto any = open(again).value();
  EXPECT_EQ(any.kind(), kind_of<TypeParam>);
  EXPECT_EQ(any.hash_algorithm(), HashAlgorithm::scheme);
  EXPECT_TRUE(any.contains("key-000007"));
}

TYPED_TEST(Foreign, ParamsAreChecked) {
  using Params = typename TypeParam::Params;
  EXPECT_FALSE(TypeParam::create(Params{0, 1}));
  EXPECT_FALSE(TypeParam::create(Params{64, 0}));
  EXPECT_FALSE(TypeParam::create(Params{64, 65}));
  EXPECT_TRUE(TypeParam::create(Params{64, 64}));
  EXPECT_FALSE(TypeParam::create(Plan{.keys = 100}));
  EXPECT_FALSE(TypeParam::create(Plan{.keys = 100, .fpr = 0.01, .hashes = 3}));
}

}  // namespace
}  // namespace probably::interop
