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

template <class F>
AnyFilter golden_filter(const typename F::Params& params, const Hasher& hasher,
                        std::size_t key_count) {
  F filter = F::create(params, hasher).value();
  for (const std::string& key : golden_keys(key_count)) filter.insert(key);
  // An integer, too.
  filter.insert(std::int64_t{-42});
  return filter;
}

inline std::vector<Golden> golden_files() {
  const auto with = [](bool sparse, bool secret = false) {
    return SaveOptions{.store_secret = secret, .sparse = sparse, .created = kGoldenTime};
  };
  return {
      {"example.probably",
       [] {
         auto filter = BlockedBloom::create(BlockedParams{1, 8}).value();
         filter.insert("hello");
         return AnyFilter(std::move(filter));
       },
       with(false)},
      {"bloom.probably",
       [] {
         return golden_filter<Bloom>({9586, 7}, {}, 1000);
       },
       with(false)},
      {"blocked.probably",
       [] {
         return golden_filter<BlockedBloom>({21, 8}, Hasher::xxh3(7), 1000);
       },
       with(false)},
      {"blocked_4.probably",
       [] {
         return golden_filter<BlockedBloom>({15, 4}, Hasher::murmur3(5), 1000);
       },
       with(false)},
      {"blocked_16.probably",
       [] {
         return golden_filter<BlockedBloom>({30, 16}, Hasher::fnv1a(), 500);
       },
       with(false)},
      {"split_block.probably",
       [] { return golden_filter<SplitBlockBloom>({43}, Hasher::xxh64(), 1000); }, with(false)},
      {"scalable.probably",
       [] {
         return golden_filter<ScalableBloom>({100, 0.01, 2}, {}, 1000);
       },
       with(false)},
      {"keyed.probably",
       [] {
         return golden_filter<BlockedBloom>({21, 8}, Hasher::keyed(golden_secret()), 1000);
       },
       with(false)},
      {"keyed_with_secret.probably",
       [] {
         return golden_filter<BlockedBloom>({21, 8}, Hasher::keyed(golden_secret()), 1000);
       },
       with(false, true)},
      {"sparse.probably",
       [] {
         return golden_filter<Bloom>({2'000'000, 7}, {}, 100);
       },
       with(true)},
      {"sparse_scalable.probably",
       [] {
         return golden_filter<ScalableBloom>({10'000, 0.001, 2}, {}, 300);
       },
       with(true)},
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
