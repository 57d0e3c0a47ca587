#include "records/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <system_error>
#include <utility>

#include "records/packing.hpp"
#include "terminal/progress.hpp"
#include "terminal/terminal.hpp"
#include "trouble.hpp"

namespace probably::cli {
namespace {

// Large enough to be worth a thread's while; with all that belongs to it, small enough for its
// second-level cache.
constexpr std::size_t kBlockBytes = 128 << 10;
// A block that grew for a long record gives its memory back.
constexpr std::size_t kKeptBytes = 4 << 20;
constexpr int kPollMilliseconds = 100;
constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

using IsStopped = std::function<bool()>;

bool is_standard_input(const std::string& path) { return path == "-"; }

// Whether it is the file that standard output goes to: reading it would never end.
bool is_output(const struct stat& input) {
  struct stat output {};
  return S_ISREG(input.st_mode) && ::fstat(STDOUT_FILENO, &output) == 0 &&
         input.st_dev == output.st_dev && input.st_ino == output.st_ino;
}

std::string describe(int error) { return std::generic_category().message(error); }

// A descriptor as a source that ends when it is told to stop.
class DescriptorSource final : public ByteSource {
 public:
  DescriptorSource(const std::string& path, const IsStopped& is_stopped, std::uint64_t limit)
      : path_(path), is_stopped_(is_stopped), limit_(limit) {
    if (!is_standard_input(path)) {
      // Not waiting for somebody to write into a named pipe: read() does that, and can be stopped.
      descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
      if (descriptor_ < 0) fail();
    }
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) fail();
    is_regular_ = S_ISREG(status.st_mode);
    if (is_regular_) ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  DescriptorSource(const DescriptorSource&) = delete;
  DescriptorSource& operator=(const DescriptorSource&) = delete;
  ~DescriptorSource() override {
    if (!is_standard_input(path_) && descriptor_ >= 0) ::close(descriptor_);
  }

  Result<std::size_t> read(std::span<std::byte> room) override {
    // On a terminal, Ctrl-D is an end only once.
    if (has_ended_) return std::size_t{0};
    for (;;) {
      while (!is_regular_ && !is_ready(kPollMilliseconds)) {
        if (is_stopped_()) return std::size_t{0};
      }
      if (is_stopped_() || bytes_read_ == limit_) return std::size_t{0};
      const ssize_t count = ::read(descriptor_, room.data(),
                                   std::min<std::uint64_t>(room.size(), limit_ - bytes_read_));
      if (count == 0 && limit_ != kNoLimit) {
        throw Trouble(fmt::format("{} was cut off while it was read.", name()));
      }
      if (count >= 0) {
        has_ended_ = count == 0;
        bytes_read_ += static_cast<std::uint64_t>(count);
        return static_cast<std::size_t>(count);
      }
      if (errno != EINTR && errno != EAGAIN) fail();
    }
  }
  [[nodiscard]] std::string name() const override {
    return is_standard_input(path_) ? "standard input" : "'" + path_ + "'";
  }
  // Whether a read would not wait.
  [[nodiscard]] bool is_ready(int milliseconds) const {
    if (is_regular_) return true;
    pollfd poll{descriptor_, POLLIN, 0};
    return ::poll(&poll, 1, milliseconds) > 0;
  }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  [[noreturn]] void fail() const {
    throw Trouble(fmt::format("Cannot read {}: {}.", name(), describe(errno)));
  }

  const std::string path_;
  const IsStopped& is_stopped_;
  const std::uint64_t limit_;
  int descriptor_ = STDIN_FILENO;
  bool is_regular_ = false;
  bool has_ended_ = false;
  std::uint64_t bytes_read_ = 0;
};

// Some bytes that were read already, and the rest.
class PrefixedSource final : public ByteSource {
 public:
  PrefixedSource(std::vector<std::byte> prefix, ByteSource& rest)
      : prefix_(std::move(prefix)), rest_(rest) {}
  Result<std::size_t> read(std::span<std::byte> room) override {
    if (at_ == prefix_.size()) return rest_.read(room);
    const std::size_t count = std::min(room.size(), prefix_.size() - at_);
    std::memcpy(room.data(), prefix_.data() + at_, count);
    at_ += count;
    return count;
  }
  [[nodiscard]] std::string name() const override { return rest_.name(); }

 private:
  std::vector<std::byte> prefix_;
  std::size_t at_ = 0;
  ByteSource& rest_;
};

}  // namespace

// A file that is open, behind a decompressor if its first bytes ask for one.
class Input::File {
 public:
  File(const std::string& path, IsStopped is_stopped, std::uint64_t limit)
      : is_stopped_(std::move(is_stopped)), bytes_(path, is_stopped_, limit) {
    // One byte after the other while they might be a mark, so that a short line need not wait for
    // the next.
    std::vector<std::byte> first;
    std::byte next{};
    while (could_become_mark(first)) {
      if (expect(bytes_.read({&next, 1})) == 0) break;
      first.push_back(next);
    }
    const Packing packing = packing_by_mark(first);
    if (packing == Packing::xz || packing == Packing::bzip2) {
      const std::string_view tool = packing == Packing::xz ? "xz" : "bzip2";
      throw Trouble(fmt::format(
          "{} is compressed with {}, which is not read here: {} -dc FILE | probably ...",
          bytes_.name(), tool, tool));
    }
    whole_ = std::make_unique<PrefixedSource>(std::move(first), bytes_);
    if (packing == Packing::gzip) decompressor_ = std::make_unique<GzipSource>(*whole_);
    if (packing == Packing::zstd) decompressor_ = std::make_unique<ZstdSource>(*whole_);
  }

