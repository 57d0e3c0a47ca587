// What a Hasher refuses as a key.
#include "probably/digest.hpp"

namespace {

struct Unknown {
  int value;
};

[[maybe_unused]] probably::Digest accepted(const probably::Hasher& hash) {
  return hash.combine(hash("text"), hash(15));
}

// Equal floating-point numbers need not have equal bytes: 0.0 and -0.0.
// FAIL_1: constraints not satisfied
#if defined(FAIL_1)
[[maybe_unused]] probably::Digest floating_point() { return probably::Hasher{}(1.5); }
#endif

// The bytes of a struct may contain padding, so a type says itself how it is hashed.
// FAIL_2: constraints not satisfied
#if defined(FAIL_2)
[[maybe_unused]] probably::Digest unknown_type() { return probably::Hasher{}(Unknown{1}); }
#endif

// Two pointers to equal objects are two keys; nobody means that.
// FAIL_3: constraints not satisfied
#if defined(FAIL_3)
[[maybe_unused]] probably::Digest pointer(const Unknown* key) { return probably::Hasher{}(key); }
#endif

}  // namespace
