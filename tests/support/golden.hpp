// The golden files: snapshots in tests/data/snapshots, and how each is made.
//
// They pin the format. A test that fails here says that files of older versions would be read
// differently; only a new format version may add files, and none may change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "probably/snapshot.hpp"

namespace probably::testing {

inline constexpr std::uint64_t kGoldenTime = 1'600'000'000;

inline SecretKey golden_secret() {
  SecretKey secret{};
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(0xa0 + i);
  return secret;
}

struct Golden {
  std::string file;
  std::function<AnyFilter()> make;
  SaveOptions options;
};

// "key-0", "key-1", ...
inline std::vector<std::string> golden_keys(std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back("key-" + std::to_string(i));
  return keys;
}

// Makes a filter with so many keys, and an integer.
template <class F>
std::function<AnyFilter()> with_keys(const typename F::Params& params, std::size_t key_count,
                                     const typename F::Hasher& hasher = {}) {
  return [=] {
    F filter = F::create(params, hasher).value();
    for (const std::string& key : golden_keys(key_count)) filter.insert(key);
    filter.insert(std::int64_t{-42});
    return AnyFilter(std::move(filter));
  };
}

inline AnyFilter golden_example() {
  auto filter = BlockedBloom::create(BlockedParams{1, 8}).value();
  filter.insert("hello");
  return filter;
}

inline AnyFilter golden_empty() { return SplitBlockBloom::create(SplitBlockParams{5000}).value(); }

inline std::vector<Golden> golden_files() {
  const SaveOptions plain{.created = kGoldenTime};
  const SaveOptions sparse{.sparse = true, .created = kGoldenTime};
  const SaveOptions with_secret{.store_secret = true, .created = kGoldenTime};
  const Hasher keyed = Hasher::keyed(golden_secret());
  return {
      {"example.probably", golden_example, plain},
      {"bloom.probably", with_keys<Bloom>({9586, 7}, 1000), plain},
      {"two_chunks.probably", with_keys<Bloom>({530'000, 3}, 1000), plain},
      {"blocked.probably", with_keys<BlockedBloom>({21, 8}, 1000, Hasher::xxh3(7)), plain},
      {"blocked_4.probably", with_keys<BlockedBloom>({15, 4}, 1000, Hasher::murmur3(5)), plain},
      {"blocked_16.probably", with_keys<BlockedBloom>({30, 16}, 500, Hasher::fnv1a()), plain},
      {"split_block.probably", with_keys<SplitBlockBloom>({43}, 1000, Hasher::xxh64()), plain},
      {"scalable.probably", with_keys<ScalableBloom>({100, 0.01, 2}, 1000), plain},
      {"keyed.probably", with_keys<BlockedBloom>({21, 8}, 1000, keyed), plain},
      {"keyed_with_secret.probably", with_keys<BlockedBloom>({21, 8}, 1000, keyed), with_secret},
      {"sparse.probably", with_keys<Bloom>({2'000'000, 7}, 100), sparse},
      {"sparse_empty.probably", golden_empty, sparse},
      {"sparse_scalable.probably", with_keys<ScalableBloom>({100, 0.001, 2}, 300), sparse},
      {"go_bloom.probably", with_keys<GoBloom>({9586, 7}, 1000), plain},
      {"guava_32.probably", with_keys<Guava32Bloom>({9600, 7}, 1000), plain},
      {"guava_64.probably", with_keys<Guava64Bloom>({9600, 7}, 1000), plain},
      {"dcso.probably", with_keys<DcsoBloom>({9585, 7}, 1000), plain},
      {"redis_bloom.probably", with_keys<RedisBloom>({11072, 8}, 1000), plain},
      {"redis_chain.probably", with_keys<RedisChain>({200, 0.01, 2}, 1000), plain},
  };
}

inline std::string golden_path(const std::string& file) {
  return std::string(PROBABLY_TEST_DATA_DIR) + "/snapshots/" + file;
}

inline std::vector<std::byte> read_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path);
  std::vector<std::byte> bytes;
  for (std::istreambuf_iterator<char> it(stream), end; it != end; ++it) {
    bytes.push_back(static_cast<std::byte>(*it));
  }
  return bytes;
}

}  // namespace probably::testing
