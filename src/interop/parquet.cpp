// Apache Parquet: where a file has its filters, and one of them with its header.
#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "interop/bits.hpp"
#include "interop/thrift.hpp"
#include "snapshot/file.hpp"

namespace probably::interop {
namespace {

using Field = ThriftReader::Field;
using Type = ThriftReader::Type;

constexpr std::string_view kMagic = "PAR1";
constexpr std::size_t kMaxNameBytes = 1 << 16;
// Far more than the header of a filter has, even with fields that are not known yet.
constexpr std::uint64_t kMaxHeaderBytes = 1 << 16;
constexpr std::int64_t kBlockBytes = 32;
constexpr auto kMaxType = static_cast<std::int64_t>(ParquetType::fixed_length_byte_array);
constexpr auto kMaxBytes = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());

// BloomFilterHeader: 1 numBytes, and three unions of which only the first member is defined: 2 the
// algorithm (1 BLOCK), 3 the hash (1 XXHASH), 4 the compression (1 UNCOMPRESSED).
Result<std::uint64_t> read_header(ByteSource& source) {
  ThriftReader reader(source, kMaxHeaderBytes);
  std::int64_t bytes = 0;
  bool is_known = true;
  std::array<bool, 3> seen{};
  reader.structure([&](Field field) {
    if (field.id == 1 && field.type == Type::i32) {
      bytes = reader.integer();
    } else if (field.id >= 2 && field.id <= 4 && field.type == Type::structure) {
      reader.structure([&](Field member) {
        is_known = is_known && member.id == 1;
        seen[static_cast<std::size_t>(field.id - 2)] = true;
        reader.skip(member.type);
      });
    } else {
      reader.skip(field.type);
    }
  });
  if (reader.failed()) return reader.error("it has no header of a Parquet filter");
  if (!is_known || !std::ranges::all_of(seen, [](bool each) { return each; })) {
    return Error{ErrorCode::unsupported,
                 source.name() +
                     " has a Parquet filter of an algorithm, hash or compression other "
                     "than split block, xxHash and none."};
  }
  if (bytes < kBlockBytes || bytes % kBlockBytes != 0 || bytes > std::int64_t{kMaxBytes}) {
    return corrupt(source.name(),
                   "it claims " + std::to_string(bytes) + " bytes, which no filter has");
  }
  return static_cast<std::uint64_t>(bytes);
}

Result<SplitBlockBloom> read_filter(ByteSource& source, const ReadOptions& options) {
  const auto bytes = read_header(source);
  if (!bytes) return bytes.error();
  auto storage = read_words(source, *bytes * 8, *bytes / 8, Order::least_first, options);
  if (!storage) return storage.error();
  return SplitBlockBloom::adopt({*bytes / std::uint64_t{kBlockBytes}}, Hasher::xxh64(),
                                *std::move(storage));
}

// A part of a file as a source.
class PartSource final : public ByteSource {
 public:
  PartSource(detail::InputFile& file, std::uint64_t offset, std::uint64_t bytes)
      : file_(file), left_(bytes) {
    file_.seek(offset);
  }
  Result<std::size_t> read(std::span<std::byte> room) override {
    if (left_ == 0) return std::size_t{0};
    auto count = file_.read(
        room.first(static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), left_))));
    if (count) left_ -= *count;
    return count;
  }
  [[nodiscard]] std::optional<std::uint64_t> bytes_left() const override { return left_; }
  [[nodiscard]] std::string name() const override { return file_.name(); }

 private:
  detail::InputFile& file_;
  std::uint64_t left_;
};

// The length of the footer, which ends 8 bytes before the file does.
Result<std::uint64_t> footer_bytes(detail::InputFile& file) {
  std::array<std::byte, 8> tail;
  if (file.size_bytes() < 12) return corrupt(file.name(), "it is too short for a Parquet file");
  file.seek(file.size_bytes() - tail.size());
  if (auto got = detail::read_all(file, tail); !got) return got.error();
  if (!std::equal(kMagic.begin(), kMagic.end(), tail.begin() + 4,
                  [](char a, std::byte b) { return std::byte(a) == b; })) {
    return corrupt(file.name(), "it is no Parquet file, for it does not end with PAR1");
  }
  const std::uint64_t bytes = detail::load_little_endian<std::uint32_t>(tail.data());
  if (bytes > file.size_bytes() - 12) {
    return corrupt(file.name(), "its footer is longer than the file");
  }
  return bytes;
}

