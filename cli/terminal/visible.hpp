// Any bytes as text that a terminal can show, and how wide that is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace probably::cli {

// UTF-8 as it is; what a terminal would obey, hide or not understand as \x1b.
// Never wider than max_columns: what is longer ends, or begins, with an ellipsis.
[[nodiscard]] std::string visible(std::string_view bytes,
                                  std::size_t max_columns = ~std::size_t{0});
[[nodiscard]] std::string visible_end(std::string_view bytes, std::size_t max_columns);

// UTF-8 as it is, and U+FFFD for each byte that is none.
[[nodiscard]] std::string as_utf8(std::string_view bytes);

// Of text that is visible: the columns that it takes.
[[nodiscard]] std::size_t columns(std::string_view text);

// Breaks visible text at blanks; a word that is wider stays whole.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t max_columns);

}  // namespace probably::cli
