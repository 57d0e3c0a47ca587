// What the including translation unit may use, and how its code is kept apart from that of others.
//
// The single-key path is compiled with the user's flags, so two translation units of one program
// can hold different instructions for it. Two measures keep the linker from giving one the other's:
// the vector code lives in an inline namespace named after the instruction set, and the functions
// above it are always inlined, so they leave no symbol to merge. The bits that they set and test
// are the same everywhere.
#pragma once

#if __cplusplus < 202002L
#error "probably needs C++20: compile with -std=c++20 or newer."
#endif

#define PROBABLY_INLINE [[gnu::always_inline]] inline

// ThreadSanitizer must see atomic loads where production code loads whole vectors.
#if defined(__SANITIZE_THREAD__)
#define PROBABLY_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PROBABLY_TSAN 1
#endif
#endif
#if !defined(PROBABLY_TSAN)
#define PROBABLY_TSAN 0
#endif

#if defined(PROBABLY_FORCE_SCALAR) || PROBABLY_TSAN
#define PROBABLY_TARGET_NAMESPACE scalar
#elif defined(__AVX2__)
#define PROBABLY_TARGET_NAMESPACE avx2
#define PROBABLY_TARGET_AVX2 1
#elif defined(__SSE2__)
#define PROBABLY_TARGET_NAMESPACE sse2
#define PROBABLY_TARGET_SSE2 1
#else
#define PROBABLY_TARGET_NAMESPACE scalar
#endif
