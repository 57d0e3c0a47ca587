// Any bytes as a file of DCSO's bloom.
#include "fuzz/foreign_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probably;
  auto file =
      fuzz::read_and_write(fuzz::as_input(data, size), interop::read_dcso, interop::write_dcso);
  if (file) fuzz::use(file->filter);
  return 0;
}
