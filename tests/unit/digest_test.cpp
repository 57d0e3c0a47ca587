#include "probably/digest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "endian.hpp"
#include "probably/detail/wide.hpp"
#include "support/json_strings.hpp"

namespace shop {

struct Order {
  std::string customer;
  int number = 0;
};

probably::Digest probably_digest(const probably::Hasher& hash, const Order& order) noexcept {
  return hash.combine(hash(order.customer), hash(order.number));
}

// A string with a function of its own: that comes first. Here the length alone counts.
struct Tally : std::string {
  using std::string::string;
};

probably::Digest probably_digest(const probably::Hasher& hash, const Tally& tally) noexcept {
  return hash(tally.size());
}

}  // namespace shop

namespace probably {
namespace {

using testing::bytes_from_hex;
using testing::read_test_data;
using testing::strings_of_first_list;
using testing::strings_of_list;

static_assert(Key<int> && Key<bool> && Key<char> && Key<std::uint8_t> && Key<std::int64_t>);
static_assert(Key<std::byte> && Key<HashAlgorithm> && Key<char32_t>);
static_assert(Key<std::string> && Key<std::string_view> && Key<const char*> && Key<char[4]>);
static_assert(Key<char*> && Key<std::u8string> && Key<std::array<char, 3>>);
static_assert(Key<std::vector<std::byte>> && Key<std::span<const std::byte>>);
static_assert(Key<std::span<std::byte>> && Key<std::array<std::byte, 16>> && Key<SecretKey>);
static_assert(Key<std::vector<unsigned char>> && Key<unsigned char[4]> && Key<std::vector<char>>);
static_assert(Key<shop::Order>);
static_assert(!Key<float> && !Key<double> && !Key<long double>);
static_assert(!Key<void*> && !Key<int*> && !Key<const unsigned char*> && !Key<std::nullptr_t>);
static_assert(!Key<std::vector<int>> && !Key<std::wstring> && !Key<std::pair<int, int>>);
static_assert(!std::is_convertible_v<std::uint64_t, Digest>);
static_assert(noexcept(Hasher{}(1)) && noexcept(Hasher{}("text")));

// Every algorithm, with a seed or secret where it takes one.
std::vector<Hasher> all_hashers() {
  return {Hasher{},           Hasher::xxh3(1),  Hasher::keyed(SecretKey{std::byte{1}}),
          Hasher::murmur3(1), Hasher::xxh64(1), Hasher::fnv1a()};
}

// The key of n bytes 3, 10, 17, ... modulo 256, as the vectors in tests/data have it.
std::string key_of_length(std::size_t n) {
  std::string key(n, '\0');
  for (std::size_t i = 0; i < n; ++i) key[i] = static_cast<char>(7 * i + 3);
  return key;
}

// One number that depends on all that were added, and on their order.
struct Folded {
  std::uint64_t value = 0;
  void add(Digest digest) { value = (std::rotl(value, 5) ^ digest.value) * 0x100000001b3; }
};

class SplitMix {
 public:
  explicit SplitMix(std::uint64_t state) : state_(state) {}
  std::uint64_t operator()() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t word = state_;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }

