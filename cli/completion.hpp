// What shells need to complete commands and options, made of their declarations.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace probably::cli {

enum class Shell : std::uint8_t { bash, zsh, fish };
// Throws Trouble that names all of them.
[[nodiscard]] Shell parse_shell(std::string_view text);
[[nodiscard]] std::string completion(const CLI::App& app, Shell shell);

}  // namespace probably::cli
