#include "batch.hpp"

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
    if (options.delimiter) throw Trouble("--delimiter needs --key, the number of a field.");
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
  if (options.is_csv) format_.quote = '"';
}

void RecordReader::prepare(Batch& batch, const AnyFilter& filter) const {
  batch.records.clear();
  split_records(batch.block.text(), format_, batch.records);
  if (selector_.is_whole()) {
    filter.hash(std::span<const std::string_view>(batch.records), batch.digests);
  } else {
    batch.keys.clear();
    batch.has_key.clear();
    batch.key_room.clear();
    for (const std::string_view record : batch.records) {
      const auto key = selector_.key_of(record, batch.key_room);
      batch.has_key.push_back(key.has_value());
      if (key) batch.keys.push_back(*key);
    }
    filter.hash(std::span<const std::string_view>(batch.keys), batch.digests);
  }
  batch.answers.resize(batch.digests.size());
}

void RecordReader::gather(Batch& batch, bool wanted, bool wants_keyless) const {
  batch.output.resize(batch.block.bytes.size());
  char* out = batch.output.data();
  std::size_t answer = 0;
  const auto is_wanted = [&](std::size_t i) {
    if (!batch.has_key.empty() && !batch.has_key[i]) return wants_keyless;
    return batch.answers[answer++] == wanted;
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