 private:
  std::uint64_t state_;
};

TEST(MultiplyWide, AgreesWithSchoolbookMultiplication) {
  std::vector<std::uint64_t> numbers{0,
                                     1,
                                     2,
                                     0xffffffff,
                                     0x100000000,
                                     0xfffffffe00000001,
                                     std::numeric_limits<std::uint64_t>::max()};
  SplitMix random{1};
  std::generate_n(std::back_inserter(numbers), 100, random);
  for (const std::uint64_t a : numbers) {
    for (const std::uint64_t b : numbers) {
      const detail::Wide fast = detail::multiply_wide(a, b);
      const detail::Wide portable = detail::multiply_wide_portable(a, b);
      ASSERT_EQ(fast.high, portable.high) << a << " * " << b;
      ASSERT_EQ(fast.low, portable.low) << a << " * " << b;
      ASSERT_EQ(fast.low, a * b);
    }
  }
  const detail::Wide square = detail::multiply_wide(numbers[6], numbers[6]);
  EXPECT_EQ(square.high, 0xfffffffffffffffeU);
  EXPECT_EQ(square.low, 1U);
}

TEST(HashAlgorithm, NumbersAndNamesAreStable) {
  const std::vector<std::pair<int, std::string_view>> expected{
      {1, "xxh3"}, {2, "siphash24"}, {3, "murmur3"}, {4, "xxh64"}, {5, "fnv1a"}};
  for (const auto& [number, text] : expected) {
    EXPECT_EQ(name(static_cast<HashAlgorithm>(number)), text);
  }
  EXPECT_EQ(name(HashAlgorithm{}), "unknown");
  EXPECT_EQ(Hasher{}.algorithm(), HashAlgorithm{1});
  EXPECT_EQ(Hasher::keyed(SecretKey{}).algorithm(), HashAlgorithm{2});
  EXPECT_EQ(Hasher::murmur3().algorithm(), HashAlgorithm{3});
  EXPECT_EQ(Hasher::xxh64().algorithm(), HashAlgorithm{4});
  EXPECT_EQ(Hasher::fnv1a().algorithm(), HashAlgorithm{5});
}

// Computed with the shared libxxhash 0.8.1 through its public functions, and the integer formulas
// in another language. A failure means that saved filters no longer know their keys. Do not edit
// the numbers: add an algorithm.
TEST(Hasher, BitsAreFrozen) {
  const Hasher hash;
  EXPECT_EQ(hash("").value, 0xa9af4f965eae1ef9U);
  EXPECT_EQ(hash("a").value, 0x865f0cd7bb781794U);
  EXPECT_EQ(hash("probably").value, 0x35b949ecebb54e39U);
  EXPECT_EQ(hash("key-000000").value, 0x504adf3f49b45434U);
  EXPECT_EQ(Hasher::xxh3(1)("key-000000").value, 0x224765da19804961U);
  Folded strings;
  for (std::size_t length = 0; length <= 300; ++length) strings.add(hash(key_of_length(length)));
  EXPECT_EQ(strings.value, 0x20b0a84c73aba704U);

  EXPECT_EQ(hash(0).value, 0x1955a155cfd03896U);
  EXPECT_EQ(hash(1).value, 0xf69262355247ae25U);
  EXPECT_EQ(hash(-1).value, 0xfb8ee4747e25749cU);
  EXPECT_EQ(hash(std::uint64_t{1} << 63).value, 0x889aa50c962c7618U);
  EXPECT_EQ(Hasher::xxh3(1)(42).value, 0x13a291703f6cd9e3U);
  Folded integers;
  for (std::uint64_t i = 0; i < 1000; ++i) integers.add(hash(i * i * i));
  EXPECT_EQ(integers.value, 0xf7e395bfbd8ce6aaU);

  EXPECT_EQ(hash.combine(hash(1), hash(2)).value, 0x0fe18c5d0baef661U);
}

// The first 64 outputs that the authors of SipHash publish: key 00 01 .. 0f, messages of 0 to 63
// bytes 00 01 02 .. . Taken from `openssl mac -macopt size:8 SIPHASH`.
TEST(Hasher, KeyedIsSipHash24) {
  constexpr std::array<std::uint64_t, 64> kExpected{
      0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
      0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
      0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
      0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5,
      0x3f2acc7f57c29bdb, 0x699ae9f52cbe4794, 0x4bc1b3f0968dd39c, 0xbb6dc91da77961bd,
      0xbed65cf21aa2ee98, 0xd0f2cbb02e3b67c7, 0x93536795e3a33e88, 0xa80c038ccd5ccec8,
      0xb8ad50c6f649af94, 0xbce192de8a85b8ea, 0x17d835b85bbb15f3, 0x2f2e6163076bcfad,
      0xde4daaaca71dc9a5, 0xa6a2506687956571, 0xad87a3535c49ef28, 0x32d892fad841c342,
      0x7127512f72f27cce, 0xa7f32346f95978e3, 0x12e0b01abb051238, 0x15e034d40fa197ae,
      0x314dffbe0815a3b4, 0x027990f029623981, 0xcadcd4e59ef40c4d, 0x9abfd8766a33735c,
      0x0e3ea96b5304a7d0, 0xad0c42d6fc585992, 0x187306c89bc215a9, 0xd4a60abcf3792b95,
      0xf935451de4f21df2, 0xa9538f0419755787, 0xdb9acddff56ca510, 0xd06c98cd5c0975eb,
      0xe612a3cb9ecba951, 0xc766e62cfcadaf96, 0xee64435a9752fe72, 0xa192d576b245165a,
      0x0a8787bf8ecb74b2, 0x81b3e73d20b49b6f, 0x7fa8220ba3b2ecea, 0x245731c13ca42499,
      0xb78dbfaf3a8d83bd, 0xea1ad565322a1a0b, 0x60e61c23a3795013, 0x6606d7e446282b93,
      0x6ca4ecb15c5f91e1, 0x9f626da15c9625f3, 0xe51b38608ef25f57, 0x958a324ceb064572,
  };
  SecretKey secret{};
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(i);
  const Hasher hash = Hasher::keyed(secret);
  std::vector<std::byte> message;
  for (const std::uint64_t expected : kExpected) {
    EXPECT_EQ(hash(message).value, expected) << message.size() << " bytes";
    message.push_back(static_cast<std::byte>(message.size()));
  }
}

// Written by Guava.
TEST(Hasher, Murmur3AgreesWithForeignVectors) {
  const auto strings = strings_of_first_list(read_test_data("murmur3_x64_128_seed0.json"));
  ASSERT_EQ(strings.size(), 4U * 41U);
  const Hasher hash = Hasher::murmur3();
  for (std::size_t i = 0; i < strings.size(); i += 4) {
    ASSERT_EQ(strings[i], "key_hex");
    const std::string output = bytes_from_hex(strings[i + 3]);
    ASSERT_EQ(output.size(), 16U);
    const auto expected =
        detail::load_little_endian<std::uint64_t>(std::as_bytes(std::span(output)).data());
    EXPECT_EQ(hash(bytes_from_hex(strings[i + 1])).value, expected) << strings[i + 1];
  }
}

// From the published descriptions of both.
TEST(Hasher, Xxh64AndFnv1aAgreeWithKnownValues) {
  EXPECT_EQ(Hasher::xxh64()("").value, 0xef46db3751d8e999U);
  EXPECT_EQ(Hasher::xxh64()("a").value, 0xd24ec4f1a98c6e5bU);
  EXPECT_EQ(Hasher::fnv1a()("").value, 0xcbf29ce484222325U);
  EXPECT_EQ(Hasher::fnv1a()("a").value, 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(Hasher::fnv1a()("foobar").value, 0x85944171f73967e8U);
}

TEST(Hasher, EqualBytesAreOneKeyInWhateverTheyAreHeld) {
  const std::string text = "key\xff";
  const char unterminated[4] = {'k', 'e', 'y', '\xff'};
  const char terminated[8] = {'k', 'e', 'y', '\xff', '\0', 'x'};
  const std::vector<char> characters(text.begin(), text.end());
  const std::vector<unsigned char> octets(text.begin(), text.end());
  const std::u8string utf8(text.begin(), text.end());
  std::vector<std::byte> bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  for (const Hasher& hash : all_hashers()) {
    const Digest expected = hash(text);
    EXPECT_EQ(hash("key\xff"), expected);
    EXPECT_EQ(hash(text.c_str()), expected);
    EXPECT_EQ(hash(std::string_view(text)), expected);
    EXPECT_EQ(hash(unterminated), expected);
    EXPECT_EQ(hash(terminated), expected);
    EXPECT_EQ(hash(characters), expected);
    EXPECT_EQ(hash(octets), expected);
    EXPECT_EQ(hash(utf8), expected);
    EXPECT_EQ(hash(utf8.c_str()), expected);
    EXPECT_EQ(hash(std::u8string_view(utf8)), expected);
    EXPECT_EQ(hash(u8"\u00e9"), hash(std::u8string(u8"\u00e9")));
    EXPECT_EQ(hash(bytes), expected);
    EXPECT_EQ(hash(std::span<const std::byte>(bytes)), expected);
    EXPECT_EQ(hash(std::span<std::byte>(bytes)), expected);
    EXPECT_NE(hash(bytes).value, hash(std::string("key")).value);
  }
}

TEST(Hasher, AnEmptyKeyMayHaveNoAddress) {
  for (const Hasher& hash : all_hashers()) {
    const Digest expected = hash("");
    EXPECT_EQ(hash(std::string_view{}), expected);
    EXPECT_EQ(hash(std::span<const std::byte>{}), expected);
    EXPECT_EQ(hash(std::vector<unsigned char>{}), expected);
  }
}

TEST(Hasher, IntegersCountByValue) {
  enum class Small : std::int8_t { minus_one = -1 };
  enum Plain { one = 1 };
  for (const Hasher& hash : all_hashers()) {
    const Digest minus_one = hash(-1);
    EXPECT_EQ(hash(-1L), minus_one);
    EXPECT_EQ(hash(std::int8_t{-1}), minus_one);
    EXPECT_EQ(hash(Small::minus_one), minus_one);
    EXPECT_EQ(hash(std::numeric_limits<std::uint64_t>::max()), minus_one);
    EXPECT_NE(hash(std::numeric_limits<std::uint32_t>::max()), minus_one);
    EXPECT_EQ(hash(true), hash(1ULL));
    EXPECT_EQ(hash(Plain::one), hash(1));
    EXPECT_EQ(hash(std::byte{200}), hash(200));
    EXPECT_EQ(hash('\xc8'), hash(200));
    EXPECT_EQ(hash(u'a'), hash('a'));
    EXPECT_NE(hash(1), hash("1"));
    EXPECT_NE(hash(1), hash(2));
  }
}

#if defined(__SIZEOF_INT128__)
TEST(Hasher, WideIntegersCountByValueToo) {
  using detail::Int128;
  using detail::Uint128;
  const Uint128 two_to_64 = Uint128{1} << 64;
  for (const Hasher& hash : all_hashers()) {
    EXPECT_EQ(hash(Int128{-1}), hash(-1));
    EXPECT_EQ(hash(Int128{7}), hash(7));
    EXPECT_EQ(hash(two_to_64 - 1), hash(std::numeric_limits<std::uint64_t>::max()));
    EXPECT_NE(hash(two_to_64), hash(0));
    EXPECT_NE(hash(two_to_64), hash(1));
    EXPECT_NE(hash(~Uint128{0}), hash(-1));
    EXPECT_EQ(hash(static_cast<Int128>(two_to_64)), hash(two_to_64));
    EXPECT_NE(hash(-static_cast<Int128>(two_to_64)), hash(0));
  }
}
#endif

TEST(Hasher, OtherAlgorithmsSeeIntegersAsEightLittleEndianBytes) {
  const std::array<unsigned char, 8> bytes{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  for (const Hasher& hash : all_hashers()) {
    if (hash.algorithm() == HashAlgorithm::xxh3) continue;
    if (hash.algorithm() == HashAlgorithm::siphash24) continue;
    EXPECT_EQ(hash(-2), hash(bytes));
  }
}

// Or whoever may give strings to a filter of integers could forge one.
TEST(Hasher, UnderASecretNoStringIsAnInteger) {
  const Hasher hash = Hasher::keyed(SecretKey{std::byte{1}});
  const std::array<std::uint64_t, 2> words{1, 2};
  const auto bytes = std::as_bytes(std::span(words));
  EXPECT_NE(hash(words[0]), hash(bytes.first(8)));
  EXPECT_NE(hash.combine(Digest(1), Digest(2)), hash(bytes));
  // Frozen. The numbers come of a second implementation, in Python.
  EXPECT_EQ(hash(words[0]).value, 0x6471ac51fdef09ffu);
  EXPECT_EQ(hash.combine(Digest(1), Digest(2)).value, 0x7a3c4c6b2c22397cu);
}

TEST(Hasher, HashesCustomTypesThroughTheirOwnFunction) {
  const shop::Order order{"Ada", 7};
  for (const Hasher& hash : all_hashers()) {
    EXPECT_EQ(hash(order), hash.combine(hash("Ada"), hash(7)));
    EXPECT_NE(hash(order), hash(shop::Order{"Ada", 8}));
    EXPECT_NE(hash(order), hash(shop::Order{"Bob", 7}));
    EXPECT_EQ(hash(shop::Tally("|||")), hash(3));
  }
}

TEST(Hasher, CombiningHeedsOrderAndEveryPart) {
  for (const Hasher& hash : all_hashers()) {
    const Digest a = hash("a");
    const Digest b = hash("b");
    const Digest c = hash("c");
    EXPECT_NE(hash.combine(a, b), hash.combine(b, a));
    EXPECT_NE(hash.combine(a, b), a);
    EXPECT_NE(hash.combine(a, a), a);
    EXPECT_NE(hash.combine(a, b), hash.combine(a, c));
    EXPECT_NE(hash.combine(hash.combine(a, b), c), hash.combine(a, hash.combine(b, c)));
  }
}

TEST(Hasher, EqualMeansSameAlgorithmAndSameSeedOrSecret) {
  const std::vector<Hasher> hashers = all_hashers();
  for (std::size_t i = 0; i < hashers.size(); ++i) {
    for (std::size_t j = 0; j < hashers.size(); ++j) {
      EXPECT_EQ(hashers[i] == hashers[j], i == j);
    }
  }
  EXPECT_EQ(Hasher{}, Hasher::xxh3(Hasher::kDefaultSeed));
  EXPECT_EQ(Hasher::murmur3(7), Hasher::murmur3(7));
  EXPECT_NE(Hasher::murmur3(7), Hasher::murmur3(8));
  EXPECT_NE(Hasher::xxh64(7), Hasher::murmur3(7));
  EXPECT_NE(Hasher::xxh64(0), Hasher::fnv1a());
  EXPECT_NE(Hasher::keyed(SecretKey{}), Hasher::keyed(SecretKey{std::byte{1}}));
}

// The number was computed with `openssl mac -macopt size:8 SIPHASH`; files hold it.
TEST(Hasher, FingerprintIsTheSeedOrNamesTheSecret) {
  EXPECT_EQ(Hasher{}.fingerprint(), Hasher::kDefaultSeed);
  EXPECT_EQ(Hasher::xxh3(5).fingerprint(), 5U);
  EXPECT_EQ(Hasher::murmur3(6).fingerprint(), 6U);
  EXPECT_EQ(Hasher::xxh64(7).fingerprint(), 7U);
  EXPECT_EQ(Hasher::fnv1a().fingerprint(), 0U);
  SecretKey secret{};
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(i);
  EXPECT_EQ(Hasher::keyed(secret).fingerprint(), 0x778501aa5e80bcadU);
}

TEST(Hasher, RandomOnesDiffer) {
  EXPECT_NE(Hasher::random(), Hasher::random());
  EXPECT_NE(Hasher::random(), Hasher{});
  EXPECT_EQ(Hasher::random().algorithm(), HashAlgorithm::xxh3);
  const Hasher random = Hasher::random();
  EXPECT_EQ(Hasher::xxh3(random.fingerprint()), random);
  EXPECT_NE(Hasher::keyed(), Hasher::keyed());
  EXPECT_EQ(Hasher::keyed().algorithm(), HashAlgorithm::siphash24);
}

// Requires: both sorted.
std::size_t common_digests(const std::vector<Digest>& a, const std::vector<Digest>& b) {
  std::vector<Digest> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return common.size();
}

// Two sets of 2^20 random digests have 2^40 pairs, of which 2^-24 meet: a test of one pair of seeds
// fails by chance once in 16 million. XXH3's own seeding has 40,720 common digests for seeds 0 and
// 2 and 900 for seeds 1 and 2.
TEST(Hasher, SeedsAreIndependentOnShortKeys) {
  constexpr std::uint64_t kKeys = 1 << 20;
  std::array<std::vector<Digest>, 6> digests;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Hasher hash = Hasher::xxh3(seed);
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      digests[seed].push_back(hash(std::to_string(i)));
      digests[3 + seed].push_back(hash(i));
    }
  }
  for (auto& sorted : digests) std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < digests.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_EQ(common_digests(digests[i], digests[j]), 0U);
  }
}

