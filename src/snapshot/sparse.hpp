// A chunk of bits as the places of those that are set: gaps, compressed with zstd.
//
// The first place, then for each further one how many clear bits lie between it and the one before;
// each number in groups of seven bits, lowest first, with the top bit of a byte set if another
// follows (LEB128).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace probably::detail {

// Keeps its memory from chunk to chunk. Throws std::bad_alloc.
class SparseEncoder {
 public:
  SparseEncoder();
  // A zstd frame, valid until the next call; empty if no bit is set.
  std::span<const std::byte> encode(std::span<const std::uint64_t> words);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const noexcept;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::vector<std::byte> gaps_;
  std::vector<std::byte> frame_;
};

class SparseDecoder {
 public:
  SparseDecoder();
  // Sets the bits in `words`, which are zeros. Returns false, leaving anything in them, unless the
  // frame holds gaps, each written in the shortest way, that stay within these words.
  [[nodiscard]] bool decode(std::span<const std::byte> frame, std::span<std::uint64_t> words);
  // No frame for so many bytes of bits is longer.
  [[nodiscard]] static std::size_t max_frame_bytes(std::size_t chunk_bytes) noexcept;

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::vector<std::byte> gaps_;
};

}  // namespace probably::detail
