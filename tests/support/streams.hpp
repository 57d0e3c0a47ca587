// Digests for tests: reproducible, as many as wanted, and never one twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "probably/digest.hpp"

namespace probably::testing {

// The finaliser of splitmix64 (Steele, Lea and Flood, 2014): a bijection of 64 bits.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Stream s hands out the digests of the numbers s * 2^40 + 1, s * 2^40 + 2, ... A product with an
// odd number and mix() are bijections, so digests differ within a stream and between streams:
// what one stream inserts is absent from every other.
class DigestStream {
 public:
  // Requires: stream < 2^24.
  explicit constexpr DigestStream(std::uint64_t stream) noexcept : index_(stream << 40) {}

  constexpr Digest next() noexcept { return Digest(mix(++index_ * 0x9e3779b97f4a7c15)); }

  void fill(std::span<Digest> out) noexcept {
    for (Digest& digest : out) digest = next();
  }

  std::vector<Digest> take(std::size_t count) {
    std::vector<Digest> digests(count);
    fill(digests);
    return digests;
  }

 private:
  std::uint64_t index_;
};

// FNV-1a of the words' bytes, the least first on every machine: enough to notice one changed bit.
constexpr std::uint64_t fold(std::span<const std::uint64_t> words) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint64_t word : words) {
    for (int shift = 0; shift < 64; shift += 8) {
      hash = (hash ^ (word >> shift & 0xff)) * 0x100000001b3;
    }
  }
  return hash;
}

}  // namespace probably::testing
