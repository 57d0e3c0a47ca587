// A file descriptor that closes itself, and the sentences for what the system refuses.
#pragma once

#include <unistd.h>

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

}  // namespace probably::detail
