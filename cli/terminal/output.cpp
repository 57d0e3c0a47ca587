#include "terminal/output.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "trouble.hpp"

namespace probably::cli {
namespace {

constexpr std::size_t kBufferBytes = 256 << 10;

}  // namespace

void write_all(int file, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EAGAIN) {
      pollfd poll{file, POLLOUT, 0};
      ::poll(&poll, 1, -1);
    } else if (count == 0 || errno != EINTR) {
      throw Trouble(fmt::format("Cannot write to {}: {}.", name,
                                std::generic_category().message(count == 0 ? ENOSPC : errno)));
    }
  }
}

void Output::flush() {
  write_all(STDOUT_FILENO, {buffer_.data(), buffer_.size()}, "standard output");
  buffer_.clear();
}

void Output::write(std::string_view text) {
  if (buffer_.size() + text.size() > kBufferBytes) flush();
  if (text.size() >= kBufferBytes) {
    write_all(STDOUT_FILENO, text, "standard output");
  } else {
    buffer_.insert(buffer_.end(), text.begin(), text.end());
  }
}

void Output::finish() {
  flush();
  // Network file systems tell of a full disk when the file is closed.
  const int copy = ::dup(STDOUT_FILENO);
  if (copy >= 0 && ::close(copy) != 0 && errno != EINTR) {
    throw Trouble(fmt::format("Cannot write to standard output: {}.",
                              std::generic_category().message(errno)));
  }
}

}  // namespace probably::cli
