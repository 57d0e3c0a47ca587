// Any bytes as a file of bits-and-blooms.
#include "fuzz/foreign_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probably;
  auto filter =
      fuzz::read_and_write(fuzz::as_input(data, size), interop::read_go, interop::write_go);
  if (filter) fuzz::use(*filter);
  return 0;
}
