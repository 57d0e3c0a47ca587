// Does the hash function matter? Measured false-positive rates of all hashers on four kinds of
// keys.
//
// Two tables, in Markdown. The first has one row for each kind of key and hasher: the rate with its
// standard error under three ways to make places of a digest, all planned for 1 %, and nanoseconds
// per key. docs/hashing.md discusses it. The second compares candidates for the mixing of integer
// keys: docs/decisions/0003-integer-keys.md.
//
//   hash_quality           both, in less than a minute
//   hash_quality rates     the first
//   hash_quality integers  the second
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probably/detail/wide.hpp"
#include "probably/digest.hpp"

namespace {

using probably::Digest;
using probably::Hasher;
using probably::detail::multiply_fold;
using probably::detail::multiply_wide;

// The output function of splitmix64.
std::uint64_t mix(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

// Keeps the value, and so the computation of it, from being optimised away.
void keep(std::uint64_t value) { asm volatile("" : : "r"(value)); }

// The shortest of many runs, in nanoseconds for each of the operations. Runs shorter than a time
// slice find quiet moments on a busy machine.
template <class Work>
double best_ns(std::uint64_t operations, Work work) {
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < 200; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / static_cast<double>(operations));
  }
  return best;
}

constexpr double kClassicBitsPerKey = 9.585059;
constexpr double kLineBitsPerKey = 10.1;
constexpr std::uint32_t kHashes = 7;

class Bits {
 public:
  explicit Bits(std::uint64_t size) : size_(size), words_(size / 64 + 1) {}
  [[nodiscard]] std::uint64_t size() const { return size_; }
  void set(std::uint64_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  [[nodiscard]] bool get(std::uint64_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }

 private:
  std::uint64_t size_;
  std::vector<std::uint64_t> words_;
};

std::uint64_t scaled(std::uint64_t keys, double bits_per_key) {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(keys) * bits_per_key));
}

double classic_rate(std::uint64_t keys, std::uint64_t bits) {
  const double load = kHashes * static_cast<double>(keys) / static_cast<double>(bits);
  return std::pow(1 - std::exp(-load), kHashes);
}

// The places of a linear congruential sequence that starts at the digest, each scaled to the filter
// by the high half of a product: most depends on the digest's high bits.
class Classic {
 public:
  explicit Classic(std::uint64_t keys) : bits_(scaled(keys, kClassicBitsPerKey)), keys_(keys) {}

  void insert(Digest digest) {
    std::uint64_t state = digest.value;
    for (std::uint32_t i = 0; i < kHashes; ++i) bits_.set(next(state));
  }
  [[nodiscard]] bool contains(Digest digest) const {
    std::uint64_t state = digest.value;
    for (std::uint32_t i = 0; i < kHashes; ++i) {
      if (!bits_.get(next(state))) return false;
    }
    return true;
  }
  [[nodiscard]] double predicted() const { return classic_rate(keys_, bits_.size()); }

 private:
  std::uint64_t next(std::uint64_t& state) const {
    const std::uint64_t place = multiply_wide(state, bits_.size()).high;
    state = state * 6364136223846793005 + 1442695040888963407;
    return place;
  }

  Bits bits_;
  std::uint64_t keys_;
};

// What most articles do: double hashing with the digest's halves, modulo the size. Kirsch and
// Mitzenmacher, "Less hashing, same performance", 2006.
class Textbook {
 public:
  explicit Textbook(std::uint64_t keys) : bits_(scaled(keys, kClassicBitsPerKey)), keys_(keys) {}

  void insert(Digest digest) {
    for (std::uint32_t i = 0; i < kHashes; ++i) bits_.set(place(digest, i));
  }
  [[nodiscard]] bool contains(Digest digest) const {
    for (std::uint32_t i = 0; i < kHashes; ++i) {
      if (!bits_.get(place(digest, i))) return false;
    }
    return true;
  }
  [[nodiscard]] double predicted() const { return classic_rate(keys_, bits_.size()); }

 private:
  [[nodiscard]] std::uint64_t place(Digest digest, std::uint32_t i) const {
    return ((digest.value & 0xffffffff) + i * (digest.value >> 32)) % bits_.size();
  }

  Bits bits_;
  std::uint64_t keys_;
};

// One line of 512 bits per key, one bit in each of its eight words.
class OneLine {
 public:
  explicit OneLine(std::uint64_t keys)
      : lines_(std::max<std::uint64_t>(1, scaled(keys, kLineBitsPerKey) / 512)),
        bits_(512 * lines_),
        load_(static_cast<double>(keys) / static_cast<double>(lines_)) {}

