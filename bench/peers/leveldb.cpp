// LevelDB's Bloom filter, through the interface that its tables use.
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "contender.hpp"

namespace {

class LevelDb {
 public:
  static std::string name() { return "LevelDB"; }
  static std::string version() {
    return std::to_string(leveldb::kMajorVersion) + '.' + std::to_string(leveldb::kMinorVersion);
  }

  explicit LevelDb(std::uint64_t keys) {
    if (keys > std::numeric_limits<int>::max()) {
      std::fprintf(stderr, "LevelDB counts keys in an int\n");
      std::exit(1);
    }
  }

  // The array of slices is what the interface asks for, and so a part of its price.
  void build(std::span<const std::uint64_t> keys) {
    std::vector<leveldb::Slice> slices;
    slices.reserve(keys.size());
    for (const std::uint64_t& key : keys) slices.push_back(bytes_of(key));
    policy_->CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter_);
  }
  [[nodiscard]] bool contains(std::uint64_t key) const {
    return policy_->KeyMayMatch(bytes_of(key), filter_);
  }
  [[nodiscard]] double size_bytes() const { return static_cast<double>(filter_.size()); }

 private:
  // What its documentation recommends for about 1 %. It takes whole numbers only.
  static constexpr int kBitsPerKey = 10;

  [[nodiscard]] static leveldb::Slice bytes_of(const std::uint64_t& key) {
    return {reinterpret_cast<const char*>(&key), sizeof(key)};
  }

  std::unique_ptr<const leveldb::FilterPolicy> policy_{leveldb::NewBloomFilterPolicy(kBitsPerKey)};
  std::string filter_;
};

}  // namespace

int main(int argc, char** argv) { return bench::run_contenders<LevelDb>(argc, argv); }
