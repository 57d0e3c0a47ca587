#include "shell/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "shell/declarations.hpp"

namespace probably::cli {
namespace {

// How many letters have to be changed, added, removed or swapped with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> older(b.size() + 1);
  std::vector<std::size_t> old(b.size() + 1);
  std::iota(old.begin(), old.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({old[j] + 1, row[j - 1] + 1, old[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], older[j - 2] + 1);
      }
    }
    older = std::exchange(old, std::move(row));
  }
  return old.back();
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto nearest = std::ranges::min_element(
      known, {}, [word](const std::string& each) { return distance(word, each); });
  if (nearest == known.end() ||
      distance(word, *nearest) > std::max<std::size_t>(2, word.size() / 3)) {
    return "";
  }
  return fmt::format(" Did you mean {}?", *nearest);
}

const CLI::Option* option_named(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* const option : options_of(app)) {
    if (option->check_name(name)) return option;
  }
  return nullptr;
}

// --- Words that nothing is called ----------------------------------------------------------------

// What an argument such as --keys=10M or -zk2 says: the first name in it that is unknown, and
// whether its last option takes its value from the next argument.
struct Reading {
  std::string unknown;
  bool needs_next = false;
};

Reading read_long(const CLI::App& command, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  const CLI::Option* const option = option_named(command, name);
  if (option == nullptr) return {.unknown = name};
  return {.unknown = "", .needs_next = takes_value(*option) && name == argument};
}

Reading read_short(const CLI::App& command, const std::string& argument) {
  for (std::size_t i = 1; i < argument.size(); ++i) {
    const std::string name{'-', argument[i]};
    const CLI::Option* const option = option_named(command, name);
    // A word with one dash was perhaps meant to have two.
    if (option == nullptr) return {.unknown = i == 1 ? argument : name};
    if (takes_value(*option)) return {.unknown = "", .needs_next = i + 1 == argument.size()};
  }
  return {};
}

std::string unknown_option(const CLI::App& command, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (!arguments[i].starts_with("-")) continue;
    const Reading reading = arguments[i].starts_with("--") ? read_long(command, arguments[i])
                                                           : read_short(command, arguments[i]);
    if (!reading.unknown.empty()) {
      return fmt::format("There is no option {}.{}", reading.unknown,
                         did_you_mean(reading.unknown, names_of(options_of(command))));
    }
    if (reading.needs_next) ++i;
  }
  return "";
}

std::string unknown_word(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App& command = named_command(app);
  const auto word =
      std::ranges::find_if(arguments, [](const auto& each) { return !each.starts_with("-"); });
  if (&command == &app && word != arguments.end()) return unknown_command(app, *word);
  return unknown_option(command, arguments);
}

// --- Words that do not go together ---------------------------------------------------------------

std::string missing_argument(const CLI::App& command) {
  for (const CLI::Option* const option : command.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    if (option->get_positional()) return fmt::format("{} is missing.", value_name(*option));
    return fmt::format("{} {} is missing.", option->get_name(), value_name(*option));
  }
  return "";
}

std::string conflict(const CLI::App& command) {
  for (const CLI::Option* const option : command.get_options()) {
    for (const std::string& other : excluded_by(*option)) {
      if (option->count() > 0 && command.count(other) > 0) {
        return fmt::format("{} and {} exclude each other.", option->get_name(), other);
      }
    }
  }
  return "";
}

// CLI11's message is the only thing that tells which option it is about.
std::string wrong_number_of_values(const CLI::App& command, std::string_view message) {
  for (const CLI::Option* const option : options_of(command)) {
    const std::string name = option->get_name();
    if (!takes_value(*option)) {
      if (message.starts_with(fmt::format("{} ", name.substr(name.find_first_not_of('-'))))) {
        return fmt::format("{} takes no value.", name);
      }
    } else if (message.starts_with(fmt::format("{}:", name))) {
      return option->count() > 1 ? fmt::format("{} may be given only once.", name)
                                 : fmt::format("{} needs a value ({}).", name, value_name(*option));
    }
  }
  return "";
}

std::string extra_argument(const CLI::App& command) {
  for (const std::string& argument : command.remaining()) {
    if (argument != "--") return fmt::format("'{}' is one argument too many.", argument);
  }
  return "";
}

std::string what_does_not_fit(const CLI::App& command, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return missing_argument(command);
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) return conflict(command);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return extra_argument(command);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return wrong_number_of_values(command, error.what());
  }
  return "";
}

}  // namespace

std::string unknown_command(const CLI::App& app, const std::string& word) {
  return fmt::format("There is no command '{}'.{}", word, did_you_mean(word, command_names(app)));
}

std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& arguments) {
  std::string why = unknown_word(app, arguments);
  if (why.empty()) why = what_does_not_fit(named_command(app), error);
  return why.empty() ? fmt::format("{}.", error.what()) : why;
}

}  // namespace probably::cli