  void insert(Digest digest) {
    for (std::uint32_t i = 0; i < 8; ++i) bits_.set(place(digest, i));
  }
  [[nodiscard]] bool contains(Digest digest) const {
    for (std::uint32_t i = 0; i < 8; ++i) {
      if (!bits_.get(place(digest, i))) return false;
    }
    return true;
  }

  // The mean over lines, whose loads are Poisson.
  [[nodiscard]] double predicted() const { return moments().mean; }
  // Of the rates of such filters. The sum of the loads is given, so what the rate owes to them
  // linearly cancels.
  [[nodiscard]] double deviation() const {
    const Moments m = moments();
    const double variance = m.square - m.mean * m.mean - m.with_load * m.with_load / load_;
    return std::sqrt(variance / static_cast<double>(lines_));
  }

 private:
  struct Moments {
    double mean = 0;
    double square = 0;
    double with_load = 0;
  };

  [[nodiscard]] Moments moments() const {
    Moments m;
    for (int n = 0; n < 2 * load_ + 100; ++n) {
      const double chance = std::exp(n * std::log(load_) - load_ - std::lgamma(n + 1.0));
      const double rate = std::pow(1 - std::pow(63.0 / 64, n), 8);
      m.mean += chance * rate;
      m.square += chance * rate * rate;
      m.with_load += chance * rate * (n - load_);
    }
    return m;
  }