// FileMetaData: 4 row groups, each with 1 columns, each with 3 its metadata: 1 type, 3 path, 14
// offset of the filter, 15 its length.
Result<std::vector<ParquetFilter>> list_filters(detail::InputFile& file) {
  const auto bytes = footer_bytes(file);
  if (!bytes) return bytes.error();
  const std::uint64_t footer = file.size_bytes() - 8 - *bytes;
  // Bytes come one by one from memory.
  std::vector<std::byte> text(static_cast<std::size_t>(*bytes));
  file.seek(footer);
  if (auto got = detail::read_all(file, text); !got) return got.error();
  BufferSource source(text);
  ThriftReader reader(source, text.size());

  std::vector<ParquetFilter> filters;
  std::uint64_t row_group = 0;
  const auto read_column = [&](Field part) {
    if (part.id != 3 || part.type != Type::structure) return reader.skip(part.type);
    ParquetFilter filter{.column = {}, .type = {}, .row_group = row_group};
    reader.structure([&](Field field) {
      if (field.id == 1 && field.type == Type::i32) {
        const std::int64_t type = reader.integer();
        if (type < 0 || type > kMaxType) return reader.fail();
        filter.type = static_cast<ParquetType>(type);
      } else if (field.id == 3 && field.type == Type::list) {
        reader.list([&](Type type) {
          if (type != Type::binary) return reader.fail();
          if (!filter.column.empty()) filter.column += '.';
          filter.column += reader.binary(kMaxNameBytes);
        });
      } else if (field.id == 14 && field.type == Type::i64) {
        filter.offset = static_cast<std::uint64_t>(reader.integer());
      } else if (field.id == 15 && field.type == Type::i32) {
        filter.bytes = static_cast<std::uint64_t>(reader.integer());
      } else {
        reader.skip(field.type);
      }
    });
    if (filter.offset != 0) filters.push_back(filter);
  };
  reader.structure([&](Field field) {
    if (field.id != 4 || field.type != Type::list) return reader.skip(field.type);
    reader.list([&](Type type) {
      if (type != Type::structure) return reader.fail();
      reader.structure([&](Field part) {
        if (part.id != 1 || part.type != Type::list) return reader.skip(part.type);
        reader.list([&](Type column) {
          if (column != Type::structure) return reader.fail();
          reader.structure(read_column);
        });
      });
      ++row_group;
    });
  });
  if (reader.failed()) return corrupt(file.name(), "its footer is not that of a Parquet file");
  for (const ParquetFilter& filter : filters) {
    if (filter.offset >= footer || filter.bytes > footer - filter.offset) {
      return corrupt(file.name(), "a filter lies outside of the file");
    }
  }
  return filters;
}

}  // namespace

Result<SplitBlockBloom> read_parquet_filter(ByteSource& source, const ReadOptions& options) {
  auto filter = read_filter(source, options);
  if (!filter) return filter;
  if (auto ended = expect_end(source); !ended) return ended.error();
  return filter;
}

Result<void> write_parquet_filter(const SplitBlockBloom& filter, ByteSink& sink) {
  if (!(filter.hasher() == Hasher::xxh64())) {
    return Error{ErrorCode::unsupported,
                 "Parquet hashes with XXH64 and seed 0; make the filter with Hasher::xxh64()."};
  }
  if (filter.size_bytes() > kMaxBytes) {
    return Error{ErrorCode::unsupported, "Parquet has filters of up to 2^31 - 1 bytes; this has " +
                                             text(filter.size_bytes()) + "."};
  }
  std::vector<std::byte> header = {std::byte{0x15}};
  std::uint64_t zigzag = filter.size_bytes() * 2;
  for (; zigzag >= 0x80; zigzag >>= 7) header.push_back(std::byte(0x80 | (zigzag & 0x7f)));
  header.push_back(std::byte(zigzag));
  for (int each = 0; each < 3; ++each) {
    for (const unsigned byte : {0x1cu, 0x1cu, 0x00u, 0x00u}) header.push_back(std::byte(byte));
  }
  header.push_back(std::byte{0});
  if (auto done = sink.write(header); !done) return done;
  return write_words(words_of(filter), sink, Order::least_first);
}

Result<std::vector<ParquetFilter>> list_parquet_filters(const std::string& path) {
  auto file = detail::InputFile::open(path);
  if (!file) return file.error();
  return list_filters(*file);
}

Result<SplitBlockBloom> read_parquet_file(const std::string& path, std::string_view column,
                                          std::uint64_t row_group, const ReadOptions& options) {
  auto file = detail::InputFile::open(path);
  if (!file) return file.error();
  const auto filters = list_filters(*file);
  if (!filters) return filters.error();
  std::string known;
  for (const ParquetFilter& filter : *filters) {
    if (filter.column == column && filter.row_group == row_group) {
      // An old file does not say where the filter ends.
      const std::uint64_t rest = file->size_bytes() - filter.offset;
      PartSource part(*file, filter.offset, filter.bytes != 0 ? filter.bytes : rest);
      auto read = read_filter(part, options);
      if (!read || filter.bytes == 0) return read;
      if (auto ended = expect_end(part); !ended) return ended.error();
      return read;
    }
    known +=
        (known.empty() ? "" : ", ") + filter.column + " in row group " + text(filter.row_group);
  }
  return Error{ErrorCode::invalid_argument,
               file->name() + " has no filter of column " + std::string(column) + " in row group " +
                   text(row_group) + "; it has " + (known.empty() ? "none" : known) + "."};
}

}  // namespace probably::interop
