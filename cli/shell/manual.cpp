#include "shell/manual.hpp"

#include <fmt/format.h>

#include "probably/version.hpp"
#include "shell/declarations.hpp"
#include "terminal/visible.hpp"

namespace probably::cli {
namespace {

// Source lines; how wide the page is, its reader decides.
constexpr std::size_t kWidth = 76;

// Text with nothing left that roff takes for its own, but a dot that begins a line. Quotes and the
// like stay what they are in the shell, so that examples can be copied from the page.
std::string escaped(std::string_view line) {
  std::string text;
  for (const char byte : line) {
    switch (byte) {
      case '\\':
        text += "\\e";
        break;
      case '-':
        text += "\\-";
        break;
      case '\'':
        text += "\\(aq";
        break;
      case '"':
        text += "\\(dq";
        break;
      case '`':
        text += "\\(ga";
        break;
      case '^':
        text += "\\(ha";
        break;
      case '~':
        text += "\\(ti";
        break;
      default:
        text += byte;
    }
  }
  return text;
}

// A line of escaped text.
std::string line(std::string_view text) {
  return fmt::format("{}{}\n", text.starts_with(".") ? "\\&" : "", text);
}

std::string paragraph(std::string_view text) {
  std::string lines;
  for (const std::string& each : wrapped(escaped(text), kWidth)) lines += line(each);
  return lines;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", escaped(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", escaped(text)); }

std::string section(std::string_view name, std::string_view text) {
  return fmt::format(".SH {}\n{}", name, text);
}

// An entry of a list: a term that is roff already, and what there is to say about it.
std::string entry(std::string_view term, std::string_view text) {
  return fmt::format(".TP\n{}\n{}", term, paragraph(text));
}

// --- Commands ------------------------------------------------------------------------------------

// As synopsis(), with what the user fills in in italics.
std::string roff_synopsis(const CLI::App& app) {
  std::string text = bold(full_name(app));
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) text += italic(word);
    word.clear();
  };
  const std::string rest = synopsis(app);
  for (const char byte : rest.empty() ? "" : fmt::format(" {}", rest)) {
    if (byte >= 'A' && byte <= 'Z') {
      word += byte;
    } else {
      end_word();
      text += byte;
    }
  }
  end_word();
  return text + "\n";
}

std::string roff_option(const CLI::Option& option) {
  std::string term;
  for (const std::string& name : names_of(option)) {
    term += fmt::format("{}{}", term.empty() ? "" : ", ", bold(name));
  }
  if (takes_value(option)) term += fmt::format(" {}", italic(value_name(option)));
  return entry(term, description_of(option));
}

std::string list_of_arguments(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* const option : positionals_of(command)) {
    text +=
        entry(fmt::format("{}{}", italic(value_name(*option)), takes_many(*option) ? "..." : ""),
              description_of(*option));
  }
  return text.empty() ? "" : fmt::format(".PP\nArguments:\n.RS\n{}.RE\n", text);
}

std::string list_of(const Options& options) {
  std::string text;
  for (const CLI::Option* const option : options) text += roff_option(*option);
  return text;
}

std::string lists_of_options(const CLI::App& command) {
  std::string text;
  for (const OptionGroup& group : option_groups(command)) {
    text += fmt::format(".PP\n{}:\n.RS\n{}.RE\n", escaped(group.name), list_of(group.options));
  }
  return text;
}

std::string example(std::string_view footer_line) { return line(escaped(footer_line.substr(2))); }

std::string footer(const CLI::App& app) {
  std::string text;
  bool is_in_examples = false;
  for (const std::string& each : footer_lines(app)) {
    const bool is_example = sort_of(each) == FooterLine::example;
    if (is_example && !is_in_examples) text += ".RS\n.nf\n";
    if (!is_example && is_in_examples) text += ".fi\n.RE\n";
    is_in_examples = is_example;
    if (is_example) {
      text += example(each);
    } else if (!each.empty()) {
      text += fmt::format(".PP\n{}", paragraph(each));
    }
  }
  return is_in_examples ? text + ".fi\n.RE\n" : text;
}

std::string command(const CLI::App& app) {
  return fmt::format(".SS {}\n{}.PP\n{}{}{}{}", escaped(app.get_name()), roff_synopsis(app),
                     paragraph(fmt::format("{}.", app.get_description())), list_of_arguments(app),
                     lists_of_options(app), footer(app));
}

std::string commands(const CLI::App& app) {
  std::string text;
  for (const CLI::App* const each : commands_of(app)) text += command(*each);
  return text;
}

// --- What no declaration says --------------------------------------------------------------------

std::string synopses(const CLI::App& app) {
  std::string text;
  for (const CLI::App* const each : commands_of(app)) {
    text += fmt::format("{}{}", text.empty() ? "" : ".br\n", roff_synopsis(*each));
  }
  return text;
}

std::string examples(const CLI::App& app) {
  std::string text = ".nf\n";
  for (const std::string& each : footer_lines(app)) {
    if (sort_of(each) == FooterLine::example) text += example(each);
  }
  return text + ".fi\n";
}

std::string description(const CLI::App& app) {
  return fmt::format(
      "{}.PP\n{}.PP\n{}", paragraph(app.get_description()),
      paragraph("A Bloom filter remembers keys in a few bits each, however long they are. It never "
                "forgets one: what it does not know was certainly not added. What it knows was "
                "probably added, and how often that is wrong is the rate that it was planned for."),
      paragraph("Records are lines, unless options say otherwise, and the whole record is its key. "
                "Messages go to standard error, so that standard output holds nothing but "
                "records and answers."));
}

std::string exit_status() {
  return fmt::format(
      "{}{}{}{}{}", paragraph("The codes are those of grep."),
      entry("0", "Some record was selected, or what was asked for is done."),
      entry("1", "No record was selected, or the filters that were compared differ."),
      entry("2", "There was trouble, which standard error tells."),
      entry("130, 143, 129",
            "The program was interrupted: by Ctrl-C, SIGTERM or SIGHUP. dedup and add finish and "
            "save what they had read by then; build saves nothing."));
}

std::string environment() {
  return fmt::format("{}{}",
                     entry(bold("NO_COLOR"), "If it is set and not empty, nothing is coloured."),
                     entry(bold("TERM"), "If it is dumb, nothing is coloured."));
}

std::string files() {
  return entry(italic("*.probably"),
               "Snapshots of filters. Every byte is covered by a checksum, and a new file replaces "
               "the old one in one step. The name may end otherwise; what a file is, its content "
               "tells.");
}

std::string see_also() {
  std::string text;
  for (const std::string_view page : {"comm", "grep", "sort", "uniq"}) {
    text += fmt::format("{}.BR {} (1)", text.empty() ? "" : ",\n", page);
  }
  return text + "\n";
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  std::string page = ".\\\" Made by: probably manual\n";
  // Without a date, so that equal sources make equal pages.
  page += fmt::format(".TH PROBABLY 1 \"\" \"probably {}\" \"User Commands\"\n", kVersion);
  page +=
      section("NAME", "probably \\- tell keys that were seen from new ones, in little memory\n");
  page += section("SYNOPSIS", synopses(app));
  page += section("DESCRIPTION", description(app));
  page += section("OPTIONS", list_of(options_of(app)));
  page += section("COMMANDS", commands(app));
  page += section("EXIT STATUS", exit_status());
  page += section("ENVIRONMENT", environment());
  page += section("FILES", files());
  page += section("EXAMPLES", examples(app));
  page += section("SEE ALSO", see_also());
  return page;
}

}  // namespace probably::cli
