#include "snapshot/file.hpp"

#include <fcntl.h>
#include <stdlib.h>  // NOLINT: realpath is POSIX's
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "snapshot/format.hpp"
#include "text.hpp"

namespace probably::detail {
namespace {

// Where the path leads, if it is a link. None if that leads nowhere.
std::optional<std::string> resolve(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (real) return std::string(real.get());
  struct stat status {};
  const bool is_link = ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
  return is_link ? std::nullopt : std::optional(path);
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A name that nobody else thinks of.
std::string temporary_name(const std::string& directory) {
  static std::atomic<std::uint64_t> calls = 0;
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0) {
    number = static_cast<std::uint64_t>(::getpid()) << 32;
  }
  number += calls.fetch_add(1, std::memory_order_relaxed);
  char name[48];
  std::snprintf(name, sizeof name, "/.probably-%016llx.tmp",
                static_cast<unsigned long long>(number));
  return directory + name;
}

// Gives the new file the owner and the mode of the old one, the owner as far as the system lets us.
bool take_after(int file, const struct stat& old) noexcept {
  const bool is_other = old.st_uid != ::geteuid() || old.st_gid != ::getegid();
  if (is_other && ::fchown(file, old.st_uid, old.st_gid) != 0 && errno != EPERM) return false;
  return ::fchmod(file, old.st_mode & 0777) == 0;
}

// A signal ends no sync.
int sync(int file) noexcept {
  int result = 0;
  do {
    result = ::fsync(file);
  } while (result != 0 && errno == EINTR);
  return result;
}

constexpr int kMostAttempts = 100;

}  // namespace

Result<InputFile> InputFile::open(const std::string& path) {
  auto file = open_regular(path, "read");
  if (!file) return file.error();
  return InputFile(std::move(file->descriptor), path, file->size_bytes);
}

Result<std::size_t> InputFile::read(std::span<std::byte> room) {
  for (;;) {
    const ssize_t count =
        ::pread(file_.get(), room.data(), room.size(), static_cast<off_t>(offset_));
    if (count >= 0) {
      offset_ += static_cast<std::uint64_t>(count);
      return static_cast<std::size_t>(count);
    }
    if (errno != EINTR) return io_error("read", path_, describe(errno));
  }
}

Result<ReplacementFile> ReplacementFile::create(const std::string& path) {
  if (path.find('\0') != std::string::npos) return zero_in_path();
  const auto target = resolve(path);
  if (!target) return io_error("replace", path, "It is a link that leads nowhere");
  struct stat old {};
  const bool exists = ::stat(target->c_str(), &old) == 0;
  if (!exists && errno != ENOENT) return io_error("inspect", path, describe(errno));
  if (exists && !S_ISREG(old.st_mode)) {
    return io_error("replace", path,
                    S_ISDIR(old.st_mode) ? describe(EISDIR) : "Not a regular file");
  }
  // Whatever needs memory, or may be forbidden, comes before the file is there.
  ReplacementFile replacement(*target, directory_of(*target));
  replacement.directory_file_ =
      FileDescriptor(::open(replacement.directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (replacement.directory_file_.get() < 0) {
    return io_error("write", path,
                    "Its directory '" + replacement.directory_ + "': " + describe(errno));
  }
  // Nobody else reads it before it has the old one's mode.
  const mode_t mode = exists ? 0600 : 0666;
  for (int attempt = 0; replacement.file_.get() < 0; ++attempt) {
    replacement.temporary_ = temporary_name(replacement.directory_);
    replacement.file_ = FileDescriptor(
        ::open(replacement.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (replacement.file_.get() < 0 &&
        ((errno != EEXIST && errno != EINTR) || attempt == kMostAttempts)) {
      return io_error("create", replacement.temporary_, describe(errno));
    }
  }
  replacement.is_temporary_ = true;
  if (exists && !take_after(replacement.file_.get(), old)) {
    return io_error("set the permissions of", replacement.temporary_, describe(errno));
  }
  return replacement;
}

ReplacementFile::ReplacementFile(ReplacementFile&& other) noexcept
    : path_(std::move(other.path_)),
      directory_(std::move(other.directory_)),
      temporary_(std::move(other.temporary_)),
      file_(std::move(other.file_)),
      directory_file_(std::move(other.directory_file_)),
      is_temporary_(std::exchange(other.is_temporary_, false)) {}

ReplacementFile::~ReplacementFile() {
  if (is_temporary_) ::unlink(temporary_.c_str());
}

Result<void> ReplacementFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return io_error("write", temporary_, describe(count == 0 ? ENOSPC : errno));
    }
  }
  return {};
}

Result<void> ReplacementFile::commit() {
  if (sync(file_.get()) != 0) return io_error("sync", temporary_, describe(errno));
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return io_error("replace", path_, describe(errno));
  }
  is_temporary_ = false;
  // The new file is in its place; what is not certain is that it still is after a power failure.
  // Some file systems do not sync directories, and say EINVAL.
  if (sync(directory_file_.get()) != 0 && errno != EINVAL) {
    return io_error("sync", directory_, describe(errno));
  }
  return {};
}

}  // namespace probably::detail
