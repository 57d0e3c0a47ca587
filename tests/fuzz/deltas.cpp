// Any bytes as a delta, for a filter of the kind that they name: all of it is added, or nothing.
#include <vector>

#include "fuzz/snapshot_file.hpp"
#include "probably/snapshot.hpp"

namespace {

using namespace probably;
using fuzz::Bytes;
using fuzz::require;

template <class F>
AnyFilter with_key(const typename F::Params& params) {
  F filter = F::create(params).value();
  filter.insert("kept");
  return filter;
}

// One of each kind.
const std::vector<AnyFilter>& targets() {
  static const auto* const all = [] {
    auto* const filters = new std::vector<AnyFilter>;
    filters->push_back(with_key<Bloom>({1000, 7}));
    filters->push_back(with_key<BlockedBloom>({21, 8}));
    filters->push_back(with_key<SplitBlockBloom>({43}));
    filters->push_back(with_key<ScalableBloom>({10, 0.01, 2}));
    filters->push_back(with_key<GoBloom>({100, 3}));
    filters->push_back(with_key<Guava32Bloom>({128, 5}));
    filters->push_back(with_key<Guava64Bloom>({128, 5}));
    filters->push_back(with_key<DcsoBloom>({100, 3}));
    filters->push_back(with_key<RedisBloom>({128, 5}));
    filters->push_back(with_key<RedisChain>({10, 0.01, 2}));
    return filters;
  }();
  return *all;
}

void check(const Bytes& bytes, const detail::Header& header, const AnyFilter& target) {
  const std::uint64_t most = fuzz::most_memory(bytes, header);
  const ApplyOptions options{.max_bytes = fuzz::kLimitBytes};
  auto filter = target.clone();
  BufferSource source(bytes);
  const auto applied = fuzz::within(most, [&] { return apply_delta(filter, source, options); });
  auto streamed = target.clone();
  fuzz::PiecewiseSource stream(bytes);
  const auto also_applied =
      fuzz::within(most, [&] { return apply_delta(streamed, stream, options); });
  require(also_applied.has_value() == applied.has_value());
  require(streamed == filter);
  auto from_file = target.clone();
  const fuzz::MemoryFile file(bytes);
  require(apply_delta(from_file, file.path(), options).has_value() ==
          (applied && *source.bytes_left() == 0));

  if (!applied) {
    fuzz::require_sentence(applied.error());
    require(filter == target && from_file == target);
    return;
  }
  require(filter.contains("kept"));
  BufferSource again(bytes);
  require(verify(again).has_value());
  // A second time, and into what has it already, it changes nothing.
  auto twice = filter.clone();
  BufferSource second(bytes);
  require(apply_delta(twice, second, options).has_value());
  require(twice == filter);
  // What was added makes a delta that does the same.
  BufferSink sink;
  require(save_delta(filter, target, sink).has_value());
  auto repeated = target.clone();
  BufferSource third(sink.bytes());
  require(apply_delta(repeated, third, options).has_value());
  require(repeated == filter);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto check_targets = [](const Bytes& bytes, const detail::Header& header) {
    for (const AnyFilter& target : targets()) {
      if (target.kind() == header.kind) check(bytes, header, target);
    }
  };
  fuzz::for_each_snapshot(fuzz::as_input(data, size), check_targets, [](const Bytes&) {});
  return 0;
}
