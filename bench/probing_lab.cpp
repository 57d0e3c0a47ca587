// The probing lab: how the classic filter should take k places from one 64-bit digest.
//
// It exists so that docs/decisions/0004-classic-probing.md can be checked or overturned. For each
// prober it measures the rate over many independent filters, small ones above all, because there
// two keys meet in both coordinates of a double hash most often; then the cost of a lookup.
//
// It also counts how many of the false positives came from queries that visit few different bits.
//
//   probing_lab            everything, about two minutes
//   probing_lab 20000000   rates from that many queries per cell, for a quick look
#include <cmath>
#include <cstdio>
#include <vector>

#include "lab.hpp"

namespace {

using lab::mix;
using lab::mulhi;
using lab::u64;

// A prober is constructed from a digest and yields one 64-bit fraction per place; the place is the
// fraction times m. The reference spends a full mix per place, so its places are independent.
class Independent {
 public:
  static constexpr const char* kName = "independent";
  explicit Independent(u64 digest) : state_(digest) {}
  u64 next() { return mix(state_ += 0x9e3779b97f4a7c15U); }

 private:
  u64 state_;
};

// An arithmetic progression: the places of a key depend on two fractions only.
class DoubleHash {
 public:
  static constexpr const char* kName = "double hash";
  explicit DoubleHash(u64 digest)
      : fraction_(digest), step_(mulhi_fold(digest ^ 0xa0761d6478bd642fU) | 1) {}
  u64 next() {
    const u64 result = fraction_;
    fraction_ += step_;
    return result;
  }

 private:
  static u64 mulhi_fold(u64 x) {
    const auto product = static_cast<lab::u128>(x) * 0xe7037ed1a0b428dbU;
    return static_cast<u64>(product >> 64) ^ static_cast<u64>(product);
  }
  u64 fraction_, step_;
};

// A cubic progression (Dillinger and Manolios, 2004): the step grows by the number of the probe.
// The growth is scaled so that the first steps already differ by more than a place.
class EnhancedDoubleHash {
 public:
  static constexpr const char* kName = "enhanced";
  explicit EnhancedDoubleHash(u64 digest)
      : fraction_(digest), step_(mix(digest ^ 0xa0761d6478bd642fU) | 1) {}
  u64 next() {
    const u64 result = fraction_;
    fraction_ += step_;
    step_ += growth_ += 0x9e3779b97f4a7c15U;
    return result;
  }

 private:
  u64 fraction_, step_, growth_ = 0;
};

// A linear congruential generator of full period whose seed is the digest (Knuth's MMIX constants).
class Lcg {
 public:
  static constexpr const char* kName = "lcg";
  explicit Lcg(u64 digest) : state_(digest) {}
  u64 next() {
    const u64 result = state_;
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return result;
  }

