// A filter that is read, changed and written back: by one run at a time, or keys would be lost.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

namespace probably::cli {

class FileClaim {
 public:
  // Holds the file until the end of the object. If there is none yet, that is fine, too. Throws
  // Trouble if another run holds it.
  explicit FileClaim(std::string path);
  ~FileClaim();
  FileClaim(const FileClaim&) = delete;
  FileClaim& operator=(const FileClaim&) = delete;

  [[nodiscard]] bool has_file() const noexcept { return file_ >= 0; }
  // Throws Trouble if somebody who asked nobody made or replaced the file meanwhile.
  void expect_unchanged() const;

 private:
  std::string path_;
  int file_ = -1;
  struct stat status_ {};
};

}  // namespace probably::cli
