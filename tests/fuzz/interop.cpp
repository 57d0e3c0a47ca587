// Any bytes as a file of other software: refused, or a filter that is written and read again.
#include "probably/interop.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace {

using namespace probably;

constexpr interop::ReadOptions kOptions{.max_bytes = 1 << 24};

// Ends the run, naming the line that called.
void require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "The requirement at line %d does not hold.\n", line);
  std::abort();
}

template <class Read, class Write>
void round_trip(std::span<const std::byte> bytes, Read&& read, Write&& write) {
  BufferSource source(bytes);
  const auto filter = read(source, kOptions);
  if (!filter) {
    require(!filter.error().message.empty() && filter.error().message.back() == '.');
    return;
  }
  BufferSink first;
  require(write(*filter, first).has_value());
  BufferSource again(first.bytes());
  const auto same = read(again, kOptions);
  require(same.has_value());
  BufferSink second;
  require(write(*same, second).has_value());
  require(first.bytes() == second.bytes());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  round_trip(bytes, interop::read_go, interop::write_go);
  round_trip(bytes, interop::read_go_json, interop::write_go_json);
  round_trip(bytes, interop::read_dcso, interop::write_dcso);
  round_trip(bytes, interop::read_parquet_filter, interop::write_parquet_filter);
  round_trip(bytes, interop::read_guava, [](const interop::GuavaBloom& filter, ByteSink& sink) {
    return std::visit([&](const auto& inside) { return interop::write_guava(inside, sink); },
                      filter);
  });
  return 0;
}
