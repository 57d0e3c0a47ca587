// Records on their way through a command: read, split, their keys selected and hashed, answered,
// and those that are wanted gathered for the output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.hpp"
#include "probably/any_filter.hpp"
#include "records/input.hpp"
#include "records/keys.hpp"
#include "records/records.hpp"

namespace probably::cli {

// As many bools in a row as a filter's batches want.
class Answers {
 public:
  void resize(std::size_t size);
  [[nodiscard]] std::span<bool> span() noexcept { return {data_.get(), size_}; }
  bool operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  std::unique_ptr<bool[]> data_;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

struct Batch {
  Block block;
  std::vector<std::string_view> records;  // each is followed by its end
  // Unless the whole record is the key: the keys, and whose they are, for not all have one.
  std::vector<std::string_view> keys;
  std::vector<std::size_t> record_of_key;
  KeyRoom key_room;
  AnyDigests digests;
  Answers answers;  // one for each key
  std::vector<char> output;
};

// How records are split and which part of them is the key.
class RecordReader {
 public:
  // Throws Trouble if the options contradict each other.
  explicit RecordReader(const InputOptions& options);

  [[nodiscard]] const RecordFormat& format() const noexcept { return format_; }
  // Fills everything of the batch but what the answers are, and its output.
  void prepare(Batch& batch, const AnyFilter& filter) const;
  // Puts those records into the output whose answer is `wanted`; of those without a key all, if
  // that is wanted.
  void gather(Batch& batch, bool wanted, bool wants_keyless) const;

  // Of a batch that was prepared: one key for each answer.
  [[nodiscard]] std::span<const std::string_view> keys(const Batch& batch) const noexcept {
    return selector_.is_whole() ? batch.records : batch.keys;
  }
  [[nodiscard]] std::string_view record_of_key(const Batch& batch, std::size_t i) const noexcept {
    return selector_.is_whole() ? batch.records[i] : batch.records[batch.record_of_key[i]];
  }
  [[nodiscard]] std::size_t keyless(const Batch& batch) const noexcept {
    return batch.records.size() - keys(batch).size();
  }

  // Of the record that a text begins with.
  [[nodiscard]] std::optional<std::string_view> first_key(std::string_view text,
                                                          KeyRoom& room) const;
  [[nodiscard]] bool is_first_key(std::string_view key, std::string_view text, KeyRoom& room) const;

 private:
  void select_keys(Batch& batch) const;

  RecordFormat format_;
  KeySelector selector_;
};

// The threads that the user wants, or as many as there are processors.
[[nodiscard]] unsigned thread_count(unsigned wanted) noexcept;

}  // namespace probably::cli
