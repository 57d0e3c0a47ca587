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

// Finds where whole records end, in a text that comes piece by piece.
class EndFinder {
 public:
  explicit EndFinder(const RecordFormat& format) noexcept : format_(format) {}

  // How many bytes of this piece there are up to and with its last end; 0 if it has none.
  [[nodiscard]] std::size_t whole_records(std::string_view piece) noexcept;
  // What follows is another text.
  void restart() noexcept { is_quoted_ = false; }

 private:
  RecordFormat format_;
  bool is_quoted_ = false;  // after the last piece
};

// The first record of a text that is not empty, without its end.
[[nodiscard]] std::string_view first_record(std::string_view text, const RecordFormat& format);

// Puts the records of the text, each without its end, behind those in `records`.
// Requires: the text ends with an end.
void split_records(std::string_view text, const RecordFormat& format,
                   std::vector<std::string_view>& records);

}  // namespace probably::cli
