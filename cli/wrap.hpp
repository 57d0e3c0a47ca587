// Text in lines of limited width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace probably::cli {

// Broken between words; a word that is wider than that stays whole.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace probably::cli
