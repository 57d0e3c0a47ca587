// Digest and Hasher: how a key becomes 64 uniform bits.
//
// A key is hashed once; filters work on digests. The hasher is part of a filter's identity: two
// filters merge, and a saved filter answers, only under the same algorithm and the same seed or
// key.
//
//   Hasher{}                 XXH3, fixed seed: filters built on two machines merge
//   Hasher::xxh3(seed)       XXH3, your seed
//   Hasher::random()         XXH3, a seed of this process: for filters never merged or saved
//   Hasher::keyed(secret)    SipHash-2-4, 128-bit secret: for keys that strangers choose
//   Hasher::murmur3(), xxh64(), fnv1a()   to read other software's filters, and for study
//
// A seed is not a secret. Whoever may choose keys can find colliding ones for XXH3, XXH64,
// MurmurHash3 and FNV-1a, for XXH64 and MurmurHash3 even such that collide under every seed. Only
// keyed() resists. docs/hashing.md shows it, and defines every digest exactly.
//
// Keys are
//   bytes      strings, C strings, and arrays, vectors or spans of char, char8_t, unsigned char,
//              std::byte; char[N] and char8_t[N], which literals are, end at their first NUL, if
//              they have one
//   integers   of any width, characters, bool and enums. They count by value: -1 as int and as long
//              is one key. So are -1 and 2^64 - 1. An integer and its decimal digits are two keys.
//   your type  after you write in its namespace a function that does not throw:
//
//     inline probably::Digest probably_digest(const probably::Hasher& hash,
//                                             const Order& order) noexcept {
//       return hash.combine(hash(order.customer), hash(order.number));
//     }
//
// Floating-point numbers and pointers are no keys, because equal ones may differ in bytes or the
// other way round. Hash what you mean by them.
//
// Concurrency: a Hasher never changes; any number of threads may use one.
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "probably/detail/target.hpp"
#include "probably/detail/wide.hpp"

namespace probably {

// 64 uniform bits that stand for a key.
struct Digest {
  std::uint64_t value = 0;

  constexpr Digest() noexcept = default;
  // Explicit: an integer is a key, and as a digest it would go unhashed.
  constexpr explicit Digest(std::uint64_t bits) noexcept : value(bits) {}

  friend constexpr auto operator<=>(const Digest&, const Digest&) = default;
};

class Hasher;
namespace detail {
struct SnapshotAccess;
}

// The numbers are stable: files store them. Append only.
enum class HashAlgorithm : std::uint8_t {
  xxh3 = 1,
  siphash24 = 2,
  murmur3 = 3,
  xxh64 = 4,
  fnv1a = 5,
  scheme = 6,  // what the kind prescribes: foreign.hpp
};
inline constexpr unsigned kHashAlgorithmCount = 6;

// The enumerator's name, and "unknown" for any other number.
[[nodiscard]] std::string_view name(HashAlgorithm algorithm) noexcept;

// A 128-bit secret. Keep it out of logs; whoever has it can choose colliding keys.
using SecretKey = std::array<std::byte, 16>;

// A secret from the operating system. Throws std::system_error if it gives none.
[[nodiscard]] SecretKey random_secret();

// nullptr converts to std::string_view in C++20, but has no characters to read.
template <class T>
concept BytesKey =
    !std::is_null_pointer_v<T> && (std::convertible_to<const T&, std::string_view> ||
                                   std::convertible_to<const T&, std::u8string_view> ||
                                   std::convertible_to<const T&, std::span<const std::byte>> ||
                                   std::convertible_to<const T&, std::span<const char>> ||
                                   std::convertible_to<const T&, std::span<const unsigned char>> ||
                                   std::convertible_to<const T&, std::span<const char8_t>>);

template <class T>
concept IntegerKey = std::integral<T> || std::is_enum_v<T> || detail::WideInteger<T>;

template <class T>
concept CustomKey = requires(const Hasher& hash, const T& key) {
  { probably_digest(hash, key) } -> std::same_as<Digest>;
};

// What a Hasher accepts; see the top of this file.
template <class T>
concept Key = CustomKey<T> || IntegerKey<T> || BytesKey<T>;

class Hasher {
 public:
  using Digest = probably::Digest;

  static constexpr std::uint64_t kDefaultSeed = 0;

  // XXH3 with the default seed.
  Hasher() noexcept : Hasher(HashAlgorithm::xxh3, kDefaultSeed) {}

