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
  // If there is one, ends between two of these are no ends.
  std::optional<char> quote = std::nullopt;
};

// How many bytes at the front are whole records: up to and with the last end.
[[nodiscard]] std::size_t whole_records(std::string_view text, const RecordFormat& format);

// Puts the records of the text, each without its end, behind those in `records`.
// Requires: the text ends with an end.
void split_records(std::string_view text, const RecordFormat& format,
                   std::vector<std::string_view>& records);

}  // namespace probably::cli