// The arithmetic of a filter of 512-bit blocks, each of eight lanes, in which a digest has one
// or two bits per lane. Hard on digests: the block, the first and the second bits come from three
// overlapping parts of one product.
class BlockModel {
 public:
  BlockModel(std::uint64_t keys, double bits_per_key, int bits_per_lane)
      : blocks_(
            static_cast<std::uint64_t>(std::ceil(static_cast<double>(keys) * bits_per_key / 512))),
        bits_per_lane_(bits_per_lane),
        words_(8 * blocks_),
        load_(static_cast<double>(keys) / static_cast<double>(blocks_)) {}

  void insert(Digest digest) {
    for_each_lane(digest, [](std::uint64_t& word, std::uint64_t mask) {
      word |= mask;
      return true;
    });
  }

  [[nodiscard]] bool contains(Digest digest) {
    return for_each_lane(
        digest, [](std::uint64_t& word, std::uint64_t mask) { return (word & mask) == mask; });
  }

  struct Prediction {
    double rate = 0;
    // Of the rates of filters with this many keys, around `rate`.
    double deviation = 0;
  };

  // Loads are Poisson. Their sum is given, so what a rate owes to them linearly cancels.
  [[nodiscard]] Prediction predict() const {
    double mean = 0;
    double square = 0;
    double with_load = 0;
    for (int n = 0; n < 2 * load_ + 100; ++n) {
      const double chance = std::exp(n * std::log(load_) - load_ - std::lgamma(n + 1.0));
      const double unset = std::pow(63.0 / 64, n * bits_per_lane_);
      double hit = 1 - unset;
      if (bits_per_lane_ == 2) {
        const double both_set = 1 - 2 * unset + std::pow(62.0 / 64, 2 * n);
        hit = hit / 64 + both_set * 63 / 64;
      }
      const double rate = std::pow(hit, 8);
      mean += chance * rate;
      square += chance * rate * rate;
      with_load += chance * rate * (n - load_);
    }
    const double variance = square - mean * mean - with_load * with_load / load_;
    return {mean, std::sqrt(variance / static_cast<double>(blocks_))};
  }

