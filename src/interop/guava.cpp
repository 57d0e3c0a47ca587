// Guava's BloomFilter.writeTo: i8 strategy, u8 hashes, i32 number of longs, and these; all of it
// highest byte first.
#include <limits>
#include <utility>

#include "interop/bits.hpp"

namespace probably::interop {
namespace {

constexpr Order kOrder = Order::highest_first;
constexpr std::uint8_t kMitz32 = 0;
constexpr std::uint8_t kMitz64 = 1;

template <class F>
Result<GuavaBloom> adopt(std::uint64_t bits, std::uint32_t hashes, Storage storage) {
  auto filter = F::adopt({bits, hashes}, {}, std::move(storage));
  if (!filter) return filter.error();
  return GuavaBloom(*std::move(filter));
}

template <class F>
Result<void> write(const F& filter, std::uint8_t strategy, ByteSink& sink) {
  const std::uint64_t longs = filter.params().bits / 64;
  if (longs > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
    return Error{ErrorCode::unsupported,
                 "Guava has filters of up to 2^31 - 1 longs; this one has " + text(longs) + "."};
  }
  if (auto done = write_integer(strategy, sink, kOrder); !done) return done;
  const auto hashes = static_cast<std::uint8_t>(filter.params().hashes);
  if (auto done = write_integer(hashes, sink, kOrder); !done) return done;
  if (auto done = write_integer(static_cast<std::uint32_t>(longs), sink, kOrder); !done)
    return done;
  return write_words(words_of(filter), sink, kOrder);
}

}  // namespace

Result<GuavaBloom> read_guava(ByteSource& source, const ReadOptions& options) {
  const auto strategy = read_integer<std::uint8_t>(source, kOrder);
  if (!strategy) return strategy.error();
  const auto hashes = read_integer<std::uint8_t>(source, kOrder);
  if (!hashes) return hashes.error();
  const auto longs = read_integer<std::uint32_t>(source, kOrder);
  if (!longs) return longs.error();
  if (*strategy != kMitz32 && *strategy != kMitz64) {
    return corrupt(source.name(),
                   "it has strategy " + text(unsigned{*strategy}) + "; Guava knows 0 and 1");
  }
  if (*longs > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
    return corrupt(source.name(), "it has a negative number of longs");
  }
  const std::uint64_t bits = std::uint64_t{*longs} * 64;
  if (auto valid = check_geometry(source.name(), bits, *hashes); !valid) return valid.error();
  auto storage = read_words(source, bits, *longs, kOrder, options);
  if (!storage) return storage.error();
  if (auto ended = expect_end(source); !ended) return ended.error();
  return *strategy == kMitz32 ? adopt<Guava32Bloom>(bits, *hashes, *std::move(storage))
                              : adopt<Guava64Bloom>(bits, *hashes, *std::move(storage));
}

Result<void> write_guava(const Guava32Bloom& filter, ByteSink& sink) {
  return write(filter, kMitz32, sink);
}

Result<void> write_guava(const Guava64Bloom& filter, ByteSink& sink) {
  return write(filter, kMitz64, sink);
}

}  // namespace probably::interop
