#include "probably/digest.hpp"

#include <sys/random.h>

#include <array>
#include <bit>
#include <cerrno>
#include <system_error>

#include "byte_hashes.hpp"

// The functions of xxHash become part of this file, so that short keys cost no second call. Not for
// the static analyser, which believes that they follow null pointers for keys of 8 bytes.
#if !defined(__clang_analyzer__)
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

namespace probably {
namespace {

// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t state) noexcept : state_(state) {}

  std::uint64_t operator()() noexcept {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t word = state_;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }

 private:
  std::uint64_t state_;
};

// The labels under which a secret is fingerprinted and the key for words is derived. Files depend
// on them.
constexpr std::string_view kFingerprintLabel = "probably: fingerprint of a secret";
constexpr std::string_view kWordsLabels[] = {"probably: first half of the key for words",
                                             "probably: second half of the key for words"};

void fill_randomly(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::getrandom(bytes.data(), bytes.size(), 0);
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "no randomness from getrandom");
    }
  }
}

}  // namespace

std::string_view name(HashAlgorithm algorithm) noexcept {
  switch (algorithm) {
    case HashAlgorithm::xxh3:
      return "xxh3";
    case HashAlgorithm::siphash24:
      return "siphash24";
    case HashAlgorithm::murmur3:
      return "murmur3";
    case HashAlgorithm::xxh64:
      return "xxh64";
    case HashAlgorithm::fnv1a:
      return "fnv1a";
    case HashAlgorithm::scheme:
      return "scheme";
  }
  return "unknown";
}

Hasher::Hasher(HashAlgorithm algorithm, std::uint64_t seed) noexcept
    : algorithm_(algorithm), fingerprint_(seed) {
  if (algorithm != HashAlgorithm::xxh3) {
    secret_[0] = seed;
    return;
  }
  // XXH3's own seeding only adds the seed to its constants, and digests of short keys under two
  // small seeds then meet far too often. One step of the generator takes neighbouring seeds apart,
  // the stream from there is the secret.
  SplitMix64 stream{SplitMix64{seed}()};
  for (std::uint64_t& word : secret_) word = stream();
}

Hasher Hasher::xxh3(std::uint64_t seed) noexcept { return {HashAlgorithm::xxh3, seed}; }

Hasher Hasher::random() {
  std::uint64_t seed = 0;
  fill_randomly(std::as_writable_bytes(std::span(&seed, 1)));
  return xxh3(seed);
}

Hasher Hasher::keyed(const SecretKey& secret) noexcept {
  Hasher hasher(HashAlgorithm::siphash24, 0);
  hasher.secret_[0] = detail::load_little_endian<std::uint64_t>(secret.data());
  hasher.secret_[1] = detail::load_little_endian<std::uint64_t>(secret.data() + 8);
  const auto derive = [&](std::string_view label) {
    return detail::SipHash24(hasher.secret_[0], hasher.secret_[1])
        .digest(std::as_bytes(std::span(label)));
  };
  hasher.fingerprint_ = derive(kFingerprintLabel);
  // Under a key of their own, or whoever may choose strings could give the one with an integer's
  // bytes and would be sure to meet its digest.
  hasher.secret_[2] = derive(kWordsLabels[0]);
  hasher.secret_[3] = derive(kWordsLabels[1]);
  return hasher;
}

Hasher Hasher::keyed() {
  Hasher hasher = keyed(random_secret());
  hasher.is_drawn_ = true;
  return hasher;
}

SecretKey random_secret() {
  SecretKey secret{};
  fill_randomly(secret);
  return secret;
}

Hasher Hasher::murmur3(std::uint32_t seed) noexcept { return {HashAlgorithm::murmur3, seed}; }

Hasher Hasher::xxh64(std::uint64_t seed) noexcept { return {HashAlgorithm::xxh64, seed}; }

Hasher Hasher::fnv1a() noexcept { return {HashAlgorithm::fnv1a, 0}; }

Digest Hasher::digest_bytes(std::span<const std::byte> bytes) const noexcept {
  if (algorithm_ != HashAlgorithm::xxh3) [[unlikely]]
    return digest_bytes_otherwise(bytes);
  // XXH3 reads its secret as bytes.
  if constexpr (std::endian::native != std::endian::little) {
    Secret swapped = secret_;
    for (std::uint64_t& word : swapped) word = detail::little_endian(word);
    return Digest(
        XXH3_64bits_withSecret(bytes.data(), bytes.size(), swapped.data(), sizeof(swapped)));
  }
  return Digest(
      XXH3_64bits_withSecret(bytes.data(), bytes.size(), secret_.data(), sizeof(secret_)));
}

Digest Hasher::digest_bytes_otherwise(std::span<const std::byte> bytes) const noexcept {
  switch (algorithm_) {
    case HashAlgorithm::siphash24:
      return Digest(detail::SipHash24(secret_[0], secret_[1]).digest(bytes));
    case HashAlgorithm::murmur3:
      return Digest(detail::murmur3_x64_128(bytes, static_cast<std::uint32_t>(secret_[0])).low);
    case HashAlgorithm::xxh64:
      return Digest(XXH64(bytes.data(), bytes.size(), secret_[0]));
    case HashAlgorithm::xxh3:
    case HashAlgorithm::fnv1a:
    case HashAlgorithm::scheme:
      break;
  }
  return Digest(detail::fnv1a(bytes));
}

Digest Hasher::digest_word(std::uint64_t word) const noexcept {
  return digest_each_byte(std::array{detail::little_endian(word)});
}

Digest Hasher::digest_words(std::uint64_t first, std::uint64_t second) const noexcept {
  return digest_each_byte(std::array{detail::little_endian(first), detail::little_endian(second)});
}

Digest Hasher::digest_each_byte(std::span<const std::uint64_t> words) const noexcept {
  const auto bytes = std::as_bytes(words);
  if (algorithm_ == HashAlgorithm::siphash24) {
    return Digest(detail::SipHash24(secret_[2], secret_[3]).digest(bytes));
  }
  return digest_bytes(bytes);
}

}  // namespace probably