  // Zero at the end.
  std::size_t read(std::span<char> room) {
    ByteSource& source = decompressor_ ? *decompressor_ : *whole_;
    auto count = source.read(std::as_writable_bytes(room));
    // Compressed data that ends early because we stop reading is not corrupt.
    if (!count && is_stopped_()) return 0;
    return expect(std::move(count));
  }
  // Whether a read would not wait.
  [[nodiscard]] bool is_ready() const { return bytes_.is_ready(0); }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_.bytes_read(); }

 private:
  IsStopped is_stopped_;
  DescriptorSource bytes_;
  std::unique_ptr<ByteSource> whole_;
  std::unique_ptr<ByteSource> decompressor_;
};

Input::Input(std::vector<std::string> paths, RecordFormat format, const StopFlag& stop,
             std::vector<std::uint64_t> sizes)
    : paths_(std::move(paths)),
      format_(format),
      stop_(stop),
      sizes_(std::move(sizes)),
      ends_(format) {
  if (paths_.empty()) {
    paths_.emplace_back("-");
    if (is_terminal(STDIN_FILENO)) tell("reading from the terminal; Ctrl-D ends the input.");
  }
  if (std::ranges::count_if(paths_, is_standard_input) > 1) {
    throw Trouble("Standard input can be read only once; give '-' once.");
  }
  total_bytes_ = 0;
  for (const std::string& path : paths_) {
    struct stat status {};
    const bool is_stdin = is_standard_input(path);
    const int failed = is_stdin ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
    if (failed == 0 && !is_stdin && ::access(path.c_str(), R_OK) != 0) {
      throw Trouble(fmt::format("Cannot read '{}': {}.", path, describe(errno)));
    }
    if (failed != 0) {
      throw Trouble(fmt::format("Cannot read {}: {}.",
                                is_stdin ? "standard input" : "'" + path + "'", describe(errno)));
    }
    if (S_ISDIR(status.st_mode)) {
      throw Trouble(fmt::format("Cannot read '{}': {}.", path, describe(EISDIR)));
    }
    if (is_output(status)) {
      throw Trouble(fmt::format("{} is both input and output: write to another file.",
                                is_stdin ? "Standard input" : "'" + path + "'"));
    }
    if (!S_ISREG(status.st_mode)) {
      total_bytes_.reset();
    } else if (total_bytes_) {
      *total_bytes_ += static_cast<std::uint64_t>(status.st_size);
    }
  }
}

Input::~Input() = default;

bool Input::open_next() {
  if (next_path_ == paths_.size()) return false;
  const std::uint64_t limit = sizes_.empty() ? kNoLimit : sizes_[next_path_];
  file_ = std::make_unique<File>(
      paths_[next_path_++], [this] { return is_stopped(); }, limit);
  return true;
}

std::uint64_t Input::bytes_read() const noexcept {
  return bytes_read_.load(std::memory_order_relaxed);
}

bool Input::next(Block& block) {
  if (failure_) std::rethrow_exception(failure_);
  if (block.bytes.capacity() > kKeptBytes) block.bytes = {};
  block.bytes.swap(tail_);
  tail_.clear();
  block.is_last_for_now = false;
  block.begin = next_begin_;
  std::size_t used = block.bytes.size();
  std::size_t whole = 0;  // up to the last end
  for (;;) {
    if (!file_ && (is_stopped() || !open_next())) {
      block.bytes.clear();
      return false;
    }
    // A long record needs more room at each turn.
    block.bytes.resize(std::max(kBlockBytes, used + std::max(kBlockBytes / 4, used)));
    const std::uint64_t before = file_->bytes_read();
    std::size_t count = 0;
    try {
      count = file_->read(std::span(block.bytes).subspan(used));
    } catch (const Trouble&) {
      if (whole == 0) throw;
      failure_ = std::current_exception();
      block.bytes.resize(whole);
      return true;
    }
    bytes_read_.fetch_add(file_->bytes_read() - before, std::memory_order_relaxed);
    if (count == 0 && is_stopped()) {
      // Half a record is none.
      file_.reset();
      block.bytes.resize(whole);
      return whole != 0;
    }
    if (count == 0) {
      file_.reset();
      ends_.restart();
      if (used == 0) continue;
      block.bytes.resize(used);
      next_begin_ += used;
      if (block.bytes.back() != format_.end) block.bytes.push_back(format_.end);
      return true;
    }
    if (const std::size_t some = ends_.whole_records({block.bytes.data() + used, count})) {
      whole = used + some;
    }
    used += count;
    block.is_last_for_now = !file_->is_ready();
    if (whole == 0 || (!block.is_last_for_now && used < kBlockBytes)) continue;
    tail_.assign(block.bytes.begin() + static_cast<std::ptrdiff_t>(whole),
                 block.bytes.begin() + static_cast<std::ptrdiff_t>(used));
    block.bytes.resize(whole);
    next_begin_ += whole;
    return true;
  }
}

}  // namespace probably::cli
