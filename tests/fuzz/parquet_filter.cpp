// Any bytes as a split block filter as Parquet files hold them.
#include "fuzz/foreign_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probably;
  auto filter = fuzz::read_and_write(fuzz::as_input(data, size), interop::read_parquet_filter,
                                     interop::write_parquet_filter);
  if (filter) fuzz::use(*filter);
  return 0;
}
