#include "records/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <thread>

#include "trouble.hpp"

namespace probably::cli {
namespace {

KeySelector selector_of(const InputOptions& options) {
  if (options.key.empty()) {
    if (options.delimiter && !options.is_csv) {
      throw Trouble("--delimiter needs --key, the number of a field.");
    }
    return {};
  }
  std::size_t number = 0;
  const char* const end = options.key.data() + options.key.size();
  const auto [stop, error] = std::from_chars(options.key.data(), end, number);
  if (error == std::errc{} && stop == end && number > 0) {
    return KeySelector::field(number, options.delimiter.value_or(options.is_csv ? ',' : '\t'),
                              options.is_csv);
  }
  if (options.key.front() != '/') {
    throw Trouble(fmt::format(
        "'{}' is no key: write the number of a field, as in --key 2, or a JSON pointer, as in "
        "--key /user/id.",
        options.key));
  }
  if (options.is_csv || options.delimiter) {
    throw Trouble("A JSON pointer as --key goes with neither --csv nor --delimiter.");
  }
  return KeySelector::json(options.key);
}

}  // namespace

void Answers::resize(std::size_t size) {
  if (size > room_) {
    room_ = size + size / 4;
    data_ = std::make_unique_for_overwrite<bool[]>(room_);
  }
  size_ = size;
}

RecordReader::RecordReader(const InputOptions& options) : selector_(selector_of(options)) {
  if (options.ends_with_zero) format_.end = '\0';
  if (options.is_csv) format_.csv_delimiter = options.delimiter.value_or(',');
}

void RecordReader::prepare(Batch& batch, const AnyFilter& filter) const {
  batch.records.clear();
  split_records(batch.block.text(), format_, batch.records);
  if (!selector_.is_whole()) select_keys(batch);
  filter.hash(keys(batch), batch.digests);
  batch.answers.resize(batch.digests.size());
}

void RecordReader::select_keys(Batch& batch) const {
  batch.keys.clear();
  batch.record_of_key.clear();
  batch.key_room.clear();
  for (std::size_t i = 0; i < batch.records.size(); ++i) {
    if (const auto key = selector_.key_of(batch.records[i], batch.key_room)) {
      batch.keys.push_back(*key);
      batch.record_of_key.push_back(i);
    }
  }
}

std::optional<std::string_view> RecordReader::first_key(std::string_view text,
                                                        KeyRoom& room) const {
  return selector_.key_of(first_record(text, format_), room);
}

bool RecordReader::is_first_key(std::string_view key, std::string_view text, KeyRoom& room) const {
  if (!selector_.is_whole() || format_.csv_delimiter) return first_key(text, room) == key;
  // Without looking for the end of what may be a long record.
  return text.starts_with(key) && (text.size() == key.size() || text[key.size()] == format_.end);
}

void RecordReader::gather(Batch& batch, bool wanted, bool wants_keyless) const {
  batch.output.resize(batch.block.bytes.size());
  char* out = batch.output.data();
  std::size_t next_key = 0;
  const bool all_have_keys = keyless(batch) == 0;
  const auto is_wanted = [&](std::size_t i) {
    const bool has_key =
        all_have_keys || (next_key < batch.keys.size() && batch.record_of_key[next_key] == i);
    return has_key ? batch.answers[next_key++] == wanted : wants_keyless;
  };
  // Records that follow each other are copied together, with their ends.
  const char* begin = nullptr;
  const auto copy_until = [&](const char* end) {
    if (begin == nullptr) return;
    const auto size = static_cast<std::size_t>(end - begin);
    std::memcpy(out, begin, size);
    out += size;
    begin = nullptr;
  };
  for (std::size_t i = 0; i < batch.records.size(); ++i) {
    if (!is_wanted(i)) {
      copy_until(batch.records[i].data());
    } else if (begin == nullptr) {
      begin = batch.records[i].data();
    }
  }
  copy_until(batch.block.bytes.data() + batch.block.bytes.size());
  batch.output.resize(static_cast<std::size_t>(out - batch.output.data()));
}

unsigned thread_count(unsigned wanted) noexcept {
  constexpr unsigned kMost = 64;
  if (wanted == 0) wanted = std::thread::hardware_concurrency();
  return std::clamp(wanted, 1u, kMost);
}

}  // namespace probably::cli
