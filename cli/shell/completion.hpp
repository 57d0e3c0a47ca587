// What shells need to complete commands and options, made of their declarations.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace probably::cli {

enum class Shell : std::uint8_t { bash, zsh, fish };
[[nodiscard]] std::vector<std::string_view> shell_names();
// Throws Trouble that names all of them.
[[nodiscard]] Shell parse_shell(std::string_view text);
[[nodiscard]] std::string completion(const CLI::App& app, Shell shell);

// The script of each.
[[nodiscard]] std::string bash_completion(const CLI::App& app);
[[nodiscard]] std::string zsh_completion(const CLI::App& app);
[[nodiscard]] std::string fish_completion(const CLI::App& app);

// For them: every byte that is one of the special ones gets a backslash before it.
[[nodiscard]] std::string with_backslashes(std::string_view text, std::string_view special);

}  // namespace probably::cli
