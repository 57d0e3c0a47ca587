// Records: lines, strings that end with a zero byte, or the rows of a CSV file, whose quoted fields
// may hold line ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace probably::cli {

struct RecordFormat {
  char end = '\n';
  // If there is one, records are rows of CSV: ends inside of quoted fields are no ends.
  std::optional<char> csv_delimiter = std::nullopt;
};

// Goes over rows of CSV (RFC 4180) byte by byte. A quote opens a field only where the field begins;
// elsewhere it is a byte like any other.
class CsvScanner {
 public:
  enum class Found : std::uint8_t { nothing, end_of_field, end_of_row };

  CsvScanner(char delimiter, char end) noexcept : delimiter_(delimiter), end_(end) {}

  Found step(char c) noexcept {
    if (place_ == Place::quoted) {
      if (c == '"') place_ = Place::behind_quote;
      return Found::nothing;
    }
    if (c == '"' && (place_ == Place::field_begin || place_ == Place::behind_quote)) {
      // The first opens a field; a second one behind a quote stands for one inside of it.
      place_ = Place::quoted;
      return Found::nothing;
    }
    const bool ends_row = c == end_;
    const bool ends_field = c == delimiter_;
    place_ = ends_row || ends_field ? Place::field_begin : Place::plain;
    return ends_row ? Found::end_of_row : ends_field ? Found::end_of_field : Found::nothing;
  }

 private:
  enum class Place : std::uint8_t { field_begin, plain, quoted, behind_quote };

  char delimiter_;
  char end_;
  Place place_ = Place::field_begin;
};

// Finds where whole records end, in a text that comes piece by piece.
class EndFinder {
 public:
  explicit EndFinder(const RecordFormat& format) noexcept;

  // How many bytes of this piece there are up to and with its last end; 0 if it has none.
  [[nodiscard]] std::size_t whole_records(std::string_view piece) noexcept;
  // What follows is another text.
  void restart() noexcept { *this = EndFinder(format_); }

 private:
  RecordFormat format_;
  CsvScanner csv_;
};

// The first record of a text that is not empty, without its end.
[[nodiscard]] std::string_view first_record(std::string_view text, const RecordFormat& format);

// Puts the records of the text, each without its end, behind those in `records`.
// Requires: the text ends with an end.
void split_records(std::string_view text, const RecordFormat& format,
                   std::vector<std::string_view>& records);

}  // namespace probably::cli