  [[nodiscard]] static Hasher xxh3(std::uint64_t seed = kDefaultSeed) noexcept;
  // XXH3 with a seed from the operating system. Throws std::system_error if it gives none.
  [[nodiscard]] static Hasher random();
  [[nodiscard]] static Hasher keyed(const SecretKey& secret) noexcept;
  // SipHash-2-4 with a secret from the operating system, for a filter that lives in one process:
  // nobody gets to know the secret, so save() wants to store it in the file. For filters that are
  // saved without it, keep a random_secret(). Throws std::system_error if it gives none.
  [[nodiscard]] static Hasher keyed();
  // The first 64 bits of MurmurHash3 x64 128.
  [[nodiscard]] static Hasher murmur3(std::uint32_t seed = 0) noexcept;
  [[nodiscard]] static Hasher xxh64(std::uint64_t seed = 0) noexcept;
  [[nodiscard]] static Hasher fnv1a() noexcept;

  // The digest of a key. Never allocates.
  template <Key K>
  [[nodiscard]] Digest operator()(const K& key) const noexcept;

  // One digest for a key of several parts; the order counts.
  [[nodiscard]] Digest combine(Digest first, Digest second) const noexcept;

  // The digests of key_at(0), key_at(1), ... up to key_at(count - 1).
  template <class KeyAt>
  PROBABLY_INLINE void digest_each(Digest* out, std::size_t count,
                                   const KeyAt& key_at) const noexcept;

  [[nodiscard]] HashAlgorithm algorithm() const noexcept { return algorithm_; }
  // The seed, 0 for fnv1a(); for keyed() a fingerprint of the secret, which does not reveal it.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }

  // Same algorithm, same seed or secret: every key has the same digest under both.
  friend bool operator==(const Hasher& a, const Hasher& b) noexcept {
    return a.algorithm_ == b.algorithm_ && a.secret_ == b.secret_;
  }

 private:
  // 192 bytes, the length of XXH3's own secret.
  using Secret = std::array<std::uint64_t, 24>;

  // Requires: algorithm takes a seed.
  Hasher(HashAlgorithm algorithm, std::uint64_t seed) noexcept;

  // Spreads a product that was folded over all 64 bits.
  [[nodiscard]] static constexpr Digest finish(std::uint64_t folded) noexcept {
    const std::uint64_t spread = folded * 0x9e3779b97f4a7c15;
    return Digest(spread ^ (spread >> 32));
  }

  // Those that are called are pure, so that a loop over keys keeps hasher and filter in registers.
  [[gnu::pure]] [[nodiscard]] Digest digest_bytes(std::span<const std::byte> bytes) const noexcept;
  // Out of the way of XXH3, whose short keys would pay for its registers.
  [[gnu::pure, gnu::noinline]] [[nodiscard]] Digest digest_bytes_otherwise(
      std::span<const std::byte> bytes) const noexcept;
  [[nodiscard]] Digest digest_integer(std::uint64_t value) const noexcept;
  // The algorithms that know bytes only get 8 or 16 of them, little endian. Given by value: what
  // has an address has to be in memory.
  [[gnu::pure]] [[nodiscard]] Digest digest_word(std::uint64_t word) const noexcept;
  [[gnu::pure]] [[nodiscard]] Digest digest_words(std::uint64_t first,
                                                  std::uint64_t second) const noexcept;
  // Of words in the order of bytes of files.
  [[nodiscard]] Digest digest_each_byte(std::span<const std::uint64_t> words) const noexcept;

  friend struct detail::SnapshotAccess;

