// The bytes of files and of standard input, decompressed if need be, in blocks of whole records.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probably/io.hpp"
#include "records/records.hpp"

namespace probably::cli {

// Set by a signal: whatever runs comes to an end.
using StopFlag = std::atomic<bool>;

// Records that lie one behind the other, each with what ends it.
struct Block {
  std::vector<char> bytes;
  std::uint64_t begin = 0;       // its place in the input, all files one behind the other
  bool is_last_for_now = false;  // there was nothing more to read yet
  [[nodiscard]] std::string_view text() const noexcept { return {bytes.data(), bytes.size()}; }
};

// Reads several files one after the other; "-" is standard input. The last record of a file ends
// with it, and then gets the end that it lacks. When it is stopped, by the user or by stop(), the
// record that it is reading is dropped.
class Input {
 public:
  // Looks at every file, so that what is missing is known before anything is done. If there are
  // sizes, files are read only so far, though they grow. Throws Trouble.
  Input(std::vector<std::string> paths, RecordFormat format, const StopFlag& stop,
        std::vector<std::uint64_t> sizes = {});
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // False at the end. Throws Trouble when a file cannot be read or decompressed, after the records
  // that came before that.
  bool next(Block& block);

  // Ends the input, also for a thread that waits for it. From any thread.
  void stop() noexcept { is_stopped_ = true; }

  // How much of the files has been read, before decompression, and how much there is in all, if
  // that is known.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> total_bytes() const noexcept { return total_bytes_; }

 private:
  class File;

  bool open_next();
  [[nodiscard]] bool is_stopped() const noexcept { return stop_ || is_stopped_; }

  std::vector<std::string> paths_;
  RecordFormat format_;
  const StopFlag& stop_;
  StopFlag is_stopped_ = false;
  std::vector<std::uint64_t> sizes_;
  std::size_t next_path_ = 0;
  std::unique_ptr<File> file_;
  EndFinder ends_;
  std::uint64_t next_begin_ = 0;
  std::exception_ptr failure_;
  std::vector<char> tail_;  // the beginning of a record that the next block has
  std::optional<std::uint64_t> total_bytes_;
  std::atomic<std::uint64_t> bytes_read_ = 0;
};

}  // namespace probably::cli
