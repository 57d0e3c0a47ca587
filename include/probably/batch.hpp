// Which vector code the batch verbs run: chosen once, at run time, for this machine.
//
// The environment variable PROBABLY_TARGET forces another: avx2, sse4, ssse3 or baseline, as far as
// the machine has it. The bits and the answers are the same under each.
#pragma once

#include <string_view>

namespace probably {

// The name of the target in use.
[[nodiscard]] std::string_view batch_target() noexcept;

}  // namespace probably