  [[nodiscard]] std::uint64_t place(Digest digest, std::uint32_t i) const {
    constexpr std::array<std::uint32_t, 8> kSalts{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                                  0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    const auto product = multiply_wide(digest.value, lines_);
    const auto pattern = static_cast<std::uint32_t>(product.low >> 32);
    return 512 * product.high + 64 * i + ((pattern * kSalts[i]) >> 26);
  }

  std::uint64_t lines_;
  Bits bits_;
  double load_;
};

// The first table.

constexpr std::uint64_t kInserted = 400'000;
constexpr std::uint64_t kAsked = 1'600'000;

// Many strings in one piece of memory.
class Strings {
 public:
  void add(std::string_view text) {
    text_ += text;
    ends_.push_back(text_.size());
  }
  [[nodiscard]] std::string_view operator[](std::uint64_t i) const {
    const std::size_t start = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(start, ends_[i] - start);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

struct Integers {
  std::uint64_t operator[](std::uint64_t i) const { return i; }
};

std::string uuid(std::uint64_t i) {
  std::array<char, 40> text{};
  const std::uint64_t a = mix(2 * i + 1);
  const std::uint64_t b = mix(2 * i + 2);
  std::snprintf(text.data(), text.size(), "%08x-%04x-4%03x-%04x-%012llx",
                static_cast<unsigned>(a >> 32), static_cast<unsigned>(a >> 16 & 0xffff),
                static_cast<unsigned>(a & 0xfff),
                static_cast<unsigned>((b >> 48 & 0x3fff) | 0x8000),
                static_cast<unsigned long long>(b & 0xffffffffffff));
  return text.data();
}

// Three syllables out of 128, in an order without meaning. Distinct for i below 2^21.
std::string word(std::uint64_t i) {
  constexpr std::string_view kConsonants = "bcdfghklmnprstvz";
  constexpr std::array<std::string_view, 8> kVowels{"a", "e", "i", "o", "u", "ai", "ea", "ou"};
  std::uint64_t number = i * 0x9e375 & 0x1fffff;
  number ^= number >> 11;
  std::string text;
  for (int syllable = 0; syllable < 3; ++syllable, number >>= 7) {
    text += kConsonants[number & 15];
    text += kVowels[number >> 4 & 7];
  }
  return text;
}

struct Named {
  const char* name;
  Hasher hasher;
};

std::vector<Named> hashers() {
  return {{"XXH3", Hasher{}},
          {"SipHash-2-4", Hasher::keyed(probably::SecretKey{std::byte{1}})},
          {"MurmurHash3", Hasher::murmur3()},
          {"XXH64", Hasher::xxh64()},
          {"FNV-1a", Hasher::fnv1a()}};
}

template <class Filter>
double measured_rate(const std::vector<Digest>& digests) {
  Filter filter(kInserted);
  for (std::uint64_t i = 0; i < kInserted; ++i) filter.insert(digests[i]);
  std::uint64_t found = 0;
  for (std::uint64_t i = kInserted; i < digests.size(); ++i) {
    found += filter.contains(digests[i]) ? 1 : 0;
  }
  return static_cast<double>(found) / kAsked;
}

template <class Keys>
void rates_of(const char* kind, const Keys& keys) {
  for (const Named& row : hashers()) {
    const Hasher& hash = row.hasher;
    std::vector<Digest> digests;
    for (std::uint64_t i = 0; i < kInserted + kAsked; ++i) digests.push_back(hash(keys[i]));
    constexpr std::uint64_t kTimed = 10'000;
    const double ns = best_ns(kTimed, [&keys, &hash] {
      for (std::uint64_t i = 0; i < kTimed; ++i) keep(hash(keys[i]).value);
    });
    std::printf("| %s | %s |", kind, row.name);
    for (const double rate : {measured_rate<Classic>(digests), measured_rate<Textbook>(digests),
                              measured_rate<OneLine>(digests)}) {
      std::printf(" %.3f ± %.3f |", 100 * rate, 100 * std::sqrt(rate * (1 - rate) / kAsked));
    }
    std::printf(" %.1f |\n", ns);
    std::fflush(stdout);
  }
}

void print_rates() {
  Strings uuids;
  Strings decimals;
  Strings words;
  for (std::uint64_t i = 0; i < kInserted + kAsked; ++i) {
    uuids.add(uuid(i));
    decimals.add(std::to_string(i));
    words.add(word(i));
  }
  std::printf(
      "%llu keys inserted, %llu others asked. False positives in %%, with standard error.\n\n",
      static_cast<unsigned long long>(kInserted), static_cast<unsigned long long>(kAsked));
  std::printf("| keys | hash | classic | textbook | one line | ns per key |\n");
  std::printf("|---|---|---|---|---|---|\n");
  std::printf("| | predicted | %.3f | %.3f | %.3f | |\n", 100 * Classic(kInserted).predicted(),
              100 * Textbook(kInserted).predicted(), 100 * OneLine(kInserted).predicted());
  rates_of("UUIDs", uuids);
  rates_of("decimal strings", decimals);
  rates_of("sequential integers", Integers{});
  rates_of("short words", words);
}

// The second table.

using Secret = std::array<std::uint64_t, 4>;

Secret secret_of(std::uint64_t seed) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
  std::uint64_t state = mix(seed + kGolden);
  Secret secret{};
  for (std::uint64_t& s : secret) s = mix(state += kGolden);
  return secret;
}

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

// Distinct for i below 2^18.
std::vector<std::pair<const char*, std::function<std::uint64_t(std::uint64_t)>>> patterns() {
  return {
      {"sequential", [](std::uint64_t i) { return i; }},
      {"negative", [](std::uint64_t i) { return ~i; }},
      {"pointers 16 apart", [](std::uint64_t i) { return 0x7f3a12340010 + 16 * i; }},
      {"stride 2^20", [](std::uint64_t i) { return i << 20; }},
      {"stride 2^32", [](std::uint64_t i) { return i << 32; }},
      {"stride 3", [](std::uint64_t i) { return 3 * i; }},
      {"stride 1,000,003", [](std::uint64_t i) { return 1'000'003 * i; }},
      {"high bits only", [](std::uint64_t i) { return i << 46; }},
      {"four bits set", [all = four_bit_integers()](std::uint64_t i) { return all[i]; }},
      {"reversed bits", reversed_bits},
      {"Gray code", [](std::uint64_t i) { return i ^ (i >> 1); }},
      {"two small halves", [](std::uint64_t i) { return (i & 511) << 32 | (i >> 9); }},
      {"time and counter",
       [](std::uint64_t i) { return (1'700'000'000'000 + i / 4) << 22 | i % 4; }},
      {"bits of doubles",
       [](std::uint64_t i) { return std::bit_cast<std::uint64_t>(static_cast<double>(i)); }},
  };
}

// How a candidate does on all patterns, in filters of one line per key.
template <class Mixer>
void judge(const char* description, Mixer mixer) {
  constexpr std::uint64_t kKeys = 20'000;
  constexpr std::uint64_t kQuestions = 60'000;
  constexpr std::uint64_t kSeeds = 16;
  const OneLine model(kKeys);
  const double predicted = model.predicted();
  const double deviation =
      std::hypot(std::sqrt(predicted * (1 - predicted) / kQuestions), model.deviation());
  int runs = 0;
  int above = 0;
  double worst = 0;
  const char* worst_pattern = "";
  for (const auto& [pattern, key] : patterns()) {
    // First the keys that follow the inserted ones are asked, then those between them.
    for (const std::uint64_t step : {std::uint64_t{1}, std::uint64_t{2}}) {
      const std::uint64_t first_asked = step == 1 ? kKeys : 1;
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const Secret secret = secret_of(seed);
        OneLine filter(kKeys);
        for (std::uint64_t i = 0; i < kKeys; ++i)
          filter.insert(probably::Digest(mixer(key(step * i), secret)));
        std::uint64_t found = 0;
        for (std::uint64_t i = 0; i < kQuestions; ++i) {
          found +=
              filter.contains(probably::Digest(mixer(key(first_asked + step * i), secret))) ? 1 : 0;
        }
        const double rate = static_cast<double>(found) / kQuestions;
        ++runs;
        above += rate > predicted + 4 * deviation ? 1 : 0;
        if (rate > worst) {
          worst = rate;
          worst_pattern = pattern;
        }
      }
    }
  }
  constexpr std::uint64_t kRounds = 1 << 16;
  Secret secret = secret_of(0);
  // The compiler must not know the secret, or it would specialise the mixer.
  asm volatile("" : : "r"(secret.data()) : "memory");
  const double latency_ns = best_ns(kRounds, [&] {
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < kRounds; ++i) value = mixer(value, secret);
    keep(value);
  });
  const double throughput_ns = best_ns(kRounds, [&] {
    for (std::uint64_t i = 0; i < kRounds; ++i) keep(mixer(i, secret));
  });
  std::printf("| `%s` | %d of %d | %.2f (%s) | %.1f | %.1f |\n", description, above, runs,
              worst / predicted, worst_pattern, latency_ns, throughput_ns);
  std::fflush(stdout);
}

