// Filters as other software writes them: read, checked and, but for RedisBloom's, written back,
// byte for byte.
//
//   auto source = probably::FileSource::open("seen.bloom").value();
//   auto filter = probably::interop::read_go(source);          // a GoBloom: see foreign.hpp
//   filter->insert("one more");
//   probably::save(*filter, "seen.probably").value();
//
// None of these formats has a checksum: flipped bits pass, in the other software and here.
// Everything else is checked before memory is asked for (of a stream, whose length nobody knows,
// against ReadOptions::max_bytes alone), and what would lose keys is refused: a file that ends too
// early or goes on too long, sizes that contradict each other, no bits or no hashes. Errors are
// `corrupt`, or `unsupported` for what this library has no room for (more than 64 hashes).
//
//   bits-and-blooms/bloom v3 (Go)   binary and JSON           GoBloom
//   Guava (Java)                    both strategies           Guava32Bloom, Guava64Bloom
//   DCSO bloom (Go)                 with its user data        DcsoBloom
//   RedisBloom                      BF.SCANDUMP's chunks      RedisChain
//   Apache Parquet                  header and bitset, or     SplitBlockBloom with Hasher::xxh64()
//                                   out of a .parquet file
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "probably/foreign.hpp"
#include "probably/io.hpp"
#include "probably/split_block.hpp"

namespace probably::interop {

struct ReadOptions {
  // Filters that take more memory, with the user data of a DCSO file, are refused with too_large.
  std::uint64_t max_bytes = std::uint64_t{1} << 40;
  // The memory that the filter gets.
  StorageOptions storage = {};
};

// --- bits-and-blooms -----------------------------------------------------------------------------

// What WriteTo() and MarshalBinary() write, and what json.Marshal() makes. A bitset that is longer
// or shorter than m is accepted, and written back with m bits.

Result<GoBloom> read_go(ByteSource& source, const ReadOptions& options = {});
Result<void> write_go(const GoBloom& filter, ByteSink& sink);
Result<GoBloom> read_go_json(ByteSource& source, const ReadOptions& options = {});
Result<void> write_go_json(const GoBloom& filter, ByteSink& sink);

// --- Guava ---------------------------------------------------------------------------------------

// What BloomFilter.writeTo() writes. The file does not say which funnel made bytes of the objects:
// give the same bytes.

using GuavaBloom = std::variant<Guava32Bloom, Guava64Bloom>;

Result<GuavaBloom> read_guava(ByteSource& source, const ReadOptions& options = {});
Result<void> write_guava(const Guava32Bloom& filter, ByteSink& sink);
Result<void> write_guava(const Guava64Bloom& filter, ByteSink& sink);

// --- DCSO bloom ----------------------------------------------------------------------------------

struct DcsoFile {
  DcsoBloom filter;
  // What the file says beside the bits. Count what you insert: insertions += filter.insert(key).
  std::uint64_t planned_keys = 0;
  double planned_fpr = 0;
  std::uint64_t insertions = 0;      // that set a new bit
  std::vector<std::byte> data = {};  // the user's own
};

// Compressed files, which do not tell that they are, go through GzipSource and GzipSink of io.hpp.
// Reads to the end of the source, for all that follows the bits is user data.
Result<DcsoFile> read_dcso(ByteSource& source, const ReadOptions& options = {});
Result<void> write_dcso(const DcsoFile& file, ByteSink& sink);

// --- RedisBloom ----------------------------------------------------------------------------------

// What BF.SCANDUMP replies, without the iterators: the header first, then the bits, in order, in
// any number of chunks; empty ones do not count. Filters that hash to 32 bits (without FORCE64,
// which BF.RESERVE always sets) are refused with unsupported.
Result<RedisChain> read_redis_dump(std::span<const std::span<const std::byte>> chunks,
                                   const ReadOptions& options = {});

// --- Apache Parquet ------------------------------------------------------------------------------

// The header and the bitset, as they stand in a .parquet file.
Result<SplitBlockBloom> read_parquet_filter(ByteSource& source, const ReadOptions& options = {});
// Fails with unsupported above 2^31 - 1 bytes, which Parquet's header cannot say, and unless the
// filter's hasher is Hasher::xxh64().
Result<void> write_parquet_filter(const SplitBlockBloom& filter, ByteSink& sink);

// What a column's values are stored as, and hence what was hashed: ask for the same bytes. The
// numbers are Parquet's.
enum class ParquetType : std::uint8_t {
  boolean = 0,  // has no filters
  int32 = 1,    // four bytes, least first: an integer given as such would be hashed as eight
  int64 = 2,    // eight bytes, least first, as integers are hashed here
  int96 = 3,
  float32 = 4,     // four bytes of the IEEE number, least first
  float64 = 5,     // eight
  byte_array = 6,  // the bytes, for a string its characters, without their length
  fixed_length_byte_array = 7,
};

// Where the filters of a .parquet file are.
struct ParquetFilter {
  std::string column;  // the path in the schema, its parts joined by dots
  ParquetType type{};
  std::uint64_t row_group = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // header and bitset; 0 where an old file does not say
};
Result<std::vector<ParquetFilter>> list_parquet_filters(const std::string& path);
// Fails with invalid_argument if there is none, saying which there are.
Result<SplitBlockBloom> read_parquet_file(const std::string& path, std::string_view column,
                                          std::uint64_t row_group, const ReadOptions& options = {});

}  // namespace probably::interop
