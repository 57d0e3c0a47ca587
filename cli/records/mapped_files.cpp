#include "records/mapped_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <span>
#include <system_error>

#include "records/packing.hpp"
#include "trouble.hpp"

namespace probably::cli {
namespace {

constexpr std::string_view kNeedsFiles =
    "--exact-check reads the input twice, so it needs files that are not compressed";

extern "C" void end_on_cut_file(int) {
  constexpr std::string_view kMessage =
      "probably: A file was cut off while it was read. The output is not complete.\n";
  static_cast<void>(::write(STDERR_FILENO, kMessage.data(), kMessage.size()) + 0);
  ::_exit(kTrouble);
}

// Closes itself.
struct Descriptor {
  explicit Descriptor(const std::string& path)
      : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

std::int64_t time_of_change(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

[[noreturn]] void fail(const std::string& path) {
  throw Trouble(fmt::format("Cannot read '{}': {}.", path, std::generic_category().message(errno)));
}

std::string_view map(const std::string& path, const Descriptor& file, std::size_t size) {
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (memory == MAP_FAILED) fail(path);
  // What is looked at lies here and there.
  ::madvise(memory, size, MADV_RANDOM);
  return {static_cast<const char*>(memory), size};
}

}  // namespace

MappedFiles::MappedFiles(const std::vector<std::string>& paths) {
  if (paths.empty()) throw Trouble(fmt::format("{}, not standard input.", kNeedsFiles));
  struct sigaction action {};
  action.sa_handler = end_on_cut_file;
  ::sigaction(SIGBUS, &action, nullptr);
  files_.reserve(paths.size());
  for (const std::string& path : paths) add(path);
}

void MappedFiles::add(const std::string& path) {
  if (path == "-") throw Trouble(fmt::format("{}, not standard input.", kNeedsFiles));
  const Descriptor file(path);
  if (file.number < 0) fail(path);
  struct stat status {};
  if (::fstat(file.number, &status) != 0) fail(path);
  // The system's own files say that they are empty, and are not.
  char first = 0;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || (size == 0 && ::pread(file.number, &first, 1, 0) == 1)) {
    throw Trouble(fmt::format("{}; '{}' is no regular file.", kNeedsFiles, path));
  }
  const std::string_view text = size == 0 ? std::string_view() : map(path, file, size);
  files_.push_back({path, size_, text, time_of_change(status)});
  size_ += size;
  if (packing_by_mark(std::as_bytes(std::span(text.substr(0, kMostMarkBytes)))) != Packing::none) {
    throw Trouble(fmt::format("{}; '{}' is.", kNeedsFiles, path));
  }
}

void MappedFiles::expect_unchanged() const {
  for (const File& file : files_) {
    struct stat status {};
    if (::stat(file.path.c_str(), &status) != 0) fail(file.path);
    const bool has_grown = static_cast<std::size_t>(status.st_size) > file.text.size();
    if (!has_grown && time_of_change(status) != file.changed) {
      throw Trouble(
          fmt::format("'{}' changed while it was read: the output may not be exact.", file.path));
    }
  }
}

MappedFiles::~MappedFiles() {
  for (const File& file : files_) {
    if (!file.text.empty()) ::munmap(const_cast<char*>(file.text.data()), file.text.size());
  }
}

std::string_view MappedFiles::from(std::uint64_t place) const noexcept {
  // The last that begins there or before; empty files begin where the next one does.
  const auto after = std::ranges::upper_bound(files_, place, {}, &File::begin);
  const File& file = *(after - 1);
  return file.text.substr(place - file.begin);
}

std::vector<std::uint64_t> MappedFiles::sizes() const {
  std::vector<std::uint64_t> sizes;
  sizes.reserve(files_.size());
  for (const File& file : files_) sizes.push_back(file.text.size());
  return sizes;
}

}  // namespace probably::cli
