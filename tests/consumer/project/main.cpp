// Uses the library as a stranger does: through its public headers and its package alone.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "other_flags.hpp"
#include "probably/probably.hpp"

int main() {
  if (probably::kVersion != EXPECTED_VERSION) {
    std::fprintf(stderr, "the headers and the package disagree about the version\n");
    return EXIT_FAILURE;
  }
  auto filter = probably::BlockedBloom::create({.keys = 10'000, .fpr = 0.01});
  if (!filter) {
    std::fprintf(stderr, "%s\n", filter.error().message.c_str());
    return EXIT_FAILURE;
  }

  // Half of the keys go in through code that was compiled with other flags, and each half is
  // looked up by the code that did not insert it.
  constexpr std::uint64_t kKeys = 10'000;
  for (std::uint64_t key = 0; key < kKeys; key += 2) filter->insert(key);
  for (std::uint64_t key = 1; key < kKeys; key += 2) insert_with_other_flags(*filter, key);
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    const bool here = filter->contains(key);
    const bool there = contains_with_other_flags(*filter, key);
    if (!here || !there) {
      std::fprintf(stderr, "key %llu is lost\n", static_cast<unsigned long long>(key));
      return EXIT_FAILURE;
    }
  }
  if (!filter->insert("a key of text") || !filter->contains("a key of text")) return EXIT_FAILURE;
  std::printf("consumer of probably %s: every key found\n", EXPECTED_VERSION);
  return EXIT_SUCCESS;
}