 private:
  template <class Action>
  bool for_each_lane(Digest digest, Action action) {
    constexpr std::array<std::uint32_t, 8> kSalts{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                                  0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    const detail::Wide product = detail::multiply_wide(digest.value, blocks_);
    const auto first = static_cast<std::uint32_t>(product.low >> 32);
    const auto second = static_cast<std::uint32_t>(digest.value);
    bool all = true;
    for (std::size_t lane = 0; lane < 8; ++lane) {
      std::uint64_t mask = std::uint64_t{1} << ((first * kSalts[lane]) >> 26);
      if (bits_per_lane_ == 2) mask |= std::uint64_t{1} << ((second * kSalts[lane]) >> 26);
      all &= action(words_[8 * product.high + lane], mask);
    }
    return all;
  }

  std::uint64_t blocks_;
  int bits_per_lane_;
  std::vector<std::uint64_t> words_;
  double load_;
};

constexpr std::uint64_t kInserted = 20'000;
constexpr std::uint64_t kAsked = 40'000;

// The integers with four bits set, ordered by the lowest, the second lowest, and so on.
std::vector<std::uint64_t> four_bit_integers() {
  constexpr std::uint64_t kOne = 1;
  std::vector<std::uint64_t> all;
  for (int a = 0; a < 64; ++a) {
    for (int b = a + 1; b < 64; ++b) {
      for (int c = b + 1; c < 64; ++c) {
        for (int d = c + 1; d < 64; ++d)
          all.push_back(kOne << a | kOne << b | kOne << c | kOne << d);
      }
    }
  }
  return all;
}

std::uint64_t reversed_bits(std::uint64_t value) {
  std::uint64_t reversed = 0;
  for (int i = 0; i < 64; ++i, value >>= 1) reversed = reversed << 1 | (value & 1);
  return reversed;
}

// All of them have distinct keys for i below 2 * kAsked.
std::vector<std::pair<const char*, std::function<std::uint64_t(std::uint64_t)>>> patterns() {
  return {
      {"sequential", [](std::uint64_t i) { return i; }},
      {"sequential, negative", [](std::uint64_t i) { return ~i; }},
      {"stride 16, pointers", [](std::uint64_t i) { return 0x7f3a12340010 + 16 * i; }},
      {"stride 2^20", [](std::uint64_t i) { return i << 20; }},
      {"stride 2^32", [](std::uint64_t i) { return i << 32; }},
      {"stride 1,000,003", [](std::uint64_t i) { return 1'000'003 * i; }},
      {"high bits only", [](std::uint64_t i) { return i << 46; }},
      {"bit-sparse", [all = four_bit_integers()](std::uint64_t i) { return all[i]; }},
      {"reversed bits", reversed_bits},
      {"Gray code", [](std::uint64_t i) { return i ^ (i >> 1); }},
      {"two small halves", [](std::uint64_t i) { return (i & 511) << 32 | (i >> 9); }},
      {"time and counter",
       [](std::uint64_t i) { return (1'700'000'000'000 + i / 4) << 22 | i % 4; }},
  };
}

// For each pattern, once its first keys are inserted and the following ones asked, once every
// second key is inserted and those between are asked.
//
// Sample: 8 seeds, 20,000 keys in each filter, 40,000 asked. The deviation of the rate over all
// seeds is 2 % of it at 1 % and 18 % at 0.01 %. With seeds drawn anew, one of the 48 comparisons
// would fail by chance in one run of 16; the seeds are fixed. A weak mixer is bad for some seeds
// and patterns and too good for others, so each seed is also compared alone where that says
// something: at 1 %, to 4.5 deviations.
TEST(Hasher, StructuredIntegersHaveThePredictedRate) {
  constexpr std::uint64_t kSeeds = 8;
  for (const auto& [bits_per_key, bits_per_lane] : {std::pair{10.1, 1}, std::pair{22.8, 2}}) {
    const auto predicted = BlockModel(kInserted, bits_per_key, bits_per_lane).predict();
    const double deviation = std::sqrt(predicted.rate * (1 - predicted.rate) / kAsked +
                                       predicted.deviation * predicted.deviation);
    const double limit = predicted.rate + 3 * deviation / std::sqrt(kSeeds);
    const double limit_of_one = predicted.rate + 4.5 * deviation;
    for (const auto& [pattern, key] : patterns()) {
      for (const bool alternate : {false, true}) {
        SCOPED_TRACE(std::string(pattern) + (alternate ? ", every second" : ""));
        const std::uint64_t step = alternate ? 2 : 1;
        const std::uint64_t first_asked = alternate ? 1 : kInserted;
        double sum = 0;
        for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
          const Hasher hash = Hasher::xxh3(seed);
          BlockModel filter(kInserted, bits_per_key, bits_per_lane);
          for (std::uint64_t i = 0; i < kInserted; ++i) filter.insert(hash(key(step * i)));
          std::uint64_t found = 0;
          for (std::uint64_t i = 0; i < kAsked; ++i) {
            found += filter.contains(hash(key(first_asked + step * i))) ? 1 : 0;
          }
          const double rate = static_cast<double>(found) / kAsked;
          if (bits_per_lane == 1) {
            EXPECT_LE(rate, limit_of_one) << "seed " << seed << ", predicted " << predicted.rate;
          }
          sum += rate;
        }
        EXPECT_LE(sum / kSeeds, limit) << "all seeds, predicted " << predicted.rate;
      }
    }
  }
}

