// The bits of `probably demo`, drawn.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "demo/set.hpp"
#include "terminal/terminal.hpp"

namespace probably::cli {

// For a terminal of so many columns: blocks, lit or dark, and arrows to the places of a word.
[[nodiscard]] std::vector<std::string> draw_bits(const DemoSet& set,
                                                 const std::optional<DemoSet::Places>& marks,
                                                 std::size_t width, const Paint& paint);
// In plain ASCII: # is lit, . is dark, and below are the numbers of the word's places.
[[nodiscard]] std::vector<std::string> draw_plain_bits(const DemoSet& set,
                                                       const std::optional<DemoSet::Places>& marks);

}  // namespace probably::cli
