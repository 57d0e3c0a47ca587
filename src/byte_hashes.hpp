// SipHash-2-4, MurmurHash3 x64 128, MurmurHash64A, FNV-1 and FNV-1a, each as one function of bytes.
//
// XXH3 and XXH64 come from xxHash. These are small enough to be read here.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "endian.hpp"
#include "probably/detail/wide.hpp"

namespace probably::detail {

// The last bytes of a key, first byte lowest, zeros above.
// Requires: bytes.size() <= 8.
[[nodiscard]] inline std::uint64_t load_rest(std::span<const std::byte> bytes) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  return word;
}

// Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012: two rounds per word, four at the
// end. To whoever lacks the key, the digests of any chosen messages look random.
class SipHash24 {
 public:
  SipHash24(std::uint64_t key_low, std::uint64_t key_high) noexcept
      : v0_(key_low ^ 0x736f6d6570736575),
        v1_(key_high ^ 0x646f72616e646f6d),
        v2_(key_low ^ 0x6c7967656e657261),
        v3_(key_high ^ 0x7465646279746573) {}

  // Uses the object up.
  [[nodiscard]] std::uint64_t digest(std::span<const std::byte> bytes) noexcept {
    const std::uint64_t length = bytes.size();
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
      absorb(load_little_endian<std::uint64_t>(bytes.data()));
    }
    absorb(load_rest(bytes) | length << 56);
    v2_ ^= 0xff;
    for (int i = 0; i < 4; ++i) round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  void absorb(std::uint64_t word) noexcept {
    v3_ ^= word;
    round();
    round();
    v0_ ^= word;
  }

  void round() noexcept {
    v0_ += v1_;
    v2_ += v3_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v1_;
    v0_ += v3_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ = std::rotl(v2_, 32);
  }

  std::uint64_t v0_;
  std::uint64_t v1_;
  std::uint64_t v2_;
  std::uint64_t v3_;
};

// MurmurHash3's last step for one word: each bit reaches every bit. A bijection.
[[nodiscard]] constexpr std::uint64_t murmur3_avalanche(std::uint64_t word) noexcept {
  word = (word ^ (word >> 33)) * 0xff51afd7ed558ccd;
  word = (word ^ (word >> 33)) * 0xc4ceb9fe1a85ec53;
  return word ^ (word >> 33);
}

// Appleby's MurmurHash3, the variant for 64-bit machines. `low` holds the first 8 bytes of its
// output, `high` the others. With `last`, of the bytes followed by that one.
[[nodiscard]] inline Wide murmur3_x64_128(std::span<const std::byte> bytes, std::uint32_t seed,
                                          std::optional<std::byte> last = std::nullopt) noexcept {
  constexpr std::uint64_t kFirst = 0x87c37b91114253d5;
  constexpr std::uint64_t kSecond = 0x4cf5ad432745937f;
  const auto scramble_low = [](std::uint64_t word) {
    return std::rotl(word * kFirst, 31) * kSecond;
  };
  const auto scramble_high = [](std::uint64_t word) {
    return std::rotl(word * kSecond, 33) * kFirst;
  };

  const std::uint64_t length = bytes.size() + (last ? 1 : 0);
  std::uint64_t low = seed;
  std::uint64_t high = seed;
  const auto absorb = [&](const std::byte* block) {
    low ^= scramble_low(load_little_endian<std::uint64_t>(block));
    low = (std::rotl(low, 27) + high) * 5 + 0x52dce729;
    high ^= scramble_high(load_little_endian<std::uint64_t>(block + 8));
    high = (std::rotl(high, 31) + low) * 5 + 0x38495ab5;
  };
  for (; bytes.size() >= 16; bytes = bytes.subspan(16)) absorb(bytes.data());
  std::array<std::byte, 16> with_last;
  if (last) {
    std::copy(bytes.begin(), bytes.end(), with_last.begin());
    with_last[bytes.size()] = *last;
    bytes = std::span(with_last).first(bytes.size() + 1);
    if (bytes.size() == 16) {
      absorb(bytes.data());
      bytes = {};
    }
  }
  // A missing half is a word of zeros, which scrambles to zero and changes nothing.
  const std::size_t in_low = bytes.size() < 8 ? bytes.size() : 8;
  low ^= scramble_low(load_rest(bytes.first(in_low)));
  high ^= scramble_high(load_rest(bytes.subspan(in_low)));

  low ^= length;
  high ^= length;
  low += high;
  high += low;
  low = murmur3_avalanche(low);
  high = murmur3_avalanche(high);
  low += high;
  high += low;
  return {.high = high, .low = low};
}

// Fowler, Noll and Vo, 64 bits, the variant that multiplies last.
[[nodiscard]] inline std::uint64_t fnv1a(std::span<const std::byte> bytes) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  }
  return hash;
}

// The variant that multiplies first.
[[nodiscard]] inline std::uint64_t fnv1(std::span<const std::byte> bytes) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) {
    hash = (hash * 0x100000001b3) ^ std::to_integer<std::uint64_t>(byte);
  }
  return hash;
}

// Appleby's MurmurHash2 for 64-bit machines.
[[nodiscard]] inline std::uint64_t murmur64a(std::span<const std::byte> bytes,
                                             std::uint64_t seed) noexcept {
  constexpr std::uint64_t kFactor = 0xc6a4a7935bd1e995;
  std::uint64_t hash = seed ^ (bytes.size() * kFactor);
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word = load_little_endian<std::uint64_t>(bytes.data()) * kFactor;
    word = (word ^ (word >> 47)) * kFactor;
    hash = (hash ^ word) * kFactor;
  }
  if (!bytes.empty()) hash = (hash ^ load_rest(bytes)) * kFactor;
  hash = (hash ^ (hash >> 47)) * kFactor;
  return hash ^ (hash >> 47);
}

}  // namespace probably::detail
