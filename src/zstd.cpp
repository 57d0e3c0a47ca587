#include <zstd.h>
#include <zstd_errors.h>

#include <array>
#include <new>

#include "probably/io.hpp"

namespace probably {

struct ZstdSource::State {
  ZSTD_DStream* stream = ZSTD_createDStream();
  std::array<std::byte, 65536> bytes;
  ZSTD_inBuffer input{bytes.data(), 0, 0};
  bool is_between_frames = false;  // the end may come

  State() {
    if (stream == nullptr) throw std::bad_alloc();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { ZSTD_freeDStream(stream); }
};

ZstdSource::ZstdSource(ByteSource& source) : source_(source), state_(std::make_unique<State>()) {}

ZstdSource::~ZstdSource() = default;

Result<std::size_t> ZstdSource::read(std::span<std::byte> room) {
  ZSTD_outBuffer output{room.data(), room.size(), 0};
  ZSTD_inBuffer& input = state_->input;
  for (;;) {
    // Called without input, too: some of what went in earlier may not have come out.
    const std::size_t taken = input.pos;
    const std::size_t left = ZSTD_decompressStream(state_->stream, &output, &input);
    if (ZSTD_isError(left) != 0) {
      const ZSTD_ErrorCode why = ZSTD_getErrorCode(left);
      if (why == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (why == ZSTD_error_frameParameter_windowTooLarge || why == ZSTD_error_dictionary_wrong) {
        return Error{ErrorCode::unsupported,
                     source_.name() +
                         " is zstd with a dictionary, or needs more than 128 MiB to decompress."};
      }
      return Error{ErrorCode::corrupt, source_.name() + " is corrupt: it is no zstd, or damaged."};
    }
    if (left == 0) {
      state_->is_between_frames = true;
    } else if (input.pos != taken) {
      state_->is_between_frames = false;
    }
    if (output.pos != 0) return output.pos;
    if (input.pos < input.size) continue;
    auto count = source_.read(state_->bytes);
    if (!count) return count;
    if (*count == 0) {
      if (state_->is_between_frames) return std::size_t{0};
      return Error{ErrorCode::corrupt, source_.name() + " is corrupt: its zstd ends too early."};
    }
    input.size = *count;
    input.pos = 0;
  }
}

}  // namespace probably
