// One filter, driven by lines: what the tests of this folder compare with other software.
//
//   neighbour go|go_json|guava32|guava64|dcso|dcso_gzip|parquet
//
// For each line of the input there is one of output. Bytes are hexadecimal, with `-` for none. A
// key is bytes, or `#` and a decimal number for an integer.
//
//   plan KEYS FPR       makes an empty filter as the other software would; answers its size
//   create SIZE...      the same of bits and hashes, or of Parquet's blocks
//   read FILE           takes the filter of a file's bytes
//   write               answers the file's bytes
//   add KEY...          inserts; answers 1 for each key that was new, else 0
//   ask KEY...          answers 1 for each key that may be in the filter, else 0
//   merge FILE          takes over the keys of a file
//   data [BYTES]        sets the user data of DCSO's file; answers them
//   list PATH           answers column:row_group:offset:bytes for each filter of a Parquet file
//   open PATH COLUMN ROW_GROUP    takes one of them
//
// What fails answers `error` and the reason, and the filter stays.
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "probably/interop.hpp"

namespace {

using namespace probably;

using Bytes = std::vector<std::byte>;
using Words = std::vector<std::string>;

// --- Words of the lines --------------------------------------------------------------------------

template <class T>
T number(std::string_view text, auto... base) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value, base...);
  if (error != std::errc{} || next != end) {
    throw std::invalid_argument("not a number: " + std::string(text));
  }
  return value;
}

Bytes from_hex(std::string_view text) {
  Bytes bytes;
  if (text == "-") return bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(number<std::uint8_t>(text.substr(i, 2), 16)));
  }
  return bytes;
}

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text.empty() ? "-" : text;
}

// 1 or 0 for each key, as `verb` says of it.
std::string each_key(std::span<const std::string> keys, auto&& verb) {
  std::string answers;
  for (const std::string& key : keys) {
    const bool answer =
        key.front() == '#' ? verb(number<std::int64_t>(key.substr(1))) : verb(from_hex(key));
    answers += answer ? '1' : '0';
  }
  return answers;
}

// --- Formats -------------------------------------------------------------------------------------

// What a file holds, where that is a filter and nothing else.
template <class F>
struct Plain {
  F filter;
};

template <class F>
Result<Plain<F>> plain(Result<F> filter) {
  if (!filter) return filter.error();
  return Plain<F>{*std::move(filter)};
}

struct Go {
  using File = Plain<GoBloom>;
  static Result<File> read(ByteSource& source) { return plain(interop::read_go(source)); }
  static Result<void> write(const File& file, ByteSink& sink) {
    return interop::write_go(file.filter, sink);
  }
};

struct GoJson {
  using File = Plain<GoBloom>;
  static Result<File> read(ByteSource& source) { return plain(interop::read_go_json(source)); }
  static Result<void> write(const File& file, ByteSink& sink) {
    return interop::write_go_json(file.filter, sink);
  }
};

template <class F>
struct Guava {
  using File = Plain<F>;
  static Result<File> read(ByteSource& source) {
    auto filter = interop::read_guava(source);
    if (!filter) return filter.error();
    return File{std::get<F>(*std::move(filter))};
  }
  static Result<void> write(const File& file, ByteSink& sink) {
    return interop::write_guava(file.filter, sink);
  }
};

struct Dcso {
  using File = interop::DcsoFile;
  static Result<File> read(ByteSource& source) { return interop::read_dcso(source); }
  static Result<void> write(const File& file, ByteSink& sink) {
    return interop::write_dcso(file, sink);
  }
};

struct DcsoGzip {
  using File = interop::DcsoFile;
  static Result<File> read(ByteSource& source) {
    GzipSource plain_source(source);
    return interop::read_dcso(plain_source);
  }
  static Result<void> write(const File& file, ByteSink& sink) {
    GzipSink compressed(sink);
    if (auto done = interop::write_dcso(file, compressed); !done) return done;
    return compressed.finish();
  }
};

struct Parquet {
  using File = Plain<SplitBlockBloom>;
  static Result<File> read(ByteSource& source) {
    return plain(interop::read_parquet_filter(source));
  }
  static Result<void> write(const File& file, ByteSink& sink) {
    return interop::write_parquet_filter(file.filter, sink);
  }
};

// --- Commands ------------------------------------------------------------------------------------

template <class Format>
class Session {
  using File = typename Format::File;
  using Filter = decltype(File::filter);
  using Params = typename Filter::Params;
  static constexpr bool kIsDcso = std::same_as<File, interop::DcsoFile>;
  static constexpr bool kIsParquet = std::same_as<Filter, SplitBlockBloom>;

