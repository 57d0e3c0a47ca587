// Keys as digests, some at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "probably/batch.hpp"

namespace probably::detail {

// Calls use(digests, number of the first) for the keys in order, at most Chunk at a time.
template <std::size_t Chunk, class Use>
void for_each_chunk(const KeySource& keys, Use&& use) noexcept {
  std::array<Digest, Chunk> buffer;
  for (std::size_t first = 0; first < keys.size(); first += Chunk) {
    const std::size_t count = std::min(Chunk, keys.size() - first);
    if (const Digest* const digests = keys.digests()) {
      use(std::span(digests + first, count), first);
    } else {
      keys.hash(first, std::span(buffer).first(count));
      use(std::span<const Digest>(buffer).first(count), first);
    }
  }
}

}  // namespace probably::detail
