// Filters of other software: GoBloom, Guava32Bloom, Guava64Bloom, DcsoBloom, RedisBloom,
// RedisChain.
//
// They have the bits, the sizes and the answers of the software that they are named after, and the
// verbs of our own: a filter that was read with interop.hpp is asked, extended, merged and saved
// like any other. Choose one to exchange filters with that software; for anything else, take
// blocked.hpp: these need a cache line for each hash, and their hashes fall to whoever may choose
// keys.
//
// Keys are bytes, as the other software got them: for Guava, what the funnel makes of an object (a
// string's UTF-8 bytes, for example). Integers are hashed as eight bytes, least first, which is
// what Guava's longFunnel does.
//
// Concurrency: as bit_filter.hpp says; of RedisChain, as scalable_filter.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "probably/bit_filter.hpp"
#include "probably/layout/foreign.hpp"
#include "probably/scalable_filter.hpp"

namespace probably {

// Hashes as a scheme does. All hashers of one scheme are equal: there is no seed to choose.
template <class Scheme>
class SchemeHasher {
 public:
  using Digest = typename Scheme::Digest;

  template <Key K>
  [[nodiscard]] Digest operator()(const K& key) const noexcept {
    static_assert(!CustomKey<K>, "This filter hashes bytes: give it the bytes of your key.");
    if constexpr (IntegerKey<K>) {
      static_assert(sizeof(K) <= 8, "This filter hashes bytes: give it those of a wider integer.");
      const std::uint64_t value = detail::key_value(key);
      std::array<std::byte, 8> bytes;
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(value >> (8 * i));
      }
      return Scheme::digest(bytes);
    } else {
      return Scheme::digest(detail::key_bytes(key));
    }
  }

  // The digests of key_at(0), key_at(1), ... up to key_at(count - 1).
  template <class KeyAt>
  void digest_each(Digest* out, std::size_t count, const KeyAt& key_at) const noexcept {
    for (std::size_t i = 0; i < count; ++i) out[i] = (*this)(key_at(i));
  }

  [[nodiscard]] HashAlgorithm algorithm() const noexcept { return HashAlgorithm::scheme; }
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return 0; }
  friend bool operator==(const SchemeHasher&, const SchemeHasher&) noexcept { return true; }
};

template <class Scheme>
struct ForeignParams {
  using Layout = ForeignLayout<Scheme>;
  using Hasher = SchemeHasher<Scheme>;

  std::uint64_t bits = 0;    // m, 1 to 2^60; for Guava and Redis a multiple of 64
  std::uint32_t hashes = 0;  // k, 1 to 64

  // What the other software makes for so many keys at such a rate; give both and nothing else.
  static Result<ForeignParams> from(const Plan& plan);
  [[nodiscard]] Result<void> validate() const;

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return (bits + 63) / 64 * 8; }
  // As of a filter with independent hashes; these are not quite, and small filters do worse.
  [[nodiscard]] double fpr(std::uint64_t keys) const noexcept;
  [[nodiscard]] double fill(std::uint64_t keys) const noexcept;
  [[nodiscard]] std::uint64_t capacity(double rate) const noexcept;

  [[nodiscard]] Layout layout() const noexcept { return {bits, hashes}; }
  friend bool operator==(const ForeignParams&, const ForeignParams&) = default;
};

using GoParams = ForeignParams<GoScheme>;
using Guava32Params = ForeignParams<Guava32Scheme>;
using Guava64Params = ForeignParams<Guava64Scheme>;
using DcsoParams = ForeignParams<DcsoScheme>;
using RedisParams = ForeignParams<RedisScheme>;

using GoBloom = BitFilter<GoParams>;
using Guava32Bloom = BitFilter<Guava32Params>;
using Guava64Bloom = BitFilter<Guava64Params>;
using DcsoBloom = BitFilter<DcsoParams>;
using RedisBloom = BitFilter<RedisParams>;

// What RedisBloom keeps under a key: a chain of RedisBloom filters that grows.
struct RedisChainParams {
  using Link = RedisBloom;

  std::uint64_t first_keys = 100;  // capacity of the first link, 1 to kMaxKeys
  double fpr = 0.01;               // 1e-9 to kMaxFpr; each link has half the rate of the one before
  std::uint32_t growth = 2;        // 1 to 65536; 0: NONSCALING, one link with the whole rate

  static Result<RedisChainParams> from(const Plan& plan);
  [[nodiscard]] Result<void> validate() const;

  [[nodiscard]] std::uint64_t link_keys(std::uint32_t link) const noexcept;
  [[nodiscard]] double link_fpr(std::uint32_t link) const noexcept;
  [[nodiscard]] Result<RedisParams> link_params(std::uint32_t link) const;

  friend bool operator==(const RedisChainParams&, const RedisChainParams&) = default;
};

using RedisChain = ScalableFilter<RedisChainParams>;

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type.
#define PROBABLY_EXTERN(Scheme)                                                     \
  extern template bool detail::insert(const ForeignLayout<Scheme>&, std::uint64_t*, \
                                      const typename Scheme::Digest&) noexcept;     \
  extern template struct ForeignParams<Scheme>;                                     \
  extern template class BitFilter<ForeignParams<Scheme>>
// NOLINTEND(bugprone-macro-parentheses)
PROBABLY_EXTERN(GoScheme);
PROBABLY_EXTERN(Guava32Scheme);
PROBABLY_EXTERN(Guava64Scheme);
PROBABLY_EXTERN(DcsoScheme);
PROBABLY_EXTERN(RedisScheme);
#undef PROBABLY_EXTERN
extern template class ScalableFilter<RedisChainParams>;

}  // namespace probably
