#include "probably/detail/require.hpp"

#include <cstdio>
#include <cstdlib>

void probably::detail::broken_requirement(const char* sentence) noexcept {
  std::fprintf(stderr, "probably: %s\n", sentence);
  std::abort();
}
