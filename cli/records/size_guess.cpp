#include "records/size_guess.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "records/packing.hpp"

namespace probably::cli {
namespace {

constexpr std::size_t kSampleBytes = 64 << 10;

struct Sample {
  std::uint64_t bytes_left = 0;  // of the file, from where it would be read
  std::size_t size = 0;
  std::array<char, kSampleBytes> room;
  [[nodiscard]] std::string_view text() const noexcept { return {room.data(), size}; }
};

// The beginning of what is still to be read, without reading it.
bool look_at(int file, Sample& sample) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const off_t at = ::lseek(file, 0, SEEK_CUR);
  if (at < 0 || at > status.st_size) return false;
  const ssize_t count = ::pread(file, sample.room.data(), sample.room.size(), at);
  if (count < 0) return false;
  sample.size = static_cast<std::size_t>(count);
  sample.bytes_left = static_cast<std::uint64_t>(status.st_size - at);
  return packing_by_mark(std::as_bytes(std::span(sample.room).first(sample.size))) == Packing::none;
}

bool look_at(const std::string& path, Sample& sample) {
  if (path == "-") return look_at(STDIN_FILENO, sample);
  // To open a pipe and close it again would end whoever writes into it.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  const bool is_known = look_at(file, sample);
  ::close(file);
  return is_known;
}

}  // namespace

std::uint64_t keys_at_first(const std::vector<std::string>& paths, const RecordFormat& format) {
  constexpr std::uint64_t kLeast = 1 << 12;
  constexpr std::uint64_t kUsual = 1 << 20;
  constexpr std::uint64_t kMost = 1 << 25;
  return std::clamp(guess_records(paths, format).value_or(kUsual), kLeast, kMost);
}

std::optional<std::uint64_t> guess_records(const std::vector<std::string>& paths,
                                           const RecordFormat& format) {
  Sample sample;
  double bytes = 0;
  double sampled_bytes = 0;
  double sampled_records = 0;
  const std::vector<std::string> standard_input{"-"};
  for (const std::string& path : paths.empty() ? standard_input : paths) {
    if (!look_at(path, sample)) return std::nullopt;
    bytes += static_cast<double>(sample.bytes_left);
    sampled_bytes += static_cast<double>(sample.size);
    sampled_records += static_cast<double>(std::ranges::count(sample.text(), format.end));
  }
  if (bytes == 0) return std::nullopt;
  return static_cast<std::uint64_t>(bytes * std::max(sampled_records, 1.0) / sampled_bytes);
}

}  // namespace probably::cli
