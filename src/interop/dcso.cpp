// DCSO bloom: u64 flags (1), u64 planned keys, f64 planned rate, u64 k, u64 m, u64 insertions, the
// words, and user data to the end; all of it least byte first.
#include <array>
#include <bit>

#include "interop/bits.hpp"

namespace probably::interop {
namespace {

constexpr Order kOrder = Order::least_first;
constexpr std::uint64_t kVersion1 = 1;

}  // namespace

Result<DcsoFile> read_dcso(ByteSource& source, const ReadOptions& options) {
  std::array<std::uint64_t, 6> head;
  for (std::uint64_t& word : head) {
    const auto read = read_integer<std::uint64_t>(source, kOrder);
    if (!read) return read.error();
    word = *read;
  }
  const auto [flags, planned_keys, planned_fpr, hashes, bits, insertions] = head;
  if (flags != kVersion1) {
    return corrupt(source.name(), "its flags are " + text(flags) + "; known is 1 alone");
  }
  if (auto valid = check_geometry(source.name(), bits, hashes); !valid) return valid.error();
  auto storage = read_words(source, bits, (bits + 63) / 64, kOrder, options);
  if (!storage) return storage.error();
  auto data = read_to_end(source, options.max_bytes - (bits + 63) / 64 * 8);
  if (!data) return data.error();
  auto filter =
      DcsoBloom::adopt({bits, static_cast<std::uint32_t>(hashes)}, {}, *std::move(storage));
  if (!filter) return filter.error();
  return DcsoFile{*std::move(filter), planned_keys, std::bit_cast<double>(planned_fpr), insertions,
                  *std::move(data)};
}

Result<void> write_dcso(const DcsoFile& file, ByteSink& sink) {
  const std::array<std::uint64_t, 6> head = {kVersion1,
                                             file.planned_keys,
                                             std::bit_cast<std::uint64_t>(file.planned_fpr),
                                             file.filter.params().hashes,
                                             file.filter.params().bits,
                                             file.insertions};
  for (const std::uint64_t word : head) {
    if (auto done = write_integer(word, sink, kOrder); !done) return done;
  }
  if (auto done = write_words(words_of(file.filter), sink, kOrder); !done) return done;
  return sink.write(file.data);
}

}  // namespace probably::interop
