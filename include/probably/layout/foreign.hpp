// The layouts of other software's Bloom filters, bit for bit: k of m bits for a key's bytes.
//
// A scheme says how bytes become a digest, and how one walks from there from bit to bit. Bit i is
// always bit i mod 64 of word i / 64. With mm3(x) = (h1, h2), the two words of MurmurHash3 x64 128
// of x with seed 0, and i counting from 0:
//
//   GoScheme        h0, h1 = mm3(key); h2, h3 = mm3(key, followed by the byte 1)
//                   place  h[i mod 2] + i * h[2 + ((i + i mod 2) mod 4) / 2]   mod m
//   Guava32Scheme   h1 = mm3(key).first; a, b its lower and upper 32 bits
//                   c = a + (i + 1) * b in 32 bits, all its bits flipped if negative
//                   place  c   mod m
//   Guava64Scheme   place  (h1 + i * h2) without its top bit   mod m
//   DcsoScheme      h(0) = FNV-1 of the key mod M;  h(i + 1) = (h(i) * G mod 2^64) mod M
//                   place  h(i + 1)   mod m
//   RedisScheme     a = MurmurHash64A(key, 0xc6a4a7935bd1e995); b = MurmurHash64A(key, a)
//                   place  a + i * b   mod m
//
// This file is the specification of the bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace probably {

// What stands for a key under a scheme. Digests of two schemes are two types.
template <class Scheme, std::size_t Words>
struct SchemeDigest {
  std::array<std::uint64_t, Words> words{};
  friend constexpr bool operator==(const SchemeDigest&, const SchemeDigest&) = default;
};

// From the first word of a digest, by steps of the second; of each sum the bits of the mask count.
template <class Digest, std::uint64_t Mask>
class StepWalk {
 public:
  constexpr StepWalk(const Digest& digest, std::uint64_t bits) noexcept
      : place_(digest.words[0]), step_(digest.words[1]), bits_(bits) {}
  constexpr std::uint64_t next() noexcept {
    const std::uint64_t place = place_ & Mask;
    place_ += step_;
    return place % bits_;
  }

 private:
  std::uint64_t place_;
  std::uint64_t step_;
  std::uint64_t bits_;
};

// bits-and-blooms/bloom for Go, version 3.
struct GoScheme {
  using Digest = SchemeDigest<GoScheme, 4>;
  static Digest digest(std::span<const std::byte> key) noexcept;

  class Walk {
   public:
    constexpr Walk(const Digest& digest, std::uint64_t bits) noexcept
        : h_(digest.words), bits_(bits) {}
    constexpr std::uint64_t next() noexcept {
      const std::uint64_t odd = i_ % 2;
      const std::uint64_t place = h_[odd] + i_ * h_[2 + (i_ + odd) % 4 / 2];
      ++i_;
      return place % bits_;
    }

   private:
    std::array<std::uint64_t, 4> h_;
    std::uint64_t bits_;
    std::uint64_t i_ = 0;
  };
};

// Guava's BloomFilter with the older strategy, MURMUR128_MITZ_32.
struct Guava32Scheme {
  using Digest = SchemeDigest<Guava32Scheme, 1>;
  static Digest digest(std::span<const std::byte> key) noexcept;

  class Walk {
   public:
    constexpr Walk(const Digest& digest, std::uint64_t bits) noexcept
        : place_(static_cast<std::uint32_t>(digest.words[0])),
          step_(static_cast<std::uint32_t>(digest.words[0] >> 32)),
          bits_(bits) {}
    constexpr std::uint64_t next() noexcept {
      place_ += step_;
      return (place_ >> 31 != 0 ? ~place_ : place_) % bits_;
    }

   private:
    std::uint32_t place_;
    std::uint32_t step_;
    std::uint64_t bits_;
  };
};

// Guava's BloomFilter with the strategy MURMUR128_MITZ_64.
struct Guava64Scheme {
  using Digest = SchemeDigest<Guava64Scheme, 2>;
  static Digest digest(std::span<const std::byte> key) noexcept;

  using Walk = StepWalk<Digest, 0x7fffffffffffffff>;
};

// DCSO's bloom for Go; also flor (Python), fleur (C) and poppy's version 1 (Rust).
struct DcsoScheme {
  using Digest = SchemeDigest<DcsoScheme, 1>;
  static constexpr std::uint64_t kModulus = 18446744073709551557u;
  static constexpr std::uint64_t kFactor = 18446744073709550147u;
  static Digest digest(std::span<const std::byte> key) noexcept;

  class Walk {
   public:
    constexpr Walk(const Digest& digest, std::uint64_t bits) noexcept
        : state_(digest.words[0] % kModulus), bits_(bits) {}
    constexpr std::uint64_t next() noexcept {
      state_ = state_ * kFactor % kModulus;
      return state_ % bits_;
    }

   private:
    std::uint64_t state_;
    std::uint64_t bits_;
  };
};

// RedisBloom, one filter of its chain.
struct RedisScheme {
  using Digest = SchemeDigest<RedisScheme, 2>;
  static Digest digest(std::span<const std::byte> key) noexcept;

  using Walk = StepWalk<Digest, 0xffffffffffffffff>;
};

template <class Scheme>
struct ForeignLayout {
  using Digest = typename Scheme::Digest;

  std::uint64_t bits = 1;    // m, at least 1
  std::uint32_t hashes = 1;  // k, 1 to 64

  [[nodiscard]] constexpr typename Scheme::Walk walk(const Digest& digest) const noexcept {
    return {digest, bits};
  }
};

}  // namespace probably
