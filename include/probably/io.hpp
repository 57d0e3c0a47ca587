// Where the bytes of snapshots and of other software's files go to and come from.
//
//   probably::BufferSink buffer;
//   probably::save(filter, buffer).value();
//   probably::BufferSource again(buffer.bytes());
//   auto same = probably::open<probably::BlockedBloom>(again);
//
// For sockets, compressors and the like, derive from ByteSink or ByteSource: a call takes or gives
// about 64 KiB, but may be of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
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
  // The bytes must outlive the source. The name is for messages.
  explicit BufferSource(std::span<const std::byte> bytes, std::string name = "the buffer")
      : bytes_(bytes), name_(std::move(name)) {}
  Result<std::size_t> read(std::span<std::byte> room) override;
  [[nodiscard]] std::optional<std::uint64_t> bytes_left() const override { return bytes_.size(); }
  [[nodiscard]] std::string name() const override { return name_; }

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
};

// A stream in binary mode, which must outlive the sink. Flush it, and see whether that went well,
// before you believe that the bytes are where they should be.
class StreamSink final : public ByteSink {
 public:
  explicit StreamSink(std::ostream& stream) noexcept : stream_(stream) {}
  Result<void> write(std::span<const std::byte> bytes) override;

 private:
  std::ostream& stream_;
};

class StreamSource final : public ByteSource {
 public:
  // The name is for messages.
  explicit StreamSource(std::istream& stream, std::string name = "the stream") noexcept
      : stream_(stream), name_(std::move(name)) {}
  Result<std::size_t> read(std::span<std::byte> room) override;
  [[nodiscard]] std::string name() const override { return name_; }

 private:
  std::istream& stream_;
  std::string name_;
};

// A regular file, from its beginning. Its length is known, so claims of its header are checked.
class FileSource final : public ByteSource {
 public:
  // Fails with io, naming the path.
  static Result<FileSource> open(const std::string& path);
  FileSource(FileSource&& other) noexcept;
  FileSource& operator=(FileSource&&) = delete;
  ~FileSource() override;

  Result<std::size_t> read(std::span<std::byte> room) override;
  [[nodiscard]] std::optional<std::uint64_t> bytes_left() const override;
  [[nodiscard]] std::string name() const override;

 private:
  struct State;
  explicit FileSource(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

// A file that takes the place of another when it is complete, as save() does it: a temporary one
// beside it is written, and finish() syncs it, gives it its name and syncs the directory. Without
// finish() the temporary one goes with the object, and the old file stays.
class FileSink final : public ByteSink {
 public:
  // Fails with io, naming the path.
  static Result<FileSink> create(const std::string& path);
  FileSink(FileSink&& other) noexcept;
  FileSink& operator=(FileSink&&) = delete;
  ~FileSink() override;

  Result<void> write(std::span<const std::byte> bytes) override;
  Result<void> finish();

 private:
  struct State;
  explicit FileSink(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

// What another source gives, decompressed: gzip, of any number of members. Fails with corrupt where
// the other is no gzip, ends too early or has a wrong checksum; gzip's checksum is at its end, and
// who does not read to the end does not learn of it.
class GzipSource final : public ByteSource {
 public:
  // The other source must outlive this one. Throws std::bad_alloc.
  explicit GzipSource(ByteSource& source);
  ~GzipSource() override;
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<std::size_t> read(std::span<std::byte> room) override;
  [[nodiscard]] std::string name() const override { return source_.name(); }

 private:
  struct State;
  ByteSource& source_;
  std::unique_ptr<State> state_;
};

// The same of zstd, of any number of frames. Fails with unsupported for what needs a dictionary, or
// a window above 128 MiB (zstd --ultra and --long make such files).
class ZstdSource final : public ByteSource {
 public:
  // The other source must outlive this one. Throws std::bad_alloc.
  explicit ZstdSource(ByteSource& source);
  ~ZstdSource() override;
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

  Result<std::size_t> read(std::span<std::byte> room) override;
  [[nodiscard]] std::string name() const override { return source_.name(); }

 private:
  struct State;
  ByteSource& source_;
  std::unique_ptr<State> state_;
};

// Compresses with gzip what is written to it, into another sink.
class GzipSink final : public ByteSink {
 public:
  // The other sink must outlive this one. Throws std::bad_alloc.
  explicit GzipSink(ByteSink& sink);
  ~GzipSink() override;
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;

  Result<void> write(std::span<const std::byte> bytes) override;
  // Writes what is left. Without it, the other end sees gzip that ends too early.
  Result<void> finish();

 private:
  struct State;
  Result<void> deflate(std::span<const std::byte> bytes, int flush);

  ByteSink& sink_;
  std::unique_ptr<State> state_;
};

}  // namespace probably
