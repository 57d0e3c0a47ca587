// Exact sets: what a filter is to be measured against, since they never answer wrongly.
#include <Judy.h>
#include <absl/base/config.h>
#include <absl/container/flat_hash_set.h>
#include <malloc.h>

#include <cstdint>
#include <string>
#include <unordered_set>

#include "contender.hpp"

#ifndef PEER_JUDY_VERSION
#define PEER_JUDY_VERSION "unknown"
#endif

namespace {

// What the program allocates between the making of this and a call of bytes().
class Allocations {
 public:
  [[nodiscard]] double bytes() const { return now() - before_; }

 private:
  static double now() {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
  }
  double before_ = now();
};

template <class Set>
class HashSet {
 public:
  explicit HashSet(std::uint64_t keys) { set_.reserve(keys); }
  void insert(std::uint64_t key) { set_.insert(key); }
  [[nodiscard]] bool contains(std::uint64_t key) const { return set_.contains(key); }
  [[nodiscard]] double size_bytes() const { return allocations_.bytes(); }

 private:
  Allocations allocations_;
  Set set_;
};

struct StdUnorderedSet : HashSet<std::unordered_set<std::uint64_t>> {
  using HashSet::HashSet;
  static std::string name() { return "std::unordered_set"; }
  static std::string version() {
    return "libstdc++ " + std::to_string(_GLIBCXX_RELEASE) + ", " + std::to_string(__GLIBCXX__);
  }
};

struct AbslFlatHashSet : HashSet<absl::flat_hash_set<std::uint64_t>> {
  using HashSet::HashSet;
  static std::string name() { return "absl::flat_hash_set"; }
  static std::string version() {
    return std::to_string(ABSL_LTS_RELEASE_VERSION) + '.' +
           std::to_string(ABSL_LTS_RELEASE_PATCH_LEVEL);
  }
};

// A trie of digits, compressed in many ways; it cannot be told its size beforehand.
class Judy1 {
 public:
  static std::string name() { return "Judy1"; }
  static std::string version() { return PEER_JUDY_VERSION; }

  explicit Judy1(std::uint64_t /*keys*/) {}
  ~Judy1() { Judy1FreeArray(&array_, PJE0); }
  Judy1(const Judy1&) = delete;
  Judy1& operator=(const Judy1&) = delete;

  void insert(std::uint64_t key) { Judy1Set(&array_, key, PJE0); }
  [[nodiscard]] bool contains(std::uint64_t key) const { return Judy1Test(array_, key, PJE0) == 1; }
  [[nodiscard]] double size_bytes() const { return allocations_.bytes(); }

 private:
  Allocations allocations_;
  void* array_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run_contenders<StdUnorderedSet, AbslFlatHashSet, Judy1>(argc, argv);
}
