#include "records/keys.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "records/json.hpp"
#include "records/records.hpp"
#include "trouble.hpp"

namespace probably::cli {
namespace {

std::optional<std::string_view> plain_field(std::string_view record, std::size_t number,
                                            char delimiter) {
  for (; number > 1; --number) {
    const std::size_t end = record.find(delimiter);
    if (end == std::string_view::npos) return std::nullopt;
    record.remove_prefix(end + 1);
  }
  return record.substr(0, record.find(delimiter));
}

// The end of the first field: the place of its delimiter, or the end of the record.
std::size_t end_of_field(std::string_view record, char delimiter) {
  // No byte of a record ends it: what could is quoted.
  CsvScanner csv(delimiter, '\n');
  for (std::size_t at = 0; at < record.size(); ++at) {
    if (csv.step(record[at]) == CsvScanner::Found::end_of_field) return at;
  }
  return record.size();
}

std::string_view without_quotes(std::string_view field, KeyRoom& room) {
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return field;
  field = field.substr(1, field.size() - 2);
  if (field.find('"') == std::string_view::npos) return field;
  std::string& out = room.emplace_back();
  for (std::size_t at = 0; at < field.size(); ++at) {
    out += field[at];
    if (field[at] == '"' && at + 1 < field.size() && field[at + 1] == '"') ++at;
  }
  return out;
}

std::optional<std::string_view> csv_field(std::string_view record, std::size_t number,
                                          char delimiter, KeyRoom& room) {
  // Rows may end with a carriage return, which belongs to the end.
  if (!record.empty() && record.back() == '\r') record.remove_suffix(1);
  for (; number > 1; --number) {
    const std::size_t end = end_of_field(record, delimiter);
    if (end == record.size()) return std::nullopt;
    record.remove_prefix(end + 1);
  }
  return without_quotes(record.substr(0, end_of_field(record, delimiter)), room);
}

}  // namespace

KeySelector KeySelector::field(std::size_t number, char delimiter, bool quoted) {
  KeySelector selector;
  selector.how_ = Field{number, delimiter, quoted};
  return selector;
}

KeySelector KeySelector::json(std::string_view pointer) {
  if (!pointer.empty() && pointer.front() != '/') {
    throw Trouble(fmt::format("'{}' is no JSON pointer: write /name or /user/id.", pointer));
  }
  Pointer steps;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    std::string step;
    for (std::size_t at = 0; at < end; ++at) {
      if (pointer[at] != '~') {
        step += pointer[at];
        continue;
      }
      ++at;
      if (at == end || (pointer[at] != '0' && pointer[at] != '1')) {
        throw Trouble("In a JSON pointer, '~' is written ~0, and '/' in a name is written ~1.");
      }
      step += pointer[at] == '0' ? '~' : '/';
    }
    steps.push_back(std::move(step));
    pointer.remove_prefix(end);
  }
  KeySelector selector;
  selector.how_ = std::move(steps);
  return selector;
}

std::optional<std::string_view> KeySelector::key_of(std::string_view record, KeyRoom& room) const {
  if (const auto* const field = std::get_if<Field>(&how_)) {
    return field->quoted ? csv_field(record, field->number, field->delimiter, room)
                         : plain_field(record, field->number, field->delimiter);
  }
  if (const auto* const pointer = std::get_if<Pointer>(&how_)) {
    return find_in_json(record, *pointer, room);
  }
  return record;
}

}  // namespace probably::cli
