// libbloom: a Bloom filter in C.
#include <bloom.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "contender.hpp"

namespace {

class LibBloom {
 public:
  static std::string name() { return "libbloom"; }
  static std::string version() { return bloom_version(); }

  explicit LibBloom(std::uint64_t keys) {
    if (bloom_init(&filter_, static_cast<int>(keys), bench::kFpr) != 0) {
      std::fprintf(stderr, "libbloom refuses this size\n");
      std::exit(1);
    }
  }
  ~LibBloom() { bloom_free(&filter_); }
  LibBloom(const LibBloom&) = delete;
  LibBloom& operator=(const LibBloom&) = delete;

  void insert(std::uint64_t key) { bloom_add(&filter_, &key, sizeof(key)); }
  [[nodiscard]] bool contains(std::uint64_t key) const {
    return bloom_check(const_cast<bloom*>(&filter_), &key, sizeof(key)) == 1;
  }
  [[nodiscard]] double size_bytes() const { return filter_.bytes; }

 private:
  bloom filter_{};
};

}  // namespace

int main(int argc, char** argv) { return bench::run_contenders<LibBloom>(argc, argv); }
