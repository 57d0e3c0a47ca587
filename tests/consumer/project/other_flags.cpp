#include "other_flags.hpp"

void insert_with_other_flags(probably::BlockedBloom& filter, std::uint64_t key) {
  filter.insert(key);
}

bool contains_with_other_flags(const probably::BlockedBloom& filter, std::uint64_t key) {
  return filter.contains(key);
}
