// The declared commands and options, as help, the manual page and completions read them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace probably::cli {

using Options = std::vector<const CLI::Option*>;
using Commands = std::vector<const CLI::App*>;

struct OptionGroup {
  std::string name;
  Options options;
};
struct CommandGroup {
  std::string name;
  Commands commands;
};

[[nodiscard]] Commands commands_of(const CLI::App& app);
[[nodiscard]] std::vector<std::string> command_names(const CLI::App& app);
[[nodiscard]] std::vector<CommandGroup> command_groups(const CLI::App& app);
// The command that was named, or the program itself.
[[nodiscard]] const CLI::App& named_command(const CLI::App& app);
// "probably check"
[[nodiscard]] std::string full_name(const CLI::App& app);
// What follows that name: "[OPTIONS] FILTER [FILE]..."
[[nodiscard]] std::string synopsis(const CLI::App& app);

[[nodiscard]] Options positionals_of(const CLI::App& app);
// All but the positional ones, --help last.
[[nodiscard]] Options options_of(const CLI::App& app);
[[nodiscard]] std::vector<OptionGroup> option_groups(const CLI::App& app);

// With their dashes, the short ones first.
[[nodiscard]] std::vector<std::string> names_of(const CLI::Option& option);
[[nodiscard]] std::vector<std::string> names_of(const Options& options);
// "-n, --keys COUNT"
[[nodiscard]] std::string spelling(const CLI::Option& option);
// What stands for the value, such as COUNT; empty for a flag.
[[nodiscard]] std::string value_name(const CLI::Option& option);
// A positional one as in a synopsis: "FILTER", "[FILE]..."
[[nodiscard]] std::string argument(const CLI::Option& option);
// All that the declaration says: also the values to choose from, and what it excludes.
[[nodiscard]] std::string description_of(const CLI::Option& option);
// The names of the options that it excludes, in a fixed order.
[[nodiscard]] std::vector<std::string> excluded_by(const CLI::Option& option);

[[nodiscard]] bool takes_value(const CLI::Option& option);
[[nodiscard]] bool takes_many(const CLI::Option& option);
[[nodiscard]] bool takes_file(const CLI::Option& option);

// Declares the only values that an option takes. Whoever parses the value has to refuse others.
template <class Names>
CLI::Option* choose_from(CLI::Option* option, const Names& names) {
  std::string all;
  for (const auto& name : names) all.append(all.empty() ? "" : "|").append(name);
  // The option's text is free for this: no formatter of CLI11 is used.
  return option->option_text(all);
}
// Empty if it takes others, too.
[[nodiscard]] std::vector<std::string> choices_of(const CLI::Option& option);

// What stands below the options.
enum class FooterLine { heading, example, text, blank };
[[nodiscard]] FooterLine sort_of(std::string_view footer_line);
[[nodiscard]] std::vector<std::string> footer_lines(const CLI::App& app);

}  // namespace probably::cli