  HashAlgorithm algorithm_ = HashAlgorithm::xxh3;
  bool is_drawn_ = false;  // nobody but this object and its copies has the secret
  std::uint64_t fingerprint_ = 0;
  // For xxh3 what XXH3 calls so; for siphash24 the key for bytes and the one for words; otherwise
  // the seed; followed by zeros.
  Secret secret_{};
};

namespace detail {
inline namespace PROBABLY_TARGET_NAMESPACE {

// Out of the way of integers under XXH3, which would pay for its registers.
template <class KeyAt>
[[gnu::noinline]] void digest_one_by_one(const Hasher& hasher, Digest* out, std::size_t count,
                                         const KeyAt& key_at) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = hasher(key_at(i));
}

}  // namespace PROBABLY_TARGET_NAMESPACE

template <BytesKey K>
[[nodiscard]] std::span<const std::byte> key_bytes(const K& key) noexcept {
  if constexpr (std::is_bounded_array_v<K> && (std::convertible_to<const K&, std::string_view> ||
                                               std::convertible_to<const K&, std::u8string_view>)) {
    const void* const end = std::memchr(key, 0, sizeof(key));
    const std::size_t size = end == nullptr
                                 ? sizeof(key)
                                 : static_cast<std::size_t>(static_cast<const char*>(end) -
                                                            reinterpret_cast<const char*>(key));
    return std::as_bytes(std::span(key)).first(size);
  } else if constexpr (std::convertible_to<const K&, std::string_view>) {
    const std::string_view text = key;
    return std::as_bytes(std::span<const char>(text.data(), text.size()));
  } else if constexpr (std::convertible_to<const K&, std::u8string_view>) {
    const std::u8string_view text = key;
    return std::as_bytes(std::span<const char8_t>(text.data(), text.size()));
  } else if constexpr (std::convertible_to<const K&, std::span<const std::byte>>) {
    return key;
  } else if constexpr (std::convertible_to<const K&, std::span<const char>>) {
    return std::as_bytes(std::span<const char>(key));
  } else if constexpr (std::convertible_to<const K&, std::span<const unsigned char>>) {
    return std::as_bytes(std::span<const unsigned char>(key));
  } else {
    return std::as_bytes(std::span<const char8_t>(key));
  }
}

// The value modulo 2^64. Whether plain char is signed is the machine's choice, which must not show.
template <IntegerKey K>
[[nodiscard]] constexpr std::uint64_t key_value(K key) noexcept {
  if constexpr (std::is_enum_v<K>) {
    return key_value(static_cast<std::underlying_type_t<K>>(key));
  } else if constexpr (std::same_as<K, char>) {
    return static_cast<unsigned char>(key);
  } else {
    return static_cast<std::uint64_t>(key);
  }
}

}  // namespace detail

// One wide multiplication alone is too regular: with some seeds, filters of everyday patterns have
// up to 2.6 times the predicted rate. One more, narrow, gives all tested patterns the rates of
// random keys; no cheaper mixer did. docs/decisions/0003-integer-keys.md has the figures.
inline Digest Hasher::digest_integer(std::uint64_t value) const noexcept {
  if (algorithm_ != HashAlgorithm::xxh3) [[unlikely]] {
    return digest_word(value);
  }
  return finish(detail::multiply_fold(value ^ secret_[0], secret_[1]));
}

inline Digest Hasher::combine(Digest first, Digest second) const noexcept {
  if (algorithm_ != HashAlgorithm::xxh3) [[unlikely]] {
    return digest_words(first.value, second.value);
  }
  return finish(detail::multiply_fold(first.value ^ secret_[2], second.value ^ secret_[3]));
}

template <Key K>
Digest Hasher::operator()(const K& key) const noexcept {
  if constexpr (CustomKey<K>) {
    return probably_digest(*this, key);
  } else if constexpr (detail::WideInteger<K>) {
    const auto low = static_cast<std::uint64_t>(key);
    const auto high = static_cast<std::uint64_t>(key >> 64);
    // A value that 64 bits hold, signed or unsigned, is the same key as there.
    constexpr bool kSigned = static_cast<K>(-1) < static_cast<K>(1);
    const bool fits = high == 0 || (kSigned && high == ~std::uint64_t{0} && (low >> 63) == 1);
    return fits ? digest_integer(low) : combine(digest_integer(low), digest_integer(high));
  } else if constexpr (IntegerKey<K>) {
    return digest_integer(detail::key_value(key));
  } else {
    return digest_bytes(detail::key_bytes(key));
  }
}

template <class KeyAt>
PROBABLY_INLINE void Hasher::digest_each(Digest* out, std::size_t count,
                                         const KeyAt& key_at) const noexcept {
  using K = std::remove_cvref_t<decltype(key_at(0))>;
  if constexpr (IntegerKey<K> && !CustomKey<K> && !detail::WideInteger<K>) {
    if (algorithm_ == HashAlgorithm::xxh3) [[likely]] {
      // Copies, since for all that the compiler knows the digests may overwrite the secret.
      const std::uint64_t first = secret_[0];
      const std::uint64_t second = secret_[1];
#pragma GCC unroll 4
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t value = detail::key_value(key_at(i));
        out[i] = finish(detail::multiply_fold(value ^ first, second));
      }
      return;
    }
  }
  detail::digest_one_by_one(*this, out, count, key_at);
}

}  // namespace probably
