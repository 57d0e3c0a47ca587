// Any bytes as a .parquet file: its filters are listed, and each of them is read.
#include "fuzz/foreign_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probably;
  using fuzz::require;
  // A file may have many filters with long names, and none of them alone is slow.
  constexpr std::size_t kMostRead = 8;
  // What an entry of the list takes, and its copy when the list grows, for each byte of a footer in
  // which an entry has as few as possible.
  constexpr std::uint64_t kListBytes = 40;

  const auto bytes = fuzz::as_input(data, size);
  const fuzz::MemoryFile file(bytes);
  const std::uint64_t most = kListBytes * bytes.size() + fuzz::kReaderBytes;
  const auto filters =
      fuzz::within(most, [&] { return interop::list_parquet_filters(file.path()); });
  if (!filters) {
    fuzz::require_sentence(filters.error());
    return 0;
  }
  for (std::size_t i = 0; i < std::min(filters->size(), kMostRead); ++i) {
    const interop::ParquetFilter& entry = (*filters)[i];
    require(entry.offset < size && entry.bytes <= size - entry.offset);
    auto filter = fuzz::within(most, [&] {
      return interop::read_parquet_file(file.path(), entry.column, entry.row_group,
                                        fuzz::kReadOptions);
    });
    if (filter) {
      fuzz::use(*filter);
    } else {
      fuzz::require_sentence(filter.error());
    }
  }
  const auto none = interop::read_parquet_file(file.path(), "no such column", ~std::uint64_t{0});
  require(!none && none.error().code == ErrorCode::invalid_argument);
  return 0;
}
