// What fish needs to complete commands and options: one line for each.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shell/completion.hpp"
#include "shell/declarations.hpp"

namespace probably::cli {
namespace {

std::string fish_quoted(std::string_view text) {
  return fmt::format("'{}'", with_backslashes(text, "'\\"));
}

// Which values there are, for an option or a positional argument.
std::string fish_values(const CLI::Option& option) {
  if (takes_file(option)) return " -F";
  const auto choices = choices_of(option);
  return choices.empty()
             ? ""
             : fmt::format(" -a {}", fish_quoted(fmt::to_string(fmt::join(choices, " "))));
}

// `condition` is the name of a command, or nothing for the program's own.
std::string fish_options(const CLI::App& app, std::string_view condition) {
  std::string text;
  for (const CLI::Option* const option : options_of(app)) {
    text += fmt::format("complete -c probably -n {}",
                        fish_quoted(fmt::format("__probably_command{}", condition)));
    for (const std::string& name : option->get_snames()) text += fmt::format(" -s {}", name);
    for (const std::string& name : option->get_lnames()) text += fmt::format(" -l {}", name);
    if (takes_value(*option)) {
      text += fmt::format(" {}{}", takes_file(*option) ? "-r" : "-x", fish_values(*option));
    }
    text += fmt::format(" -d {}\n", fish_quoted(option->get_description()));
  }
  return text;
}

std::string fish_command(const CLI::App& command) {
  const std::string condition = fmt::format(" {}", command.get_name());
  std::string text = fmt::format("\ncomplete -c probably -n __probably_command -a {} -d {}\n",
                                 command.get_name(), fish_quoted(command.get_description()));
  text += fish_options(command, condition);
  // fish does not count arguments, so those of one command are completed alike.
  if (const Options positionals = positionals_of(command); !positionals.empty()) {
    text += fmt::format("complete -c probably -n {}{}\n",
                        fish_quoted(fmt::format("__probably_command{}", condition)),
                        fish_values(*positionals.front()));
  }
  return text;
}

constexpr std::string_view kFishScript =
    R"(# fish completion of probably. Made by: probably completion fish

# Whether this command is on the line; without one, whether none is.
function __probably_command
    for word in (commandline -opc)[2..]
        if not string match -q -- '-*' $word
            test "$word" = "$argv"
            return
        end
    end
    test -z "$argv"
end

# No files, but where they are asked for.
complete -c probably -f
)";

}  // namespace

std::string fish_completion(const CLI::App& app) {
  std::string text(kFishScript);
  text += fish_options(app, "");
  for (const CLI::App* const command : commands_of(app)) text += fish_command(*command);
  return text;
}

}  // namespace probably::cli
