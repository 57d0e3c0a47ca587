#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "filters/filter_file.hpp"
#include "probably/version.hpp"
#include "shell/advice.hpp"
#include "shell/completion.hpp"
#include "shell/declarations.hpp"
#include "shell/help.hpp"
#include "shell/manual.hpp"
#include "trouble.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

constexpr const char* kInputGroup = "Input";
constexpr const char* kFilterGroup = "Filter";
constexpr const char* kOutputGroup = "Output";
constexpr const char* kGrowthGroup = "Growth";

// --- Values --------------------------------------------------------------------------------------

// An option whose text goes through parse(), which throws Trouble.
template <class T, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, T& value, Parse parse,
                        const std::string& type, const std::string& description) {
  return app
      .add_option_function<std::string>(
          name, [&value, parse](const std::string& text) { value = parse(text); }, description)
      ->type_name(type);
}

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (unsigned number = 1; number <= kKindCount; ++number) {
    names.push_back(name(static_cast<Kind>(number)));
  }
  return names;
}

Kind parse_kind(const std::string& text) {
  for (unsigned number = 1; number <= kKindCount; ++number) {
    const auto kind = static_cast<Kind>(number);
    if (name(kind) == text) return kind;
  }
  throw Trouble(
      fmt::format("'{}' is no kind of filter; there are: {}.", text, fmt::join(kind_names(), " ")));
}

CLI::Option* add_kind(CLI::App& app, std::optional<Kind>& kind, const std::string& description) {
  return choose_from(add_parsed(app, "--kind", kind, parse_kind, "KIND", description),
                     kind_names());
}

// Of our own kinds; a keyed one follows from --secret.
std::vector<std::string_view> hash_names() {
  return {name(HashAlgorithm::xxh3), name(HashAlgorithm::xxh64)};
}

HashAlgorithm parse_hash(const std::string& text) {
  if (text == name(HashAlgorithm::xxh3)) return HashAlgorithm::xxh3;
  if (text == name(HashAlgorithm::xxh64)) return HashAlgorithm::xxh64;
  throw Trouble(
      fmt::format("'{}' is no hash to choose; there are: {}.", text, fmt::join(hash_names(), " ")));
}

char parse_delimiter(const std::string& text) {
  if (text == "\\t") return '\t';
  if (text.size() == 1) return text.front();
  throw Trouble(fmt::format("'{}' is no delimiter: that is one byte, or \\t.", text));
}

unsigned parse_threads(const std::string& text) {
  const std::uint64_t count = parse_count(text);
  if (count == 0 || count > 64) throw Trouble("--threads takes 1 to 64.");
  return static_cast<unsigned>(count);
}

// --- Options that several commands have ----------------------------------------------------------

void add_input(CLI::App& app, InputOptions& options) {
  app.add_option("files", options.files, "Files to read; none, or -, for standard input")
      ->type_name("FILE")
      ->group(kInputGroup);
  app.add_flag("-z,--zero", options.ends_with_zero, "Records end with a zero byte, not with a line")
      ->group(kInputGroup);
  app.add_option("-k,--key", options.key,
                 "Which part of a record is its key: the number of a field, or a JSON pointer")
      ->type_name("N|/POINTER")
      ->group(kInputGroup);
  add_parsed(app, "-d,--delimiter", options.delimiter, parse_delimiter, "BYTE",
             "What separates fields (default: tab; with --csv: comma)")
      ->group(kInputGroup);
  app.add_flag("--csv", options.is_csv, "Fields may be quoted, and hold delimiters and line ends")
      ->group(kInputGroup);
  add_parsed(app, "--threads", options.threads, parse_threads, "N",
             "How many threads work (default: one per processor)")
      ->group(kInputGroup);
  app.add_flag("--progress", options.shows_progress, "Show progress even if nobody seems to watch")
      ->group(kOutputGroup);
}

void add_quiet(CLI::App& app, bool& is_quiet) {
  app.add_flag("-q,--quiet", is_quiet, "Say nothing but errors")
      ->group(kOutputGroup)
      ->excludes(app.get_option("--progress"));
}

void add_secret(CLI::App& app, std::string& path) {
  app.add_option("--secret", path,
                 "File with the secret of a keyed filter: 16 bytes, or 32 hexadecimal digits")
      ->type_name("FILE")
      ->group(kFilterGroup);
}

