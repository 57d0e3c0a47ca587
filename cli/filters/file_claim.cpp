#include "filters/file_claim.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "trouble.hpp"

namespace probably::cli {
namespace {

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_same_content(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

FileClaim::FileClaim(std::string path) : path_(std::move(path)) {
  for (;;) {
    file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file_ < 0) {
      if (errno == ENOENT) return;
      throw Trouble(
          fmt::format("Cannot open '{}': {}.", path_, std::generic_category().message(errno)));
    }
    // File systems without locks answer otherwise: there we can only look at the end.
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(std::exchange(file_, -1));
      throw Trouble(fmt::format(
          "'{}' is in use by another run of probably: start again when that has ended.", path_));
    }
    struct stat now {};
    if (::fstat(file_, &status_) == 0 && ::stat(path_.c_str(), &now) == 0 &&
        is_same_file(status_, now)) {
      return;
    }
    // Whoever held it has put another file into its place.
    ::close(std::exchange(file_, -1));
  }
}

FileClaim::~FileClaim() {
  if (file_ >= 0) ::close(file_);
}

void FileClaim::expect_unchanged() const {
  struct stat now {};
  const bool is_there = ::stat(path_.c_str(), &now) == 0;
  const bool is_ours = has_file() && is_same_file(status_, now) && is_same_content(status_, now);
  if (!is_there || is_ours) return;
  throw Trouble(fmt::format(
      "'{}' was written by another program meanwhile. It stays as it is, and nothing was saved.",
      path_));
}

}  // namespace probably::cli
