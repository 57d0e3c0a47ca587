// Keys as digests, some at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "probably/batch.hpp"

namespace probably::detail {

// An array of digests that are not set to zero first, which would cost more than a short batch.
template <std::size_t Size, class Digest = probably::Digest>
union DigestRoom {
  std::array<Digest, Size> digests;

  // NOLINTNEXTLINE(modernize-use-equals-default): that would set them.
  DigestRoom() noexcept {}
  [[nodiscard]] std::span<Digest> first(std::size_t count) noexcept {
    return std::span(digests).first(count);
  }
  [[nodiscard]] std::span<const Digest> some(std::size_t begin, std::size_t count) const noexcept {
    return std::span(digests).subspan(begin, count);
  }
};

// Calls use(digests, number of the first) for the keys in order, at most Chunk at a time.
template <std::size_t Chunk, class H, class Use>
void for_each_chunk(const BasicKeySource<H>& keys, Use&& use) noexcept {
  DigestRoom<Chunk, typename H::Digest> room;
  for (std::size_t first = 0; first < keys.size(); first += Chunk) {
    use(keys.take(first, room.first(std::min(Chunk, keys.size() - first))), first);
  }
}

}  // namespace probably::detail
