// Where the bytes of a snapshot go to and come from, when that is no file with a name.
//
//   probably::BufferSink buffer;
//   probably::save(filter, buffer).value();
//   probably::BufferSource again(buffer.bytes());
//   auto same = probably::open<probably::BlockedBloom>(again);
//
// For sockets, compressors and the like, derive from ByteSink or ByteSource: one call takes or
// gives up to a chunk of 64 KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probably/result.hpp"

namespace probably {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Takes all of the bytes, or fails.
  virtual Result<void> write(std::span<const std::byte> bytes) = 0;
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the front of `room` and returns how many bytes came; 0 only at the end.
  // Requires: room is not empty.
  virtual Result<std::size_t> read(std::span<std::byte> room) = 0;
  // How many bytes are still to come, where that is known: then sizes that a header claims are
  // checked against it before memory is asked for.
  [[nodiscard]] virtual std::optional<std::uint64_t> bytes_left() const { return std::nullopt; }
  // For messages: what is read here.
  [[nodiscard]] virtual std::string name() const { return "the stream"; }
};

class BufferSink final : public ByteSink {
 public:
  Result<void> write(std::span<const std::byte> bytes) override;
  [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class BufferSource final : public ByteSource {
 public:
  // The bytes must outlive the source.
  explicit BufferSource(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  Result<std::size_t> read(std::span<std::byte> room) override;
  [[nodiscard]] std::optional<std::uint64_t> bytes_left() const override { return bytes_.size(); }
  [[nodiscard]] std::string name() const override { return "the buffer"; }

 private:
  std::span<const std::byte> bytes_;
};

// A stream in binary mode, which must outlive the sink.
class StreamSink final : public ByteSink {
 public:
  explicit StreamSink(std::ostream& stream) noexcept : stream_(stream) {}
  Result<void> write(std::span<const std::byte> bytes) override;

 private:
  std::ostream& stream_;
};

class StreamSource final : public ByteSource {
 public:
  explicit StreamSource(std::istream& stream) noexcept : stream_(stream) {}
  Result<std::size_t> read(std::span<std::byte> room) override;

 private:
  std::istream& stream_;
};

}  // namespace probably
