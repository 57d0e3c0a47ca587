// Advice for whoever mistypes: what is wrong, and the word that was probably meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace probably::cli {

// A sentence on what the parser refused.
[[nodiscard]] std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error,
                                        const std::vector<std::string>& arguments);
// A sentence on a word that is no command, with the nearest that is.
[[nodiscard]] std::string unknown_command(const CLI::App& app, const std::string& word);

}  // namespace probably::cli
