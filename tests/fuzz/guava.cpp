// Any bytes as a file of Guava.
#include "fuzz/foreign_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace probably;
  const auto write = [](const interop::GuavaBloom& filter, ByteSink& sink) {
    return std::visit([&](const auto& inside) { return interop::write_guava(inside, sink); },
                      filter);
  };
  auto filter = fuzz::read_and_write(fuzz::as_input(data, size), interop::read_guava, write);
  if (filter) std::visit([](auto& inside) { fuzz::use(inside); }, *filter);
  return 0;
}
