// Advice for whoever mistypes: the word that was probably meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace probably::cli {

// A sentence on the first word of the arguments that is no command and no option, with the nearest
// that is; empty if there is no such word.
[[nodiscard]] std::string unknown_word(const CLI::App& app,
                                       const std::vector<std::string>& arguments);

}  // namespace probably::cli
