#include "snapshot/file.hpp"

#include <fcntl.h>
#include <stdlib.h>  // NOLINT: realpath is POSIX's
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "snapshot/format.hpp"
#include "text.hpp"

namespace probably::detail {
namespace {

Error zero_in_path() {
  return {ErrorCode::invalid_argument, "The path holds a zero byte, which no file name can."};
}

// Where the path leads, if it is a link to something.
std::string resolve(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : path;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A name that nobody else thinks of.
std::string temporary_name(const std::string& path) {
  std::uint64_t number = 0;
  // Without randomness, a name that exists is met with O_EXCL.
  if (::getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0) {
    number = static_cast<std::uint64_t>(::getpid());
  }
  char suffix[32];
  std::snprintf(suffix, sizeof suffix, ".%016llx.tmp", static_cast<unsigned long long>(number));
  return path + suffix;
}

}  // namespace

Result<FileSource> FileSource::open(const std::string& path) {
  if (path.find('\0') != std::string::npos) return zero_in_path();
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return io_error("open", path, describe(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return io_error("inspect", path, describe(errno));
  if (S_ISDIR(status.st_mode)) return io_error("read", path, describe(EISDIR));
  if (!S_ISREG(status.st_mode)) return io_error("read", path, "Not a regular file");
  return FileSource(std::move(file), path, static_cast<std::uint64_t>(status.st_size));
}

Result<std::size_t> FileSource::read(std::span<std::byte> room) {
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

Result<void> expect_end(const FileSource& source) {
  const std::uint64_t left = source.bytes_left().value();
  if (left == 0) return {};
  return corrupt(source.name(), text(left) + " bytes follow its end");
}

Result<ReplacementFile> ReplacementFile::create(const std::string& path) {
  if (path.find('\0') != std::string::npos) return zero_in_path();
  const std::string target = resolve(path);
  struct stat old {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    return io_error("replace", path,
                    S_ISDIR(old.st_mode) ? describe(EISDIR) : "Not a regular file");
  }
  // Whatever needs memory comes before the file is there.
  ReplacementFile replacement(target, directory_of(target));
  for (;;) {
    replacement.temporary_ = temporary_name(target);
    replacement.file_ = FileDescriptor(
        ::open(replacement.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (replacement.file_.get() >= 0) break;
    if (errno != EEXIST && errno != EINTR) {
      return io_error("create", replacement.temporary_, describe(errno));
    }
  }
  replacement.is_temporary_ = true;
  if (exists && ::fchmod(replacement.file_.get(), old.st_mode & 07777) != 0) {
    return io_error("set the permissions of", replacement.temporary_, describe(errno));
  }
  return replacement;
}

ReplacementFile::ReplacementFile(ReplacementFile&& other) noexcept
    : path_(std::move(other.path_)),
      directory_(std::move(other.directory_)),
      temporary_(std::move(other.temporary_)),
      file_(std::move(other.file_)),
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
  if (::fsync(file_.get()) != 0) return io_error("sync", temporary_, describe(errno));
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return io_error("replace", path_, describe(errno));
  }
  is_temporary_ = false;
  const FileDescriptor directory(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // The new file is in its place; what is not certain is that it still is after a power failure.
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) {
    return io_error("sync", directory_, describe(errno));
  }
  return {};
}

}  // namespace probably::detail
