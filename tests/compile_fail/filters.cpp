// What the filters refuse at compile time.
#include <array>
#include <span>
#include <vector>

#include "probably/blocked.hpp"
#include "probably/bloom.hpp"

namespace {

[[maybe_unused]] bool accepted(probably::BlockedBloom& filter, std::span<const int> keys,
                               std::span<bool> out) {
  filter.contains(keys, out);
  return filter.insert("text") && filter.insert(probably::Digest{1}) && filter.contains(7);
}

// FAIL_1: no matching (member )?function
#if defined(FAIL_1)
[[maybe_unused]] bool floating_point_key(probably::BlockedBloom& filter) { return filter.insert(1.5); }
#endif

// A span of characters is one key, not many; as which of the two was it meant?
// FAIL_2: no matching (member )?function
#if defined(FAIL_2)
[[maybe_unused]] void characters_as_keys(const probably::BlockedBloom& filter, std::span<const char> keys,
                                         std::span<bool> out) {
  filter.contains(keys, out);
}
#endif

// FAIL_3: (cannot convert|no known conversion|could not convert|no viable conversion|no matching (member )?function)
#if defined(FAIL_3)
[[maybe_unused]] bool other_kind(probably::BlockedBloom& filter, const probably::Bloom& other) {
  return filter.merge(other).has_value();
}
#endif

// A copy of a gigabyte must be asked for: clone().
// FAIL_4: deleted
#if defined(FAIL_4)
[[maybe_unused]] probably::BlockedBloom copy(const probably::BlockedBloom& filter) { return filter; }
#endif

// FAIL_5: (discards qualifiers|not marked const|no matching (member )?function)
#if defined(FAIL_5)
[[maybe_unused]] bool insert_into_const(const probably::BlockedBloom& filter) { return filter.insert(1); }
#endif

// An integer is a key; as a digest it would skip the hashing.
// FAIL_6: (could not convert|no viable conversion)
#if defined(FAIL_6)
[[maybe_unused]] probably::Digest digest_by_accident() { return 42; }
#endif

// FAIL_7: nodiscard
#if defined(FAIL_7)
#pragma GCC diagnostic error "-Wunused-result"
[[maybe_unused]] void forgotten_result(probably::BlockedBloom& filter, const probably::BlockedBloom& other) {
  filter.merge(other);
}
#endif

}  // namespace
