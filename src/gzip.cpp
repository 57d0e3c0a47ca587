#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "probably/io.hpp"

namespace probably {
namespace {

// The largest window, and zlib's way to say gzip.
constexpr int kGzip = 15 + 16;

// zlib counts in unsigned int.
constexpr std::size_t kMost = std::numeric_limits<uInt>::max();

Bytef* as_zlib(const std::byte* bytes) noexcept {
  return reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes));
}

}  // namespace

struct GzipSource::State {
  z_stream stream{};
  std::array<std::byte, 65536> input;
  bool is_between_members = false;  // the end may come
};

GzipSource::GzipSource(ByteSource& source) : source_(source), state_(std::make_unique<State>()) {
  if (::inflateInit2(&state_->stream, kGzip) != Z_OK) throw std::bad_alloc();
}

GzipSource::~GzipSource() { ::inflateEnd(&state_->stream); }

Result<std::size_t> GzipSource::read(std::span<std::byte> room) {
  z_stream& stream = state_->stream;
  room = room.first(std::min(room.size(), kMost));
  stream.next_out = as_zlib(room.data());
  stream.avail_out = static_cast<uInt>(room.size());
  while (stream.avail_out == room.size()) {
    if (stream.avail_in == 0) {
      auto count = source_.read(state_->input);
      if (!count) return count;
      if (*count == 0) {
        if (state_->is_between_members) return std::size_t{0};
        return Error{ErrorCode::corrupt, source_.name() + " is corrupt: its gzip ends too early."};
      }
      stream.next_in = as_zlib(state_->input.data());
      stream.avail_in = static_cast<uInt>(*count);
    }
    // Tapes and the like pad with zeros, which no member begins with.
    while (state_->is_between_members && stream.avail_in != 0 && *stream.next_in == 0) {
      ++stream.next_in;
      --stream.avail_in;
    }
    if (stream.avail_in == 0) continue;
    state_->is_between_members = false;
    switch (::inflate(&stream, Z_NO_FLUSH)) {
      case Z_OK:
      case Z_BUF_ERROR:  // more input is needed
        break;
      case Z_STREAM_END:
        state_->is_between_members = true;
        ::inflateReset(&stream);
        break;
      case Z_MEM_ERROR:
        throw std::bad_alloc();
      default:
        return Error{ErrorCode::corrupt,
                     source_.name() + " is corrupt: it is no gzip, or damaged."};
    }
  }
  return room.size() - stream.avail_out;
}

struct GzipSink::State {
  z_stream stream{};
  std::array<std::byte, 65536> output;
};

GzipSink::GzipSink(ByteSink& sink) : sink_(sink), state_(std::make_unique<State>()) {
  constexpr int kMemoryLevel = 8;
  if (::deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

GzipSink::~GzipSink() { ::deflateEnd(&state_->stream); }

Result<void> GzipSink::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto some = bytes.first(std::min(bytes.size(), kMost));
    if (auto done = deflate(some, Z_NO_FLUSH); !done) return done;
    bytes = bytes.subspan(some.size());
  }
  return {};
}

Result<void> GzipSink::finish() { return deflate({}, Z_FINISH); }

Result<void> GzipSink::deflate(std::span<const std::byte> bytes, int flush) {
  z_stream& stream = state_->stream;
  stream.next_in = as_zlib(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  do {
    stream.next_out = as_zlib(state_->output.data());
    stream.avail_out = static_cast<uInt>(state_->output.size());
    if (const int code = ::deflate(&stream, flush);
        code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return Error{ErrorCode::invalid_argument, "This gzip was finished before, or has failed."};
    }
    const std::size_t made = state_->output.size() - stream.avail_out;
    if (auto done = sink_.write(std::span(state_->output).first(made)); !done) return done;
  } while (stream.avail_out == 0);
  return {};
}

}  // namespace probably