// A classic filter for n keys at 1 %. The seven places are those of a linear congruential sequence.
class ClassicModel {
 public:
  explicit ClassicModel(std::uint64_t keys)
      : bits_(static_cast<std::size_t>(std::ceil(9.585058 * static_cast<double>(keys)))) {}

  void insert(Digest digest) {
    for (int i = 0; i < 7; ++i) bits_[next_place(digest)] = true;
  }
  [[nodiscard]] bool contains(Digest digest) const {
    bool all = true;
    for (int i = 0; i < 7; ++i) all = bits_[next_place(digest)] && all;
    return all;
  }

 private:
  [[nodiscard]] std::size_t next_place(Digest& state) const {
    const std::size_t place = detail::multiply_wide(state.value, bits_.size()).high;
    state.value = state.value * 6364136223846793005 + 1442695040888963407;
    return place;
  }

  std::vector<bool> bits_;
};

// Keys that fool a hash for every seed: after one of a group is inserted, how many of the others
// does a filter with 1,000 innocent keys take for present?
struct Attack {
  std::vector<std::vector<std::string>> groups;

  static Attack on_murmur3() {
    Attack attack{{{}}};
    for (const std::string& key : strings_of_list(read_test_data("universal_collisions.json"),
                                                  "murmur3_x64_128_128byte_messages_hex")) {
      attack.groups[0].push_back(bytes_from_hex(key));
    }
    return attack;
  }