void add_new_filter(CLI::App& app, NewFilterOptions& options) {
  add_parsed(app, "-n,--keys", options.keys, parse_count, "COUNT",
             "Distinct keys to plan for, for example 10M (default: the filter grows)")
      ->group(kFilterGroup);
  add_parsed(app, "-p,--fpr", options.fpr, parse_rate, "RATE",
             "Share of new keys that may be taken for known: 0.1%, 1e-3, '1 in 1,000' "
             "(default: 0.1%)")
      ->group(kFilterGroup);
  add_parsed(app, "-m,--memory", options.bytes, parse_bytes, "BYTES",
             "Memory to use, for example 64MiB, instead of keys or rate")
      ->group(kFilterGroup);
  add_kind(app, options.kind, "Kind of filter (default: blocked; scalable if it grows)")
      ->group(kFilterGroup);
  choose_from(add_parsed(app, "--hash", options.hash, parse_hash, "NAME",
                         "Hash of the keys; Parquet's filters have xxh64 (default: xxh3)"),
              hash_names())
      ->group(kFilterGroup);
  add_parsed(app, "--seed", options.seed, parse_count, "NUMBER",
             "Seed of the hash; filters merge only if theirs are equal (default: 0)")
      ->group(kFilterGroup);
  add_secret(app, options.secret_file);
  app.add_flag("--strict", options.is_strict, "More keys than planned are an error")
      ->group(kFilterGroup);
}

// --- The commands --------------------------------------------------------------------------------

// All commands and their options. What is parsed goes into the members, and the last command that
// was named is the one that counts.
class CommandLine {
 public:
  CommandLine() {
    app_.description(
        "Answers \"have I seen this key?\" with no, for certain, or probably, wrong at a rate that "
        "you choose.");
    app_.require_subcommand(0, 1);
    app_.formatter(std::make_shared<HelpFormatter>(Paint(STDOUT_FILENO)));
    app_.option_defaults()->disable_flag_override();
    app_.set_help_flag("-h,--help", "Print this help");
    app_.set_version_flag("--version", fmt::format("probably {}", kVersion), "Print the version");
    group_ = "Records";
    add_dedup();
    add_build();
    add_add();
    add_check();
    group_ = "Filters";
    add_info();
    add_verify();
    add_merge();
    add_diff();
    add_convert();
    group_ = "Before you start";
    add_plan();
    add_bench();
    add_demo();
    group_ = "Help";
    add_completion();
    add_manual();
    add_help();
    app_.footer(
        "Examples:\n"
        "  probably dedup access.log > unique.log\n"
        "  probably build --keys 10M -o known.probably known.txt\n"
        "  probably check known.probably candidates.txt\n"
        "\nprobably help COMMAND tells more, with examples; probably manual | man -l - tells all.");
  }

