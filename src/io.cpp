#include "probably/io.hpp"

#include <algorithm>
#include <cstring>
#include <istream>
#include <ostream>

namespace probably {

Result<void> BufferSink::write(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return {};
}

Result<std::size_t> BufferSource::read(std::span<std::byte> room) {
  const std::size_t count = std::min(room.size(), bytes_.size());
  if (count != 0) std::memcpy(room.data(), bytes_.data(), count);
  bytes_ = bytes_.subspan(count);
  return count;
}

Result<void> StreamSink::write(std::span<const std::byte> bytes) {
  stream_.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
  if (!stream_) return Error{ErrorCode::io, "Cannot write to the stream: it failed."};
  return {};
}

Result<std::size_t> StreamSource::read(std::span<std::byte> room) {
  if (stream_.fail() && !stream_.eof()) {
    return Error{ErrorCode::io,
                 "Cannot read from the stream: it was not opened, or failed before."};
  }
  stream_.read(reinterpret_cast<char*>(room.data()), static_cast<std::streamsize>(room.size()));
  if (stream_.bad()) return Error{ErrorCode::io, "Cannot read from the stream: it failed."};
  return static_cast<std::size_t>(stream_.gcount());
}

}  // namespace probably
