#include "records/records.hpp"

#include <bit>
#include <cassert>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace probably::cli {
namespace {

// Calls use(place) for each place of the byte, in order.
template <class Use>
void for_each_place(std::string_view text, char byte, Use&& use) {
  std::size_t at = 0;
#if defined(__SSE2__)
  // Lines are short: to look at 16 bytes at once beats a call for each line.
  const __m128i wanted = _mm_set1_epi8(byte);
  for (; text.size() - at >= 64; at += 64) {
    std::uint64_t found = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const __m128i some =
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at + std::size_t{16} * i));
      const auto mask = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(some, wanted)));
      found |= std::uint64_t{mask} << (16 * i);
    }
    for (; found != 0; found &= found - 1) {
      use(at + static_cast<std::size_t>(std::countr_zero(found)));
    }
  }
#endif
  for (; at < text.size(); ++at) {
    if (text[at] == byte) use(at);
  }
}

// Calls use(place) for each end of a row.
template <class Use>
void for_each_row_end(std::string_view text, CsvScanner& csv, Use&& use) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (csv.step(text[at]) == CsvScanner::Found::end_of_row) use(at);
  }
}

CsvScanner scanner_for(const RecordFormat& format) {
  return {format.csv_delimiter.value_or(','), format.end};
}

}  // namespace

EndFinder::EndFinder(const RecordFormat& format) noexcept
    : format_(format), csv_(scanner_for(format)) {}

std::size_t EndFinder::whole_records(std::string_view piece) noexcept {
  if (!format_.csv_delimiter) {
    const std::size_t last = piece.rfind(format_.end);
    return last == std::string_view::npos ? 0 : last + 1;
  }
  std::size_t whole = 0;
  for_each_row_end(piece, csv_, [&](std::size_t place) { whole = place + 1; });
  return whole;
}

std::string_view first_record(std::string_view text, const RecordFormat& format) {
  if (!format.csv_delimiter) return text.substr(0, text.find(format.end));
  CsvScanner csv = scanner_for(format);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (csv.step(text[at]) == CsvScanner::Found::end_of_row) return text.substr(0, at);
  }
  // The last quote of a file may be missing, and so may its last end.
  if (text.back() == format.end) text.remove_suffix(1);
  return text;
}

void split_records(std::string_view text, const RecordFormat& format,
                   std::vector<std::string_view>& records) {
  if (text.empty()) return;
  std::size_t begin = 0;
  const auto take = [&](std::size_t place) {
    records.push_back(text.substr(begin, place - begin));
    begin = place + 1;
  };
  if (format.csv_delimiter) {
    CsvScanner csv = scanner_for(format);
    for_each_row_end(text, csv, take);
    // The last quote of a file may be missing.
    if (begin != text.size()) take(text.size() - 1);
  } else {
    for_each_place(text, format.end, take);
  }
  assert(begin == text.size());
}

}  // namespace probably::cli
