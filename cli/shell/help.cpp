#include "shell/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "shell/declarations.hpp"
#include "terminal/visible.hpp"

namespace probably::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;
// Wider names push their descriptions to the next line.
constexpr std::size_t kWidestName = 26;

std::string paragraph(std::string_view text) {
  std::string lines;
  for (const std::string& line : wrapped(text, kWidth)) lines += fmt::format("{}\n", line);
  return lines;
}

// Long names stand below each other, whether there is a short one or not.
std::string aligned_spelling(const CLI::Option& option) {
  return fmt::format("{}{}", option.get_snames().empty() ? "    " : "", spelling(option));
}

std::string list_name(const CLI::Option& positional) {
  return fmt::format("{}{}", value_name(positional), takes_many(positional) ? "..." : "");
}

// How wide the first column is, so that all lists of a help text have their second in one place.
std::size_t column(const CLI::App& app) {
  std::size_t widest = 0;
  const auto make_room = [&](std::string_view name) {
    if (name.size() <= kWidestName) widest = std::max(widest, name.size());
  };
  for (const CLI::App* const command : commands_of(app)) make_room(command->get_name());
  for (const CLI::Option* const option : positionals_of(app)) make_room(list_name(*option));
  for (const CLI::Option* const option : options_of(app)) make_room(aligned_spelling(*option));
  return kIndent + widest + kGap;
}

std::string entry(std::string_view name, std::string_view description, std::size_t column) {
  std::string text = fmt::format("{:{}}{}", "", kIndent, name);
  if (text.size() + kGap > column) text += "\n";
  bool is_first = !text.ends_with("\n");
  for (const std::string& line : wrapped(description, kWidth - column)) {
    text += fmt::format("{:{}}{}\n", "", is_first ? column - text.size() : column, line);
    is_first = false;
  }
  return text.ends_with("\n") ? text : text + "\n";
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string /*name*/,
                                     CLI::AppFormatMode /*mode*/) const {
  std::string usage = full_name(*app);
  if (const std::string rest = synopsis(*app); !rest.empty()) usage += fmt::format(" {}", rest);
  return fmt::format("{}\n{} {}\n{}{}{}{}", paragraph(app->get_description()),
                     paint_.bold("Usage:"), usage, commands(*app), arguments(*app), options(*app),
                     footer(*app));
}

std::string HelpFormatter::heading(std::string_view text) const {
  return fmt::format("\n{}\n", paint_.bold(fmt::format("{}:", text)));
}

std::string HelpFormatter::commands(const CLI::App& app) const {
  std::string text;
  for (const CommandGroup& group : command_groups(app)) {
    text += heading(group.name);
    for (const CLI::App* const command : group.commands) {
      text += entry(command->get_name(), command->get_description(), column(app));
    }
  }
  return text;
}

std::string HelpFormatter::arguments(const CLI::App& app) const {
  const Options positionals = positionals_of(app);
  if (positionals.empty()) return "";
  std::string text = heading("Arguments");
  for (const CLI::Option* const option : positionals) {
    text += entry(list_name(*option), description_of(*option), column(app));
  }
  return text;
}

std::string HelpFormatter::options(const CLI::App& app) const {
  std::string text;
  for (const OptionGroup& group : option_groups(app)) {
    text += heading(group.name);
    for (const CLI::Option* const option : group.options) {
      text += entry(aligned_spelling(*option), description_of(*option), column(app));
    }
  }
  return text;
}

std::string HelpFormatter::footer(const CLI::App& app) const {
  std::string text = "\n";
  for (const std::string& line : footer_lines(app)) {
    switch (sort_of(line)) {
      case FooterLine::heading:
        text += fmt::format("{}\n", paint_.bold(line));
        break;
      case FooterLine::example:
      case FooterLine::blank:
        text += fmt::format("{}\n", line);
        break;
      case FooterLine::text:
        text += paragraph(line);
        break;
    }
  }
  return text;
}

std::string help_of(const CLI::App& app) {
  return app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
}

}  // namespace probably::cli
