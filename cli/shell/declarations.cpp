#include "shell/declarations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace probably::cli {
namespace {

constexpr std::array<std::string_view, 4> kTypesOfFiles{"FILE", "FILTER", "FROM", "TO"};

// The group of that name, which is made if there is none.
template <class Group>
Group& group_named(std::vector<Group>& groups, const std::string& name) {
  const auto found = std::ranges::find(groups, name, &Group::name);
  return found != groups.end() ? *found : groups.emplace_back(Group{name, {}});
}

}  // namespace

// --- Commands ------------------------------------------------------------------------------------

Commands commands_of(const CLI::App& app) { return app.get_subcommands({}); }

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : commands_of(app)) names.push_back(command->get_name());
  return names;
}

std::vector<CommandGroup> command_groups(const CLI::App& app) {
  std::vector<CommandGroup> groups;
  for (const CLI::App* const command : commands_of(app)) {
    group_named(groups, command->get_group()).commands.push_back(command);
  }
  return groups;
}

const CLI::App& named_command(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : *named.front();
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr
             ? app.get_name()
             : fmt::format("{} {}", app.get_parent()->get_name(), app.get_name());
}

std::string synopsis(const CLI::App& app) {
  if (!commands_of(app).empty()) return "COMMAND [OPTIONS] [ARGUMENT]...";
  std::vector<std::string> parts;
  // All have --help.
  if (options_of(app).size() > 1) parts.emplace_back("[OPTIONS]");
  for (const CLI::Option* const option : positionals_of(app)) parts.push_back(argument(*option));
  return fmt::format("{}", fmt::join(parts, " "));
}

// --- Options of a command ------------------------------------------------------------------------

Options positionals_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

Options options_of(const CLI::App& app) {
  Options options =
      app.get_options([](const CLI::Option* option) { return option->nonpositional(); });
  const auto help = std::ranges::find(options, app.get_help_ptr());
  if (help != options.end()) std::rotate(help, help + 1, options.end());
  return options;
}

std::vector<OptionGroup> option_groups(const CLI::App& app) {
  std::vector<OptionGroup> groups;
  for (const CLI::Option* const option : options_of(app)) {
    group_named(groups, option->get_group()).options.push_back(option);
  }
  return groups;
}

// --- One option ----------------------------------------------------------------------------------

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back(fmt::format("-{}", name));
  for (const std::string& name : option.get_lnames()) names.push_back(fmt::format("--{}", name));
  return names;
}

std::vector<std::string> names_of(const Options& options) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : options) {
    for (const std::string& name : names_of(*option)) names.push_back(name);
  }
  return names;
}

std::string spelling(const CLI::Option& option) {
  const std::string names = fmt::format("{}", fmt::join(names_of(option), ", "));
  return takes_value(option) ? fmt::format("{} {}", names, value_name(option)) : names;
}

std::string value_name(const CLI::Option& option) {
  return takes_value(option) ? option.get_type_name() : "";
}

std::string argument(const CLI::Option& option) {
  const std::string name = value_name(option);
  return fmt::format("{}{}", option.get_required() ? name : fmt::format("[{}]", name),
                     takes_many(option) ? "..." : "");
}

std::string description_of(const CLI::Option& option) {
  std::string text = option.get_description();
  if (const auto choices = choices_of(option); !choices.empty()) {
    text += fmt::format(": {}", fmt::join(choices, ", "));
  }
  if (option.get_required() && option.nonpositional()) text += " (required)";
  if (const auto excluded = excluded_by(option); !excluded.empty()) {
    text += fmt::format(" (not with {})", fmt::join(excluded, ", "));
  }
  return text;
}

std::vector<std::string> excluded_by(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const CLI::Option* const other : option.get_excludes()) names.push_back(other->get_name());
  // The set is ordered by addresses.
  std::ranges::sort(names);
  return names;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() != 0; }

bool takes_many(const CLI::Option& option) {
  return option.get_items_expected_max() >= CLI::detail::expected_max_vector_size;
}

bool takes_file(const CLI::Option& option) {
  return std::ranges::find(kTypesOfFiles, value_name(option)) != kTypesOfFiles.end();
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  if (option.get_option_text().empty()) return {};
  return CLI::detail::split(option.get_option_text(), '|');
}

// --- Footer --------------------------------------------------------------------------------------

FooterLine sort_of(std::string_view footer_line) {
  if (footer_line.empty()) return FooterLine::blank;
  if (footer_line.starts_with("  ")) return FooterLine::example;
  return footer_line.ends_with(":") ? FooterLine::heading : FooterLine::text;
}

std::vector<std::string> footer_lines(const CLI::App& app) {
  std::vector<std::string> lines = CLI::detail::split(app.get_footer(), '\n');
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace probably::cli
