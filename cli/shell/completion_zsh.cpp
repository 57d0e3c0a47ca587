// What zsh needs to complete commands and options: specifications for its _arguments.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shell/completion.hpp"
#include "shell/declarations.hpp"

namespace probably::cli {
namespace {

std::string zsh_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char byte : text) quoted += byte == '\'' ? "'\\''" : std::string(1, byte);
  return quoted + "'";
}

// The part of a specification that says what a value is called, and what it can be.
std::string zsh_value(const CLI::Option& option) {
  std::string values = " ";
  if (takes_file(option)) values = "_files";
  if (const auto choices = choices_of(option); !choices.empty()) {
    values = fmt::format("({})", fmt::join(choices, " "));
  }
  return fmt::format(":{}:{}", with_backslashes(value_name(option), ":\\"), values);
}

std::string zsh_option(const CLI::Option& option) {
  std::vector<std::string> excluded = names_of(option);
  for (const CLI::Option* const other : option.get_excludes()) {
    for (const std::string& name : names_of(*other)) excluded.push_back(name);
  }
  std::ranges::sort(excluded);
  std::string specifications;
  for (const std::string& name : names_of(option)) {
    const std::string_view sign = !takes_value(option) ? "" : name.starts_with("--") ? "=" : "+";
    specifications +=
        fmt::format(" \\\n        {}",
                    zsh_quoted(fmt::format("({}){}{}[{}]{}", fmt::join(excluded, " "), name, sign,
                                           with_backslashes(option.get_description(), "[]\\"),
                                           takes_value(option) ? zsh_value(option) : "")));
  }
  return specifications;
}

std::string zsh_command(const CLI::App& command) {
  std::string text = fmt::format("    {})\n      _arguments -s -S", command.get_name());
  for (const CLI::Option* const option : options_of(command)) text += zsh_option(*option);
  int place = 0;
  for (const CLI::Option* const option : positionals_of(command)) {
    const std::string where = takes_many(*option) ? "*" : std::to_string(++place);
    text +=
        fmt::format(" \\\n        {}", zsh_quoted(fmt::format("{}{}", where, zsh_value(*option))));
  }
  return text + "\n      ;;\n";
}

constexpr std::string_view kZshScript = R"(#compdef probably
# zsh completion of probably. Made by: probably completion zsh

_probably() {{
  local curcontext=$curcontext state line
  typeset -A opt_args
  local -a commands=({}
  )
  _arguments -C{} \
        '1:COMMAND:->command' \
        '*::argument:->argument' && return
  if [[ $state == command ]]; then
    _describe -t commands command commands
    return
  fi
  curcontext=${{curcontext%:*:*}}:probably-$words[1]:
  case $words[1] in
{}  esac
}}

if [[ $funcstack[1] == _probably ]]; then
  _probably "$@"
else
  compdef _probably probably
fi
)";

}  // namespace

std::string zsh_completion(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* const command : commands_of(app)) {
    commands += fmt::format("\n    {}", zsh_quoted(fmt::format("{}:{}", command->get_name(),
                                                               command->get_description())));
    cases += zsh_command(*command);
  }
  std::string options;
  for (const CLI::Option* const option : options_of(app)) options += zsh_option(*option);
  return fmt::format(kZshScript, commands, options, cases);
}

}  // namespace probably::cli
