// Records on their way through a command: read, split, their keys selected and hashed, answered,
// and those that are wanted gathered for the output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.hpp"
#include "input.hpp"
#include "keys.hpp"
#include "probably/any_filter.hpp"
#include "records.hpp"

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
  // Of those records that have one, unless the whole record is the key.
  std::vector<std::string_view> keys;
  std::vector<bool> has_key;
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
  // Fills everything of the batch but its answers and its output.
  void prepare(Batch& batch, const AnyFilter& filter) const;
  // Puts those records into the output whose answer is `wanted`; of those without a key all, if
  // that is wanted.
  void gather(Batch& batch, bool wanted, bool wants_keyless) const;
  [[nodiscard]] static std::size_t keyless(const Batch& batch) noexcept {
    return batch.has_key.empty() ? 0 : batch.records.size() - batch.keys.size();
  }

 private:
  RecordFormat format_;
  KeySelector selector_;
};

// The threads that the user wants, or as many as there are processors.
[[nodiscard]] unsigned thread_count(unsigned wanted) noexcept;

}  // namespace probably::cli