void print_integers() {
  using U64 = std::uint64_t;
  constexpr U64 kGolden = 0x9e3779b97f4a7c15;
  std::printf(
      "Integer keys: %zu patterns, each with 16 seeds, following and interleaved keys asked.\n\n",
      patterns().size());
  std::printf(
      "| mixer | rate above predicted + 4 sigma | worst rate / predicted | latency, ns "
      "| throughput, ns |\n|---|---|---|---|---|\n");
  judge("low((k ^ s0) * s1)", [](U64 k, const Secret& s) { return (k ^ s[0]) * (s[1] | 1); });
  judge("fold((k ^ s0) * s1)",
        [](U64 k, const Secret& s) { return multiply_fold(k ^ s[0], s[1]); });
  judge("fold((k ^ s0) * (k ^ s1))",
        [](U64 k, const Secret& s) { return multiply_fold(k ^ s[0], k ^ s[1]); });
  judge("fold((k ^ s0) * (rotl(k, 32) ^ s1))",
        [](U64 k, const Secret& s) { return multiply_fold(k ^ s[0], std::rotl(k, 32) ^ s[1]); });
  judge("a = low((k ^ s0) * s2), fold(a * (rotl(a, 32) ^ s1))", [](U64 k, const Secret& s) {
    const U64 a = (k ^ s[0]) * (s[2] | 1);
    return multiply_fold(a, std::rotl(a, 32) ^ s[1]);
  });
  judge("d = low(fold((k ^ s0) * s1) * c), d ^ d >> 32", [](U64 k, const Secret& s) {
    const U64 d = multiply_fold(k ^ s[0], s[1]) * kGolden;
    return d ^ d >> 32;
  });
  judge("fold(fold((k ^ s0) * s1) * s2)",
        [](U64 k, const Secret& s) { return multiply_fold(multiply_fold(k ^ s[0], s[1]), s[2]); });
  judge("splitmix64(k ^ s0)", [](U64 k, const Secret& s) { return mix(k ^ s[0]); });
  judge("splitmix64(splitmix64(k ^ s0) + s1)",
        [](U64 k, const Secret& s) { return mix(mix(k ^ s[0]) + s[1]); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view part = argc > 1 ? argv[1] : "";
  if (argc > 2 || (!part.empty() && part != "rates" && part != "integers")) {
    std::fprintf(stderr, "usage: hash_quality [rates | integers]\n");
    return 2;
  }
  if (part != "integers") print_rates();
  if (part.empty()) std::printf("\n");
  if (part != "rates") print_integers();
  return 0;
}
