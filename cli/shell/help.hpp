// The help texts, made of the declared commands and options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "terminal/terminal.hpp"

namespace probably::cli {

// What --help prints. Examples are printed as they are; all else fits 80 columns.
class HelpFormatter : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(Paint paint) : paint_(paint) {}
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;

 private:
  [[nodiscard]] std::string heading(std::string_view text) const;
  [[nodiscard]] std::string commands(const CLI::App& app) const;
  [[nodiscard]] std::string arguments(const CLI::App& app) const;
  [[nodiscard]] std::string options(const CLI::App& app) const;
  [[nodiscard]] std::string footer(const CLI::App& app) const;

  Paint paint_;
};

// The help of exactly this command; CLI11's would be that of a command that was named.
[[nodiscard]] std::string help_of(const CLI::App& app);

}  // namespace probably::cli
