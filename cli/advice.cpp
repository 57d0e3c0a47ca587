#include "advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

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

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands({}))
    names.push_back(command->get_name());
  return names;
}

}  // namespace

std::string unknown_word(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto commands = app.get_subcommands();
  const CLI::App& command = commands.empty() ? app : *commands.front();
  const auto options = names_of_options(command);
  for (const std::string& argument : arguments) {
    if (commands.empty() && !argument.starts_with("-")) {
      return fmt::format("There is no command '{}'.{}", argument,
                         did_you_mean(argument, names_of_commands(app)));
    }
    const std::string option = argument.substr(0, argument.find('='));
    if (option.size() > 1 && option.starts_with("-") && option != "--" &&
        std::ranges::find(options, option.starts_with("--") ? option : option.substr(0, 2)) ==
            options.end()) {
      return fmt::format("There is no option {}.{}", option, did_you_mean(option, options));
    }
  }
  return "";
}

}  // namespace probably::cli
