// TemporaryFile: a file with given bytes, gone when the object is.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>

namespace probably::testing {

class TemporaryFile {
 public:
  explicit TemporaryFile(std::span<const std::byte> bytes = {}) {
    const char* const directory = std::getenv("TMPDIR");
    path_ = std::string(directory != nullptr ? directory : "/tmp") + "/probably_XXXXXX";
    const int file = ::mkstemp(path_.data());
    if (file < 0) throw std::runtime_error("mkstemp failed for " + path_);
    bool written = true;
    while (written && !bytes.empty()) {
      const ssize_t count = ::write(file, bytes.data(), bytes.size());
      written = count > 0;
      if (written) bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    ::close(file);
    if (!written) {
      ::unlink(path_.c_str());
      throw std::runtime_error("write failed for " + path_);
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { ::unlink(path_.c_str()); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace probably::testing
