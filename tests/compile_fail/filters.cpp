// What the filters refuse at compile time.
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "probably/blocked.hpp"
#include "probably/bloom.hpp"
#include "probably/scalable.hpp"

namespace {

[[maybe_unused]] bool accepted(probably::BlockedBloom& filter, std::span<const int> keys,
                               std::span<bool> out) {
  filter.contains(keys, out);
  return filter.insert("text") && filter.insert(probably::Digest{1}) && filter.contains(7);
}

// FAIL_1: deleted
#if defined(FAIL_1)
[[maybe_unused]] bool floating_point_key(probably::BlockedBloom& filter) {
  return filter.insert(1.5);
}
#endif

// A span of characters is one key, not many; as which of the two was it meant?
// FAIL_2: no matching (member )?function
#if defined(FAIL_2)
[[maybe_unused]] void characters_as_keys(const probably::BlockedBloom& filter,
                                         std::span<const char> keys, std::span<bool> out) {
  filter.contains(keys, out);
}
#endif

// FAIL_3: (convert|conversion|no matching (member )?function)
#if defined(FAIL_3)
[[maybe_unused]] bool other_kind(probably::BlockedBloom& filter, const probably::Bloom& other) {
  return filter.merge(other).has_value();
}
#endif

// A copy of a gigabyte must be asked for: clone().
// FAIL_4: deleted
#if defined(FAIL_4)
[[maybe_unused]] probably::BlockedBloom copy(const probably::BlockedBloom& filter) {
  return filter;
}
#endif

// FAIL_5: (discards qualifiers|not marked const|no matching (member )?function)
#if defined(FAIL_5)
[[maybe_unused]] bool insert_into_const(const probably::BlockedBloom& filter) {
  return filter.insert(1);
}
#endif

// An integer is a key; as a digest it would skip the hashing.
// FAIL_6: (could not convert|no viable conversion)
#if defined(FAIL_6)
[[maybe_unused]] probably::Digest digest_by_accident() { return 42; }
#endif

// FAIL_19: (explicit constructor|no matching (member )?function|call to deleted)
#if defined(FAIL_19)
[[maybe_unused]] bool digest_in_braces(probably::BlockedBloom& filter) {
  return filter.insert({42});
}
#endif

// FAIL_7: nodiscard
#if defined(FAIL_7)
#pragma GCC diagnostic error "-Wunused-result"
[[maybe_unused]] void forgotten_result(probably::BlockedBloom& filter,
                                       const probably::BlockedBloom& other) {
  filter.merge(other);
}
#endif

// nullptr converts to a string view in C++20, and reading it would crash.
// FAIL_8: deleted
#if defined(FAIL_8)
[[maybe_unused]] bool null_key(probably::BlockedBloom& filter) { return filter.insert(nullptr); }
#endif

// Where do the answers go?
// FAIL_9: deleted
#if defined(FAIL_9)
[[maybe_unused]] bool batch_without_answers(const probably::BlockedBloom& filter,
                                            std::span<const int> keys) {
  return filter.contains(keys);
}
#endif

// std::vector<bool> has bits, not bools in a row.
// FAIL_10: no matching (member )?function
#if defined(FAIL_10)
[[maybe_unused]] void packed_answers(const probably::BlockedBloom& filter,
                                     std::span<const int> keys, std::vector<bool>& out) {
  filter.contains(keys, out);
}
#endif

// FAIL_11: no matching (member )?function
#if defined(FAIL_11)
[[maybe_unused]] void bytes_as_keys(probably::ScalableBloom& filter,
                                    std::span<const std::byte> keys, std::span<bool> out) {
  filter.insert(keys, out);
}
#endif

// A vector of keys is no key; to insert them all, pass a span.
// FAIL_12: (= delete;  // write probably_digest|deleted member)
#if defined(FAIL_12)
[[maybe_unused]] bool container_as_key(probably::BlockedBloom& filter,
                                       const std::vector<std::string>& keys) {
  return filter.insert(keys);
}
#endif

// FAIL_13: (no match for .operator==|invalid operands to binary expression)
#if defined(FAIL_13)
[[maybe_unused]] bool equal_to_another_kind(const probably::BlockedBloom& filter,
                                            const probably::Bloom& other) {
  return filter == other;
}
#endif

// FAIL_14: deleted
#if defined(FAIL_14)
[[maybe_unused]] void copy_of_a_chain(probably::ScalableBloom& filter,
                                      const probably::ScalableBloom& other) {
  filter = other;
}
#endif

// FAIL_15: (discards qualifiers|not marked const|no matching (member )?function)
#if defined(FAIL_15)
[[maybe_unused]] void clear_of_const(const probably::ScalableBloom& filter) { filter.clear(); }
#endif

// A lookup without its answer does nothing.
// FAIL_16: nodiscard
#if defined(FAIL_16)
#pragma GCC diagnostic error "-Wunused-result"
[[maybe_unused]] void forgotten_answer(const probably::BlockedBloom& filter) {
  filter.contains("text");
}
#endif

// A result says whether there is a filter; it is not the filter.
// FAIL_17: (could not convert|no viable conversion)
#if defined(FAIL_17)
[[maybe_unused]] probably::BlockedBloom unchecked() {
  return probably::BlockedBloom::create({.keys = 1000, .fpr = 0.01});
}
#endif

// Success is asked for, not assumed in passing.
// FAIL_18: (cannot convert|no viable conversion)
#if defined(FAIL_18)
[[maybe_unused]] bool silent_conversion(probably::BlockedBloom& filter,
                                        const probably::BlockedBloom& other) {
  const bool merged = filter.merge(other);
  return merged;
}
#endif

}  // namespace
