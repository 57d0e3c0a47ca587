// Files as snapshots need them: read to their end, or replaced in one step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "file_descriptor.hpp"
#include "probably/io.hpp"
#include "probably/result.hpp"
#include "snapshot/body.hpp"

namespace probably::detail {

class InputFile final : public ByteSource {
 public:
  // Fails with io, naming the path, also for what is no regular file.
  static Result<InputFile> open(const std::string& path);

  Result<std::size_t> read(std::span<std::byte> room) override;
  [[nodiscard]] std::optional<std::uint64_t> bytes_left() const override {
    return size_bytes_ - std::min(offset_, size_bytes_);
  }
  [[nodiscard]] std::string name() const override { return "'" + path_ + "'"; }

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  // The next read begins there.
  void seek(std::uint64_t offset) noexcept { offset_ = offset; }

 private:
  InputFile(FileDescriptor file, std::string path, std::uint64_t size_bytes) noexcept
      : file_(std::move(file)), path_(std::move(path)), size_bytes_(size_bytes) {}

  FileDescriptor file_;
  std::string path_;
  std::uint64_t size_bytes_;
  std::uint64_t offset_ = 0;
};

// A file that takes the place of another when it is complete, or is gone.
class ReplacementFile final : public ByteSink {
 public:
  // Makes a temporary file beside `path`, or beside what that links to.
  static Result<ReplacementFile> create(const std::string& path);

  ReplacementFile(ReplacementFile&& other) noexcept;
  ReplacementFile& operator=(ReplacementFile&&) = delete;
  ~ReplacementFile() override;

  Result<void> write(std::span<const std::byte> bytes) override;
  // Syncs the file, gives it its name, and syncs the directory.
  Result<void> commit();

 private:
  ReplacementFile(std::string path, std::string directory) noexcept
      : path_(std::move(path)), directory_(std::move(directory)) {}

  std::string path_;
  std::string directory_;
  std::string temporary_;  // its name
  FileDescriptor file_{-1};
  FileDescriptor directory_file_{-1};
  bool is_temporary_ = false;  // there is a file of that name, which is ours
};

// Writes into a file that takes its place when write(sink) has succeeded.
template <class Write>
Result<void> replace_file(const std::string& path, Write&& write) {
  auto file = ReplacementFile::create(path);
  if (!file) return file.error();
  if (auto done = write(*file); !done) return done;
  return file->commit();
}

// The result of work(source), which has to read the file to its end.
template <class Work>
auto from_file(const std::string& path, Work&& work) -> decltype(work(std::declval<InputFile&>())) {
  auto source = InputFile::open(path);
  if (!source) return source.error();
  auto result = work(*source);
  if (!result) return result;
  if (auto ended = expect_end(*source); !ended) return ended.error();
  return result;
}

}  // namespace probably::detail
