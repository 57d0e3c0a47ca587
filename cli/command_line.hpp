// What the user asked for. The options are declared in command_line.cpp, and nowhere else: help
// texts, the manual page and the completions of shells are made of the same declarations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "probably/kinds.hpp"

namespace probably::cli {

// How records come in, and how much is told meanwhile.
struct InputOptions {
  std::vector<std::string> files;  // none: standard input
  bool ends_with_zero = false;
  std::string key;  // number of a field, or a JSON pointer; none: the whole record
  bool is_csv = false;
  std::optional<char> delimiter;
  unsigned threads = 0;  // 0: one per processor
  bool is_quiet = false;
  bool shows_progress = false;  // also where nobody seems to watch
};

// A filter to be made.
struct NewFilterOptions {
  std::optional<std::uint64_t> keys;
  std::optional<double> fpr;
  std::optional<std::uint64_t> bytes;  // instead of one of these
  std::optional<Kind> kind;
  std::optional<HashAlgorithm> hash;
  std::optional<std::uint64_t> seed;
  std::string secret_file;  // 16 bytes, or 32 hexadecimal digits
  bool is_strict = false;   // more keys than planned are an error
};

// A filter that is there.
struct FilterFile {
  std::string path;
  std::string secret_file;
};

struct DedupOptions {
  InputOptions input;
  NewFilterOptions filter;
  std::string state;
  bool prints_repeated = false;
  bool only_counts = false;
  bool is_exact = false;
};

struct BuildOptions {
  InputOptions input;
  NewFilterOptions filter;
  std::string output;
  bool is_sparse = false;
  bool stores_secret = false;
};

struct AddOptions {
  InputOptions input;
  FilterFile filter;
  std::optional<double> fpr;  // beyond which it is full
  bool is_strict = false;
};

struct CheckOptions {
  InputOptions input;
  FilterFile filter;
  bool is_inverted = false;
  bool only_counts = false;
  bool only_exit_code = false;
};

struct InfoOptions {
  std::vector<std::string> files;
  std::string secret_file;
  std::optional<double> fpr;
  bool as_json = false;
  bool as_metrics = false;
};

struct VerifyOptions {
  std::vector<std::string> files;
  bool is_quiet = false;
};

struct MergeOptions {
  std::vector<std::string> files;
  std::string output;
  std::string secret_file;
};

struct DiffOptions {
  std::string first;
  std::string second;
  std::string secret_file;
  bool as_json = false;
};

struct ConvertOptions {
  std::string input;
  std::string output;
  std::string format;
  std::string column;  // of a .parquet file
  std::uint64_t row_group = 0;
  std::string secret_file;
  bool is_sparse = false;
};

struct PlanOptions {
  std::optional<std::uint64_t> keys;  // now, if they grow
  std::optional<double> fpr;
  std::optional<std::uint64_t> bytes;
  std::optional<Kind> kind;
  std::optional<double> yearly_growth;  // 0.4: 40 % more each year
  std::optional<double> days;           // that the filter shall last
  std::optional<double> headroom;
  std::string svg;
  bool as_json = false;
};

struct BenchOptions {
  std::uint64_t keys = 10'000'000;
  double fpr = 0.01;
  std::optional<Kind> kind;
  bool as_json = false;
};

struct DemoOptions {};

struct HelpOptions {
  std::string text;  // to be printed as it is
};

using Command = std::variant<HelpOptions, DedupOptions, BuildOptions, AddOptions, CheckOptions,
                             InfoOptions, VerifyOptions, MergeOptions, DiffOptions, ConvertOptions,
                             PlanOptions, BenchOptions, DemoOptions>;

// What the arguments say. Throws Trouble, with advice, if they say nothing sensible.
[[nodiscard]] Command parse_command_line(int argc, const char* const* argv);

}  // namespace probably::cli