  static Attack on_xxh64() {
    Attack attack;
    const auto keys =
        strings_of_list(read_test_data("universal_collisions.json"), "xxh64_16byte_pairs_hex");
    for (std::size_t i = 0; i + 1 < keys.size(); i += 2) {
      attack.groups.push_back({bytes_from_hex(keys[i]), bytes_from_hex(keys[i + 1])});
    }
    return attack;
  }

  [[nodiscard]] std::uint64_t questions() const {
    std::uint64_t count = 0;
    for (const auto& group : groups) count += group.size() - 1;
    return count;
  }

  [[nodiscard]] std::uint64_t fooled(const Hasher& hash) const {
    constexpr std::uint64_t kKeys = 1000;
    ClassicModel filter(kKeys);
    for (std::uint64_t i = groups.size(); i < kKeys; ++i) filter.insert(hash(i));
    for (const auto& group : groups) filter.insert(hash(group[0]));
    std::uint64_t count = 0;
    for (const auto& group : groups) {
      for (std::size_t i = 1; i < group.size(); ++i)
        count += filter.contains(hash(group[i])) ? 1 : 0;
    }
    return count;
  }
};

TEST(Hasher, UniversalCollisionsFoolMurmur3AndXxh64ForEverySeed) {
  const Attack murmur3 = Attack::on_murmur3();
  const Attack xxh64 = Attack::on_xxh64();
  ASSERT_EQ(murmur3.questions(), 15U);
  ASSERT_EQ(xxh64.questions(), 8U);
  SplitMix random{1};
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t seed = random();
    ASSERT_EQ(murmur3.fooled(Hasher::murmur3(static_cast<std::uint32_t>(seed))), 15U) << seed;
    ASSERT_EQ(xxh64.fooled(Hasher::xxh64(seed)), 8U) << seed;
  }
}

