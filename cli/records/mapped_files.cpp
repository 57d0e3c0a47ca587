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
      : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

std::string_view map(const std::string& path) {
  const auto fail = [&path]() {
    throw Trouble(
        fmt::format("Cannot read '{}': {}.", path, std::generic_category().message(errno)));
  };
  if (path == "-") throw Trouble(fmt::format("{}, not standard input.", kNeedsFiles));
  const Descriptor file(path);
  if (file.number < 0) fail();
  struct stat status {};
  if (::fstat(file.number, &status) != 0) fail();
  if (!S_ISREG(status.st_mode)) {
    throw Trouble(fmt::format("{}; '{}' is no regular file.", kNeedsFiles, path));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (memory == MAP_FAILED) fail();
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
  for (const std::string& path : paths) {
    const std::string_view text = map(path);
    files_.push_back({size_, text});
    size_ += text.size();
    if (packing_by_mark(std::as_bytes(std::span(text.substr(0, 4)))) != Packing::none) {
      throw Trouble(fmt::format("{}; '{}' is.", kNeedsFiles, path));
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
  for (const File& file : files_) sizes.push_back(file.text.size());
  return sizes;
}

}  // namespace probably::cli
