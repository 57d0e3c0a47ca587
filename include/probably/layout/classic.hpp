// The layout of `bloom`: digest -> k bits anywhere in m.
//
// The places come of a 64-bit linear congruential sequence that starts at the digest: each state,
// taken as a fraction of 2^64, is scaled to m by one wide multiplication. Any m works, no division
// is needed, no digest is degenerate (the sequence has full period), and unlike double hashing it
// keeps low rates in small filters: docs/decisions/0004-classic-probing.md.
//
//   g(0) = digest    g(i+1) = g(i) * 6364136223846793005 + 1442695040888963407
//   place(i) = high half of g(i) * m; bit place mod 64 of word place / 64
//
// This file is the specification of the bits.
#pragma once

#include <cstdint>

#include "probably/detail/wide.hpp"
#include "probably/digest.hpp"

namespace probably {

struct ClassicLayout {
  using Digest = probably::Digest;

  std::uint64_t bits = 1;    // m, at least 1
  std::uint32_t hashes = 1;  // k, 1 to 64

  // The places of one key, in order.
  class Walk {
   public:
    constexpr Walk(Digest digest, std::uint64_t bits) noexcept
        : state_(digest.value), bits_(bits) {}
    constexpr std::uint64_t next() noexcept {
      const std::uint64_t place = detail::multiply_wide(state_, bits_).high;
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX constants
      return place;
    }

   private:
    std::uint64_t state_;
    std::uint64_t bits_;
  };

  [[nodiscard]] constexpr Walk walk(Digest digest) const noexcept { return {digest, bits}; }
};

}  // namespace probably