// 4,000 secrets, 23 questions each. The promised rate is 1.004 %, the measured one has a deviation
// of 0.033 %. A hash that is fooled has a rate of 35 % or more.
TEST(Hasher, UniversalCollisionsDoNotFoolKeyed) {
  const std::array<Attack, 2> attacks{Attack::on_murmur3(), Attack::on_xxh64()};
  constexpr int kSecrets = 4000;
  SplitMix random{2};
  std::uint64_t found = 0;
  std::uint64_t questions = 0;
  for (int i = 0; i < kSecrets; ++i) {
    SecretKey secret{};
    detail::store_little_endian(secret.data(), random());
    detail::store_little_endian(secret.data() + 8, random());
    for (const Attack& attack : attacks) {
      found += attack.fooled(Hasher::keyed(secret));
      questions += attack.questions();
    }
  }
  const double promised = std::pow(1 - std::exp(-7 / 9.585058), 7);
  const double measured = static_cast<double>(found) / static_cast<double>(questions);
  const double deviation = std::sqrt(promised * (1 - promised) / static_cast<double>(questions));
  EXPECT_LE(measured, promised + 3 * deviation);
  EXPECT_GE(measured, promised - 3 * deviation);
}

// Where the first word of a 32-byte key equals the first word of XXH3's secret, a product becomes
// zero and the second word no longer counts.
TEST(Hasher, WhoeverKnowsTheSeedFoolsXxh3ButNotKeyed) {
  const auto forged_key = [](std::uint64_t seed, std::uint64_t i) {
    std::string key(32, 'x');
    const auto bytes = std::as_writable_bytes(std::span(key));
    detail::store_little_endian(&bytes[0], SplitMix{SplitMix{seed}()}());
    detail::store_little_endian(&bytes[8], i);
    return key;
  };
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{12345}}) {
    const Hasher xxh3 = Hasher::xxh3(seed);
    const Hasher keyed = Hasher::keyed(SecretKey{std::byte{1}});
    for (std::uint64_t i = 1; i <= 1000; ++i) {
      ASSERT_EQ(xxh3(forged_key(seed, i)), xxh3(forged_key(seed, 0)));
      ASSERT_NE(keyed(forged_key(seed, i)), keyed(forged_key(seed, 0)));
    }
  }
}

}  // namespace
}  // namespace probably