  Command parse(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      return HelpOptions{help_of(named_command(app_))};
    } catch (const CLI::CallForVersion& version) {
      return HelpOptions{std::string(version.what()) + "\n"};
    } catch (const CLI::ParseError& error) {
      throw Trouble(fmt::format("{} See {} --help.",
                                what_is_wrong(app_, error, {argv + 1, argv + argc}),
                                full_name(named_command(app_))));
    }
    if (app_.get_subcommands().empty()) return HelpOptions{help_of(app_)};
    return command_();
  }

 private:
  CLI::App& add_command(const std::string& name, const std::string& description,
                        const std::string& examples) {
    CLI::App& command = *app_.add_subcommand(name, description);
    command.footer("Examples:\n" + examples);
    command.group(group_);
    command.get_help_ptr()->group("Other");
    return command;
  }
  // What parse() returns if this command was named.
  template <class Options>
  void returns(CLI::App& command, Options& options) {
    command.callback([this, &options] { command_ = [&options] { return Command(options); }; });
  }
  [[nodiscard]] std::string help_on(const std::string& name) const {
    for (const CLI::App* const command : commands_of(app_)) {
      if (command->get_name() == name) return help_of(*command);
    }
    throw Trouble(fmt::format("{} See probably --help.", unknown_command(app_, name)));
  }

  void add_dedup() {
    CLI::App& app = add_command(
        "dedup", "Pass on each record the first time that it is seen",
        "  probably dedup access.log > unique.log\n"
        "  zcat old.gz | probably dedup --keys 100M --fpr 0.01% --state seen.probably > new.txt\n"
        "  probably dedup --csv --key 3 users.csv      # by the third column\n"
        "  probably dedup --key /user/id events.jsonl  # by a value of JSON lines\n"
        "  probably dedup --exact-check big.txt > unique.txt  # exactly awk '!seen[$0]++'\n");
    add_input(app, dedup_.input);
    add_quiet(app, dedup_.input.is_quiet);
    add_new_filter(app, dedup_.filter);
    app.add_option("-s,--state", dedup_.state,
                   "Load the filter from this file, if it is there, and save it in the end")
        ->type_name("FILE")
        ->group(kFilterGroup);
    app.add_flag("-r,--repeated", dedup_.prints_repeated, "Pass on what was seen before, instead")
        ->group(kOutputGroup);
    app.add_flag("-c,--count", dedup_.only_counts, "Print only how many there are")
        ->group(kOutputGroup);
    app.add_flag("--exact-check", dedup_.is_exact,
                 "Read files a second time to compare suspects byte by byte: no line is lost")
        ->group(kOutputGroup);
    returns(app, dedup_);
  }

  void add_build() {
    CLI::App& app = add_command("build", "Make a filter of records",
                                "  probably build --keys 10M -o known.probably known.txt\n"
                                "  probably build --memory 64MiB -o known.probably < known.txt\n");
    add_input(app, build_.input);
    add_quiet(app, build_.input.is_quiet);
    add_new_filter(app, build_.filter);
    app.add_option("-o,--output", build_.output, "The file to write")
        ->type_name("FILE")
        ->required()
        ->group(kOutputGroup);
    app.add_flag("--sparse", build_.is_sparse,
                 "Compress it; smaller while few bits are set, but it cannot be mapped")
        ->group(kOutputGroup);
    app.add_flag("--store-secret", build_.stores_secret,
                 "Put the secret into the file, where whoever reads the file reads it")
        ->group(kOutputGroup);
    returns(app, build_);
  }

  void add_add() {
    CLI::App& app =
        add_command("add", "Add records to a filter", "  probably add known.probably today.txt\n");
    app.add_option("filter", add_.filter.path, "The filter, of any format")
        ->type_name("FILTER")
        ->required()
        ->group(kFilterGroup);
    add_input(app, add_.input);
    add_quiet(app, add_.input.is_quiet);
    add_secret(app, add_.filter.secret_file);
    add_parsed(app, "-p,--fpr", add_.fpr, parse_rate, "RATE",
               "The rate beyond which the filter counts as full (default: what it was built for)")
        ->group(kFilterGroup);
    app.add_flag("--strict", add_.is_strict, "More keys than the filter has room for are an error")
        ->group(kFilterGroup);
    returns(app, add_);
  }

  void add_check() {
    CLI::App& app = add_command(
        "check", "Print the records that are probably in a filter",
        "  probably check known.probably candidates.txt\n"
        "  probably check -v known.probably < candidates.txt   # those that are certainly not\n"
        "  printf 'key' | probably check -q known.probably && echo probably\n"
        "\nThe exit code is 0 if some record was selected, 1 if none was, 2 if there was "
        "trouble.\n");
    app.add_option("filter", check_.filter.path, "The filter, of any format")
        ->type_name("FILTER")
        ->required()
        ->group(kFilterGroup);
    add_input(app, check_.input);
    add_secret(app, check_.filter.secret_file);
    app.add_flag("-v,--invert", check_.is_inverted, "Print those that are certainly not, instead")
        ->group(kOutputGroup);
    auto* const count =
        app.add_flag("-c,--count", check_.only_counts, "Print only how many there are")
            ->group(kOutputGroup);
    app.add_flag("-q,--quiet", check_.only_exit_code, "Print nothing at all; the exit code tells")
        ->group(kOutputGroup)
        ->excludes(count);
    app.add_flag("--no-summary", check_.input.is_quiet, "Print only what is asked for")
        ->group(kOutputGroup);
    returns(app, check_);
  }

  void add_info() {
    CLI::App& app = add_command("info", "Tell what a filter is, and how full",
                                "  probably info known.probably\n"
                                "  probably info --json known.probably | jq .fill\n");
    app.add_option("filters", info_.files, "Filters, of any format")
        ->type_name("FILTER")
        ->required()
        ->group(kFilterGroup);
    add_secret(app, info_.secret_file);
    add_parsed(app, "-p,--fpr", info_.fpr, parse_rate, "RATE",
               "The rate at which the filter counts as full (default: what it was built for)")
        ->group(kFilterGroup);
    auto* const json =
        app.add_flag("--json", info_.as_json, "One JSON object for each")->group(kOutputGroup);
    app.add_flag("--metrics", info_.as_metrics, "OpenMetrics text, for Prometheus and its like")
        ->group(kOutputGroup)
        ->excludes(json);
    returns(app, info_);
  }

  void add_verify() {
    CLI::App& app =
        add_command("verify", "Check every byte of a snapshot", "  probably verify *.probably\n");
    app.add_option("snapshots", verify_.files, "Snapshots")->type_name("FILE")->required();
    app.add_flag("-q,--quiet", verify_.is_quiet, "Say nothing but errors");
    returns(app, verify_);
  }

  void add_merge() {
    CLI::App& app =
        add_command("merge", "Make one filter that has the keys of several",
                    "  probably merge -o all.probably monday.probably tuesday.probably\n");
    app.add_option("filters", merge_.files, "Filters with equal size and hash, of any format")
        ->type_name("FILTER")
        ->required();
    app.add_option("-o,--output", merge_.output, "The file to write")
        ->type_name("FILE")
        ->required();
    add_secret(app, merge_.secret_file);
    returns(app, merge_);
  }

  void add_diff() {
    CLI::App& app =
        add_command("diff", "Tell what one filter has that the other lacks, as far as bits tell",
                    "  probably diff monday.probably tuesday.probably\n");
    app.add_option("first", diff_.first, "A filter")->type_name("FILTER")->required();
    app.add_option("second", diff_.second, "Another, with equal size and hash")
        ->type_name("FILTER")
        ->required();
    add_secret(app, diff_.secret_file);
    app.add_flag("--json", diff_.as_json, "As a JSON object");
    returns(app, diff_);
  }

  void add_convert() {
    CLI::App& app = add_command(
        "convert", "Write a filter in another format",
        "  probably convert java.bloom known.probably\n"
        "  probably convert --to go known.probably known.bin\n"
        "  probably convert --column user_id --row-group 0 events.parquet ids.probably\n");
    app.add_option("input", convert_.input, "A filter of any format, also compressed")
        ->type_name("FROM")
        ->required();
    app.add_option("output", convert_.output, "The file to write")->type_name("TO")->required();
    choose_from(add_parsed(
                    app, "--to", convert_.format,
                    [](const std::string& text) { return name(parse_format(text)); }, "FORMAT",
                    "The format to write (default: probably)"),
                format_names());
    app.add_option("--column", convert_.column, "Of a Parquet file, the column")->type_name("NAME");
    add_parsed(app, "--row-group", convert_.row_group, parse_count, "N",
               "Of a Parquet file, the row group, counted from 0");
    add_secret(app, convert_.secret_file);
    app.add_flag("--sparse", convert_.is_sparse, "Compress a snapshot");
    returns(app, convert_);
  }

  void add_plan() {
    CLI::App& app =
        add_command("plan", "Solve for keys, rate or memory, and compare all kinds of filters",
                    "  probably plan --keys 10M --fpr 0.1%             # how much memory?\n"
                    "  probably plan --keys 10M --memory 16MiB         # which rate?\n"
                    "  probably plan --memory 1GiB --fpr '1 in 10,000' # how many keys?\n"
                    "  probably plan --keys 10M --fpr 1% --growth 40% --for 3y --headroom 20%\n"
                    "  probably plan --keys 10M --fpr 1% --svg plan.svg\n");
    add_parsed(app, "-n,--keys", plan_.keys, parse_count, "COUNT",
               "Distinct keys, for example 10M; those of today, if they grow");
    add_parsed(app, "-p,--fpr", plan_.fpr, parse_rate, "RATE",
               "Share of absent keys that may be taken for known: 0.1%, 1e-3, '1 in 1,000' "
               "(default: 0.1%, unless keys and memory decide)");
    add_parsed(app, "-m,--memory", plan_.bytes, parse_bytes, "BYTES",
               "Memory to use, for example 64MiB; with keys and rate, the most to use");
    add_kind(app, plan_.kind, "The kind to plan (default: blocked, or the first that can)");
    add_parsed(app, "--growth", plan_.yearly_growth, parse_share, "SHARE",
               "How much the number of keys grows in a year, for example 40%")
        ->group(kGrowthGroup);
    add_parsed(app, "--for", plan_.days, parse_days, "TIME",
               "How long the filter shall last, for example 18 months (default: 1y)")
        ->group(kGrowthGroup);
    add_parsed(app, "--headroom", plan_.headroom, parse_share, "SHARE",
               "Room to keep free beyond that, for example 20% (default: none)")
        ->group(kGrowthGroup);
    app.add_option("--svg", plan_.svg, "Draw the rate against the memory into this file")
        ->type_name("FILE")
        ->group(kOutputGroup);
    app.add_flag("--json", plan_.as_json, "As a JSON object")->group(kOutputGroup);
    returns(app, plan_);
  }

  void add_bench() {
    CLI::App& app =
        add_command("bench", "Measure filters on this machine, beside one random memory read",
                    "  probably bench\n"
                    "  probably bench --keys 100M --fpr 0.01% --kind split_block\n");
    add_parsed(app, "-n,--keys", bench_.keys, parse_count, "COUNT",
               "Keys in each filter (default: 10M)");
    add_parsed(app, "-p,--fpr", bench_.fpr, parse_rate, "RATE", "Planned rate (default: 1%)");
    add_kind(app, bench_.kind,
             "Measure only this kind (default: blocked, split_block, bloom and scalable)");
    app.add_flag("--json", bench_.as_json, "As a JSON object");
    returns(app, bench_);
  }

  void add_demo() {
    CLI::App& app = add_command("demo", "Watch 15 bits at work: type words, see bits light up",
                                "  probably demo\n"
                                "  printf 'cat\\ndog\\n?cow\\n' | probably demo\n"
                                "\nword adds a word, ?word tests it, clear makes all bits dark, "
                                "quit or Ctrl-D ends;\n+word adds also what is a command.\n");
    returns(app, demo_);
  }

  void add_completion() {
    CLI::App& app = add_command(
        "completion", "Print what a shell needs to complete commands and options",
        "  probably completion bash > ~/.local/share/bash-completion/completions/probably\n"
        "  probably completion zsh > ~/.zfunc/_probably   # a directory of $fpath\n"
        "  probably completion fish > ~/.config/fish/completions/probably.fish\n");
    choose_from(add_parsed(app, "shell", shell_, parse_shell, "SHELL", "The shell"), shell_names())
        ->required();
    app.callback([this] { command_ = [this] { return HelpOptions{completion(app_, shell_)}; }; });
  }

  void add_manual() {
    CLI::App& app =
        add_command("manual", "Print the manual page, as roff", "  probably manual | man -l -\n");
    app.callback([this] { command_ = [this] { return HelpOptions{manual_page(app_)}; }; });
  }

  void add_help() {
    CLI::App& app = add_command("help", "Print the help of a command, or the list of all",
                                "  probably help dedup\n");
    choose_from(app.add_option("command", topic_, "The command"), command_names(app_))
        ->type_name("COMMAND");
    app.callback([this] {
      command_ = [this] { return HelpOptions{topic_.empty() ? help_of(app_) : help_on(topic_)}; };
    });
  }

  CLI::App app_{"", "probably"};
  std::string group_;  // of the commands that are added next
  DedupOptions dedup_;
  BuildOptions build_;
  AddOptions add_;
  CheckOptions check_;
  InfoOptions info_;
  VerifyOptions verify_;
  MergeOptions merge_;
  DiffOptions diff_;
  ConvertOptions convert_;
  PlanOptions plan_;
  BenchOptions bench_;
  DemoOptions demo_;
  Shell shell_{};
  std::string topic_;
  std::function<Command()> command_;
};

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  return CommandLine().parse(argc, argv);
}

}  // namespace probably::cli
