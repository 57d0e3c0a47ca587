// Files in memory, one behind the other, to look at any place of them again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace probably::cli {

class MappedFiles {
 public:
  // Throws Trouble unless all are regular files that are not compressed.
  explicit MappedFiles(const std::vector<std::string>& paths);
  ~MappedFiles();
  MappedFiles(const MappedFiles&) = delete;
  MappedFiles& operator=(const MappedFiles&) = delete;

  // From a place, counted from the beginning of the first file, to the end of its file. If the file
  // was cut off meanwhile, reading there ends the program with a message.
  // Requires: place < size().
  [[nodiscard]] std::string_view from(std::uint64_t place) const noexcept;
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // How long each was when it was mapped.
  [[nodiscard]] std::vector<std::uint64_t> sizes() const;
  // Throws Trouble if a file was written to since, other than at its end.
  void expect_unchanged() const;

 private:
  struct File {
    std::string path;
    std::uint64_t begin;
    std::string_view text;
    std::int64_t changed;  // when, in nanoseconds since 1970
  };

  void add(const std::string& path);

  std::vector<File> files_;
  std::uint64_t size_ = 0;
};

}  // namespace probably::cli
