#include "shell/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "trouble.hpp"

namespace probably::cli {
namespace {

struct ShellName {
  Shell shell;
  std::string_view name;
};
constexpr std::array<ShellName, 3> kShells{
    {{Shell::bash, "bash"}, {Shell::zsh, "zsh"}, {Shell::fish, "fish"}}};

}  // namespace

std::vector<std::string_view> shell_names() {
  std::vector<std::string_view> names;
  names.reserve(kShells.size());
  for (const ShellName& shell : kShells) names.push_back(shell.name);
  return names;
}

Shell parse_shell(std::string_view text) {
  const auto* const found = std::ranges::find(kShells, text, &ShellName::name);
  if (found != kShells.end()) return found->shell;
  throw Trouble(fmt::format("'{}' is no shell that can be helped; there are: {}.", text,
                            fmt::join(shell_names(), " ")));
}

std::string with_backslashes(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char byte : text) {
    if (special.find(byte) != std::string_view::npos) escaped += '\\';
    escaped += byte;
  }
  return escaped;
}

std::string completion(const CLI::App& app, Shell shell) {
  switch (shell) {
    case Shell::bash:
      return bash_completion(app);
    case Shell::zsh:
      return zsh_completion(app);
    case Shell::fish:
      break;
  }
  return fish_completion(app);
}

}  // namespace probably::cli
