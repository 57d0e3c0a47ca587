#include "snapshot/sparse.hpp"

#include <zstd.h>

#include <bit>
#include <new>

namespace probably::detail {
namespace {

// Beyond this level, gaps of random bits gain nothing.
constexpr int kLevel = 3;

// A gap of n clear bits, and the set bit behind it, take at most n + 1 bytes.
constexpr std::size_t max_gap_bytes(std::size_t chunk_bytes) { return chunk_bytes * 8; }

void append_number(std::vector<std::byte>& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out.push_back(std::byte(0x80 | (number & 0x7f)));
  out.push_back(std::byte(number));
}

}  // namespace

void SparseEncoder::Free::operator()(ZSTD_CCtx_s* context) const noexcept {
  ZSTD_freeCCtx(context);
}
void SparseDecoder::Free::operator()(ZSTD_DCtx_s* context) const noexcept {
  ZSTD_freeDCtx(context);
}

SparseEncoder::SparseEncoder() : context_(ZSTD_createCCtx()) {
  if (!context_) throw std::bad_alloc();
}

std::span<const std::byte> SparseEncoder::encode(std::span<const std::uint64_t> words) {
  gaps_.clear();
  std::uint64_t next = 0;  // the first place that the next gap may leave clear
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::uint64_t rest = words[i]; rest != 0; rest &= rest - 1) {
      const std::uint64_t place = 64 * i + static_cast<std::uint64_t>(std::countr_zero(rest));
      append_number(gaps_, place - next);
      next = place + 1;
    }
  }
  if (gaps_.empty()) return {};
  frame_.resize(ZSTD_compressBound(gaps_.size()));
  const std::size_t size = ZSTD_compressCCtx(context_.get(), frame_.data(), frame_.size(),
                                             gaps_.data(), gaps_.size(), kLevel);
  // The room suffices by zstd's own word; what is left is memory.
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();
  return std::span(frame_).first(size);
}

SparseDecoder::SparseDecoder() : context_(ZSTD_createDCtx()) {
  if (!context_) throw std::bad_alloc();
}

bool SparseDecoder::decode(std::span<const std::byte> frame, std::span<std::uint64_t> words) {
  gaps_.resize(max_gap_bytes(words.size_bytes()));
  // Exactly one frame, and none of those that hold no data.
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size() ||
      ZSTD_getFrameContentSize(frame.data(), frame.size()) == 0) {
    return false;
  }
  const std::size_t size =
      ZSTD_decompressDCtx(context_.get(), gaps_.data(), gaps_.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0 || size == 0) return false;
  const std::uint64_t bits = 64 * std::uint64_t{words.size()};
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < size;) {
    std::uint64_t gap = 0;
    int shift = 0;
    for (bool more = true; more; shift += 7) {
      if (i == size || shift > 28) return false;
      const auto byte = std::to_integer<std::uint64_t>(gaps_[i++]);
      gap |= (byte & 0x7f) << shift;
      more = byte >= 0x80;
      // One way to write each number.
      if (!more && byte == 0 && shift != 0) return false;
    }
    if (gap >= bits - next) return false;
    next += gap;
    words[next / 64] |= std::uint64_t{1} << (next % 64);
    ++next;
  }
  return true;
}

std::size_t SparseDecoder::max_frame_bytes(std::size_t chunk_bytes) noexcept {
  return 9 * chunk_bytes;
}

}  // namespace probably::detail
