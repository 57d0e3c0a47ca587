// What bash needs to complete commands and options: one function that knows all words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shell/completion.hpp"
#include "shell/declarations.hpp"

namespace probably::cli {
namespace {

// What sets the variables of the script to the values of an option.
std::string bash_values(const CLI::Option& option) {
  if (takes_file(option)) return "files=yes";
  return fmt::format("words='{}'", fmt::join(choices_of(option), " "));
}

std::string bash_values_of_options(const CLI::App& command) {
  std::vector<std::pair<std::string, Options>> alike;
  for (const CLI::Option* const option : options_of(command)) {
    if (!takes_value(*option)) continue;
    const std::string values = bash_values(*option);
    auto found = std::ranges::find(alike, values, &std::pair<std::string, Options>::first);
    if (found == alike.end()) found = alike.insert(alike.end(), {values, {}});
    found->second.push_back(option);
  }
  std::string text;
  for (const auto& [values, options] : alike) {
    text += fmt::format("        {}) {} is_value=yes ;;\n", fmt::join(names_of(options), " | "),
                        values);
  }
  return text.empty() ? "" : fmt::format("      case $before in\n{}      esac\n", text);
}

std::string bash_command(const CLI::App& command) {
  std::string text =
      fmt::format("    {})\n      options='{}'\n{}", command.get_name(),
                  fmt::join(names_of(options_of(command)), " "), bash_values_of_options(command));
  // Positional arguments of one command are all files, or it has just one.
  if (const Options positionals = positionals_of(command); !positionals.empty()) {
    text += fmt::format("      [[ $is_value ]] || {}\n", bash_values(*positionals.front()));
  }
  return text + "      ;;\n";
}

// Where files are wanted, the script answers nothing, and bash completes files itself, which knows
// of quotes and of ~. Where nothing is wanted, it has to be kept from that.
constexpr std::string_view kBashScript =
    R"(# bash completion of probably. Made by: probably completion bash

_probably() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  local i command='' options='' words='' files='' is_value=''
  # bash splits --kind=bloom into three words.
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $before == '=' ]]; then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${{COMP_WORDS[i]}} == -* ]] || {{ command=${{COMP_WORDS[i]}} && break; }}
  done
  case $command in
    '')
      options='{}'
      words='{}'
      ;;
{}  esac
  COMPREPLY=()
  if [[ ! $is_value && ($word == -* || ! $words$files) ]]; then
    words=$options files=''
  fi
  if [[ ! $files ]]; then
    compopt +o default +o bashdefault 2> /dev/null
    # No word has a blank or a wildcard.
    # shellcheck disable=SC2207
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
}}

complete -o bashdefault -o default -F _probably probably
)";

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* const command : commands_of(app)) cases += bash_command(*command);
  return fmt::format(kBashScript, fmt::join(names_of(options_of(app)), " "),
                     fmt::join(command_names(app), " "), cases);
}

}  // namespace probably::cli