 public:
  std::string run(const Words& words) {
    const std::string_view verb = words.at(0);
    const auto rest = std::span(words).subspan(1);
    if (verb == "plan")
      return plan(number<std::uint64_t>(words.at(1)), number<double>(words.at(2)));
    if (verb == "create") return create(words);
    if (verb == "read") {
      file_ = read(words.at(1));
      return size();
    }
    if (verb == "write") {
      BufferSink sink;
      Format::write(file(), sink).value();
      return to_hex(sink.bytes());
    }
    if (verb == "add") return add(rest);
    if (verb == "ask") {
      const Filter& filter = file().filter;
      return each_key(rest, [&](const auto& key) { return filter.contains(key); });
    }
    if (verb == "merge") return merge(read(words.at(1)));
    if constexpr (kIsDcso) {
      if (verb == "data") {
        if (words.size() > 1) file().data = from_hex(words[1]);
        return to_hex(file().data);
      }
    }
    if constexpr (kIsParquet) {
      if (verb == "list") return list(words.at(1));
      if (verb == "open") {
        file_ = plain(interop::read_parquet_file(words.at(1), words.at(2),
                                                 number<std::uint64_t>(words.at(3))))
                    .value();
        return size();
      }
    }
    throw std::invalid_argument("unknown command");
  }

 private:
  File& file() {
    if (!file_) throw std::logic_error("there is no filter yet");
    return *file_;
  }

  std::string size() {
    const Params& params = file().filter.params();
    if constexpr (kIsParquet) {
      return std::to_string(params.blocks);
    } else {
      return std::to_string(params.bits) + ' ' + std::to_string(params.hashes);
    }
  }

  static Filter make(const Params& params) {
    if constexpr (kIsParquet) {
      return Filter::create(params, Hasher::xxh64()).value();
    } else {
      return Filter::create(params).value();
    }
  }

  std::string plan(std::uint64_t keys, double fpr) {
    file_ = File{make(Params::from(Plan{.keys = keys, .fpr = fpr}).value())};
    if constexpr (kIsDcso) {
      file_->planned_keys = keys;
      file_->planned_fpr = fpr;
    }
    return size();
  }

  std::string create(const Words& words) {
    Params params{number<std::uint64_t>(words.at(1))};
    if constexpr (!kIsParquet) params.hashes = number<std::uint32_t>(words.at(2));
    file_ = File{make(params)};
    return size();
  }

  static File read(std::string_view hex) {
    const Bytes bytes = from_hex(hex);
    BufferSource source(bytes);
    return Format::read(source).value();
  }

  std::string add(std::span<const std::string> keys) {
    Filter& filter = file().filter;
    return each_key(keys, [&](const auto& key) {
      const bool is_new = filter.insert(key);
      if constexpr (kIsDcso) file().insertions += is_new ? 1 : 0;
      return is_new;
    });
  }

  std::string merge(const File& other) {
    file().filter.merge(other.filter).value();
    // As DCSO's own `join` counts.
    if constexpr (kIsDcso) file().insertions += other.insertions;
    return size();
  }

  static std::string list(const std::string& path) {
    const auto filters = interop::list_parquet_filters(path).value();
    std::string text;
    for (const interop::ParquetFilter& each : filters) {
      if (!text.empty()) text += ' ';
      text += each.column + ':' + std::to_string(each.row_group) + ':' +
              std::to_string(each.offset) + ':' + std::to_string(each.bytes);
    }
    return text;
  }

  std::optional<File> file_;
};

template <class Format>
int serve() {
  Session<Format> session;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream stream(line);
    Words words;
    for (std::string word; stream >> word;) words.push_back(std::move(word));
    std::string answer;
    try {
      answer = session.run(words);
    } catch (const std::exception& failure) {
      answer = std::string("error ") + failure.what();
    }
    std::cout << answer << std::endl;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view format = count == 2 ? arguments[1] : "";
  if (format == "go") return serve<Go>();
  if (format == "go_json") return serve<GoJson>();
  if (format == "guava32") return serve<Guava<Guava32Bloom>>();
  if (format == "guava64") return serve<Guava<Guava64Bloom>>();
  if (format == "dcso") return serve<Dcso>();
  if (format == "dcso_gzip") return serve<DcsoGzip>();
  if (format == "parquet") return serve<Parquet>();
  std::cerr << "usage: neighbour go|go_json|guava32|guava64|dcso|dcso_gzip|parquet\n";
  return 2;
}
