// Requirements that are checked in every build: those whose breach would write out of bounds.
#pragma once

namespace probably::detail {

// Says on standard error what was required, and aborts.
[[noreturn]] void broken_requirement(const char* sentence) noexcept;

inline void require(bool holds, const char* sentence) noexcept {
  if (!holds) [[unlikely]]
    broken_requirement(sentence);
}

}  // namespace probably::detail