 private:
  u64 state_;
};

struct Geometry {
  u64 keys, bits;
  int places;
  // (1 - (1 - 1/m)^(kn))^k, which takes the fill for constant.
  [[nodiscard]] double textbook() const {
    const double empty =
        std::exp(std::log1p(-1.0 / static_cast<double>(bits)) * places * static_cast<double>(keys));
    return std::pow(1 - empty, places);
  }
};

Geometry plan(u64 keys, double rate) {
  const double ln2 = std::log(2.0);
  const double bits = std::ceil(static_cast<double>(keys) * -std::log(rate) / (ln2 * ln2));
  const double places = std::round(bits / static_cast<double>(keys) * ln2);
  return {keys, static_cast<u64>(bits), static_cast<int>(places)};
}

template <class Prober>
void insert(u64* words, const Geometry& g, u64 digest) {
  Prober prober(digest);
  for (int i = 0; i < g.places; ++i) {
    const u64 place = mulhi(prober.next(), g.bits);
    words[place / 64] |= u64{1} << place % 64;
  }
}

template <class Prober>
bool contains(const u64* words, const Geometry& g, u64 digest) {
  Prober prober(digest);
  for (int i = 0; i < g.places; ++i) {
    const u64 place = mulhi(prober.next(), g.bits);
    if ((words[place / 64] >> place % 64 & 1) == 0) return false;
  }
  return true;
}

// Independent filters take turns until `queries` absent keys have been asked in all.
template <class Prober>
void print_rate(const Geometry& g, u64 queries) {
  const u64 per_filter = std::min<u64>(queries, 50 * g.keys);
  std::vector<u64> words(g.bits / 64 + 1);
  u64 hits = 0, asked = 0;
  for (u64 base = 0; asked < queries; base += g.keys, asked += per_filter) {
    std::fill(words.begin(), words.end(), u64{0});
    for (u64 i = 0; i < g.keys; ++i) insert<Prober>(words.data(), g, mix(base + i));
    for (u64 i = 0; i < per_filter; ++i) {
      hits += contains<Prober>(words.data(), g, mix(lab::kAbsent + asked + i));
    }
  }
  std::printf(" %12.3e", static_cast<double>(hits) / static_cast<double>(asked));
  std::fflush(stdout);
}

// How many different bits the key visits, of its k places.
template <class Prober>
std::size_t different_places(const Geometry& g, u64 digest) {
  Prober prober(digest);
  std::vector<u64> places;
  for (int i = 0; i < g.places; ++i) places.push_back(mulhi(prober.next(), g.bits));
  std::sort(places.begin(), places.end());
  return static_cast<std::size_t>(std::unique(places.begin(), places.end()) - places.begin());
}

// Of the false positives, the share that visits at most half as many bits as it has places.
template <class Prober>
void print_repeaters(const Geometry& g, u64 filters) {
  std::vector<u64> words(g.bits / 64 + 1);
  u64 hits = 0, repeaters = 0;
  for (u64 f = 0; f < filters; ++f) {
    std::fill(words.begin(), words.end(), u64{0});
    for (u64 i = 0; i < g.keys; ++i) insert<Prober>(words.data(), g, mix(f * g.keys + i));
    for (u64 i = 0; i < 1'000; ++i) {
      const u64 digest = mix(lab::kAbsent + f * 1'000 + i);
      if (!contains<Prober>(words.data(), g, digest)) continue;
      ++hits;
      repeaters += 2 * different_places<Prober>(g, digest) <= static_cast<u64>(g.places);
    }
  }
  std::printf("%-14s %lu of %lu\n", Prober::kName, static_cast<unsigned long>(repeaters),
              static_cast<unsigned long>(hits));
}

struct Cost {
  double absent = 1e9, present = 1e9, insert = 1e9;
};

// Reads the clock every 20,000 keys, to fit between interrupts, and keeps the best.
template <class Prober>
void measure_cost(Cost& cost, const Geometry& g, lab::Memory& memory) {
  constexpr u64 kPiece = 20'000;
  const auto look = [&](double& best, u64 first) {
    lab::time_ns(best, kPiece, [&] {
      u64 hits = 0;
      for (u64 i = 0; i < kPiece; ++i) hits += contains<Prober>(memory.data(), g, mix(first + i));
      lab::keep(hits);
    });
  };
  memory.clear();
  for (u64 at = 0; at < g.keys; at += kPiece) {
    lab::time_ns(cost.insert, kPiece, [&] {
      for (u64 i = at; i < at + kPiece; ++i) insert<Prober>(memory.data(), g, mix(i));
    });
  }
  for (u64 at = 0; at < g.keys; at += kPiece) look(cost.absent, lab::kAbsent + at);
  for (u64 at = 0; at < g.keys; at += kPiece) look(cost.present, at);
}

template <class... Probers>
void compare(u64 queries) {
  std::printf("rates\n%8s %8s %4s %8s %12s", "p", "n", "k", "queries", "textbook");
  (std::printf(" %12s", Probers::kName), ...);
  for (const double rate : {1e-2, 1e-4, 1e-6}) {
    for (const u64 keys : {u64{10}, u64{100}, u64{1'000}, u64{100'000}}) {
      const Geometry g = plan(keys, rate);
      const u64 asked = rate < 1e-5 ? queries : queries / 10;
      std::printf("\n%8.0e %8lu %4d %8.0e %12.3e", rate, static_cast<unsigned long>(keys), g.places,
                  static_cast<double>(asked), g.textbook());
      (print_rate<Probers>(g, asked), ...);
    }
  }
  std::printf("\n\nfalse positives on at most k/2 different bits, n = 10, p = 1e-06\n");
  (print_repeaters<Probers>(plan(10, 1e-6), queries / 3'000), ...);
  std::printf("\n1,000,000 keys, best of nine rounds, ns with the making of the digest\n");
  std::printf("%8s %-14s %8s %8s %8s\n", "p", "prober", "absent", "present", "insert");
  for (const double rate : {1e-2, 1e-4, 1e-6}) {
    const Geometry g = plan(1'000'000, rate);
    lab::Memory memory(g.bits / 8 + 8);
    Cost costs[sizeof...(Probers)];
    for (int round = 0; round < 9; ++round) {
      Cost* cost = costs;
      (measure_cost<Probers>(*cost++, g, memory), ...);
    }
    const Cost* cost = costs;
    ((std::printf("%8.0e %-14s %8.2f %8.2f %8.2f\n", rate, Probers::kName, cost->absent,
                  cost->present, cost->insert),
      ++cost),
     ...);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const u64 queries = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300'000'000;
  compare<Independent, DoubleHash, EnhancedDoubleHash, Lcg>(queries);
}
