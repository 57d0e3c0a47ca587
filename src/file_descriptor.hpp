// A file descriptor that closes itself, and the sentences for what the system refuses.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "probably/result.hpp"

namespace probably::detail {

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) noexcept : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const noexcept { return number_; }

 private:
  int number_;
};

// The text of strerror, which itself may not be called by two threads at a time.
inline std::string describe(int error_number) {
  return std::generic_category().message(error_number);
}

// "Cannot map 'a.bin': Permission denied."
inline Error io_error(std::string_view verb, const std::string& path, const std::string& reason) {
  return {ErrorCode::io, "Cannot " + std::string(verb) + " '" + path + "': " + reason + "."};
}

inline Error zero_in_path() {
  return {ErrorCode::invalid_argument, "The path holds a zero byte, which no file name can."};
}

struct RegularFile {
  FileDescriptor descriptor;
  std::uint64_t size_bytes;
};

// A regular file for reading; of others, `verb` is what cannot be done with them.
inline Result<RegularFile> open_regular(const std::string& path, std::string_view verb) {
  if (path.find('\0') != std::string::npos) return zero_in_path();
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return io_error("open", path, describe(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return io_error("inspect", path, describe(errno));
  if (S_ISDIR(status.st_mode)) return io_error(verb, path, describe(EISDIR));
  if (!S_ISREG(status.st_mode)) return io_error(verb, path, "Not a regular file");
  return RegularFile{std::move(file), static_cast<std::uint64_t>(status.st_size)};
}

}  // namespace probably::detail
