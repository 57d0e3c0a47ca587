// The manual page, made of the declared commands and options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace probably::cli {

// As roff, for man(1).
[[nodiscard]] std::string manual_page(const CLI::App& app);

}  // namespace probably::cli
