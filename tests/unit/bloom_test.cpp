#include "probably/bloom.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "support/filters.hpp"
#include "support/streams.hpp"

namespace probably {
namespace {

using testing::contains_all;
using testing::DigestStream;
using testing::fold;
using testing::words_of;

std::vector<std::uint64_t> places(const ClassicLayout& layout, Digest digest) {
  std::vector<std::uint64_t> out;
  auto walk = layout.walk(digest);
  for (std::uint32_t i = 0; i < layout.hashes; ++i) out.push_back(walk.next());
  return out;
}

// A failure means that released snapshots no longer mean the same set. Do not edit the numbers:
// add a layout revision. From params, not from a plan: sizing goes through libm.
// The numbers come of a second implementation, in Python, of what layout/classic.hpp says.
TEST(Bloom, BitsAreFrozen) {
  struct Frozen {
    BloomParams params;
    std::size_t keys;
    std::uint64_t bits;
  };
  for (const Frozen& frozen : std::vector<Frozen>{{{64, 64}, 3, 0x5d4fe9f6ee6769fb},
                                                  {{1000, 7}, 100, 0x8b93bb8eb0ca57cc},
                                                  {{9586, 7}, 1000, 0x4ee06d2fdde958be},
                                                  {{100'003, 13}, 5000, 0xf1bb9ce479778021}}) {
    Bloom filter = Bloom::create(frozen.params).value();
    filter.insert(DigestStream(1).take(frozen.keys));
    EXPECT_EQ(fold(words_of(filter)), frozen.bits) << frozen.params.bits;
  }
}

TEST(ClassicLayout, PlacesAreFrozen) {
  EXPECT_EQ(places({1000, 5}, Digest(0x0123456789abcdef)),
            (std::vector<std::uint64_t>{4, 175, 789, 523, 883}));
  std::vector<Digest> digests{Digest(0), Digest(1), Digest(~std::uint64_t{0}),
                              Digest(0x8000000000000000), Digest(0x0123456789abcdef)};
  for (const Digest digest : DigestStream(2).take(1000)) digests.push_back(digest);
  const auto all_places = [&](std::uint64_t bits) {
    std::vector<std::uint64_t> all;
    for (const Digest digest : digests) {
      for (const std::uint64_t place : places({bits, 64}, digest)) all.push_back(place);
    }
    EXPECT_LT(*std::max_element(all.begin(), all.end()), bits);
    return fold(all);
  };
  EXPECT_EQ(all_places(1), 0x511ed85035662b25);
  EXPECT_EQ(all_places(9'585'059), 0x714792ec26a705c4);
  EXPECT_EQ(all_places(std::uint64_t{1} << 60), 0x5bce72286e651616);
}

TEST(ClassicLayout, NoDigestIsDegenerate) {
  // The sequence behind the places has full period: 64 states in a row differ, and scaled to 2^60
  // they keep differing. A double hash with a step of zero would put all bits in one place.
  std::vector<Digest> digests{Digest(0), Digest(~std::uint64_t{0})};
  for (int bit = 0; bit < 64; ++bit) digests.emplace_back(std::uint64_t{1} << bit);
  for (const Digest digest : digests) {
    const auto walked = places({std::uint64_t{1} << 60, 64}, digest);
    EXPECT_EQ(std::set<std::uint64_t>(walked.begin(), walked.end()).size(), 64u) << digest.value;
  }
}

// With many hashes in few bits, most keys meet a place twice. The decider of an insertion must then
// be the first visit: a second one finds the bit set, by the key itself.
TEST(Bloom, PlacesThatComeTwiceDoNotHideANewKey) {
  for (std::uint64_t bits = 1; bits <= 130; ++bits) {
    for (const std::uint32_t hashes : {1u, 2u, 3u, 7u, 16u, 63u, 64u}) {
      const BloomParams params{bits, hashes};
      Bloom filter = Bloom::create(params).value();
      for (const Digest digest : DigestStream(bits).take(20)) {
        const auto walked = places(params.layout(), digest);
        const auto words = words_of(filter);
        const bool has_unset = std::any_of(walked.begin(), walked.end(), [&](std::uint64_t place) {
          return (words[place / 64] >> (place % 64) & 1) == 0;
        });
        EXPECT_EQ(filter.contains(digest), !has_unset);
        EXPECT_EQ(filter.insert(digest), has_unset) << bits << " bits, " << hashes << " hashes";
        EXPECT_FALSE(filter.insert(digest));
        EXPECT_TRUE(filter.contains(digest));
      }
    }
  }
}

TEST(Bloom, SetsThePlacesOfTheLayoutAndNoOther) {
  for (const BloomParams params : testing::sample_params<Bloom>()) {
    Bloom filter = Bloom::create(params).value();
    std::vector<std::uint64_t> expected(params.size_bytes() / 8);
    for (const Digest digest : DigestStream(3).take(50)) {
      filter.insert(digest);
      for (const std::uint64_t place : places(params.layout(), digest)) {
        expected[place / 64] |= std::uint64_t{1} << (place % 64);
      }
    }
    const auto words = words_of(filter);
    EXPECT_TRUE(std::equal(words.begin(), words.end(), expected.begin(), expected.end()));
  }
}

// Exhaustive: no number of hashes whatsoever does with one bit less.
TEST(Bloom, PlansTheFewestBits) {
  for (const std::uint64_t keys : {100u, 1'000u, 123'456u, 1'000'000'000u}) {
    for (const double fpr : {0.5, 0.1, 0.01, 0.001, 1e-6, 1e-9}) {
      const BloomParams params = BloomParams::from({.keys = keys, .fpr = fpr}).value();
      EXPECT_LE(params.fpr(keys), fpr) << keys;
      if (params.bits == 512) continue;  // the least that is planned
      for (std::uint32_t hashes = 1; hashes <= 64; ++hashes) {
        EXPECT_GT((BloomParams{params.bits - 1, hashes}.fpr(keys)), fpr)
            << keys << " keys, " << hashes << " hashes";
      }
      // Above the textbook's m, which takes k for a real number, by a few per cent in small
      // filters.
      EXPECT_LE(
          static_cast<double>(params.bits),
          static_cast<double>(textbook_bits(keys, fpr)) * (keys > 10'000 ? 1.012 : 1.08) + 512);
    }
  }
}

TEST(Bloom, PlansWithGivenHashes) {
  for (std::uint32_t hashes = 1; hashes <= 64; ++hashes) {
    const BloomParams params =
        BloomParams::from({.keys = 10'000, .fpr = 0.001, .hashes = hashes}).value();
    EXPECT_EQ(params.hashes, hashes);
    EXPECT_LE(params.fpr(10'000), 0.001);
    EXPECT_GT((BloomParams{params.bits - 1, hashes}.fpr(10'000)), 0.001);
  }
}

TEST(Bloom, ABudgetThatSufficesForTheBestHashesSuffices) {
  const BloomParams params = BloomParams::from({.keys = 1'000'000, .fpr = 0.01}).value();
  const Plan enough{.keys = 1'000'000, .fpr = 0.01, .size_bytes = params.size_bytes()};
  EXPECT_EQ(BloomParams::from(enough).value(), params);
  Plan little = enough;
  little.size_bytes -= 1;
  const auto refused = BloomParams::from(little);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

TEST(Bloom, ABudgetBelowTheLeastPlanIsAnError) {
  EXPECT_EQ(BloomParams::from({.keys = 1, .fpr = 0.01}).value().bits, 512u);
  EXPECT_TRUE(BloomParams::from({.keys = 1, .fpr = 0.01, .size_bytes = 64}));
  const auto refused = BloomParams::from({.keys = 1, .fpr = 0.01, .size_bytes = 63});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "1 keys at a rate of 0.01 need 64 bytes, more than the 63 granted.");
}

TEST(Bloom, ABudgetGrantsWholeWords) {
  for (const std::uint64_t bytes : {8u, 9u, 15u, 16u, 100u, 1'003u}) {
    for (const Plan& plan :
         {Plan{.keys = 10, .size_bytes = bytes}, Plan{.fpr = 0.1, .size_bytes = bytes},
          Plan{.keys = 10, .bits_per_key = static_cast<double>(bytes) / 10 * 8}}) {
      const BloomParams params = BloomParams::from(plan).value();
      EXPECT_EQ(params.bits, bytes / 8 * 64);
      EXPECT_EQ(params.size_bytes(), bytes / 8 * 8);
    }
  }
  for (const Plan& plan : {Plan{.keys = 1, .size_bytes = 7}, Plan{.fpr = 0.5, .size_bytes = 7},
                           Plan{.keys = 1, .bits_per_key = 63}}) {
    const auto refused = BloomParams::from(plan);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message,
              "The memory granted is 7 bytes; accepted is 8 to 144115188075855872 bytes.");
  }
  // Also where the rate decides: 584 bits are 73 bytes, and stored in ten words.
  const Plan plan{.keys = 10, .fpr = 1e-12};
  ASSERT_EQ(BloomParams::from(plan).value().bits, 584u);
  EXPECT_TRUE(BloomParams::from({.keys = 10, .fpr = 1e-12, .size_bytes = 80}));
  const auto refused = BloomParams::from({.keys = 10, .fpr = 1e-12, .size_bytes = 79});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "10 keys at a rate of 1e-12 need 80 bytes, more than the 79 granted.");
}

TEST(Bloom, PlansForATrillionKeysAndRatesDownToOneInATrillion) {
  for (const double fpr : {0.5, 0.01, 1e-6, 1e-12}) {
    const std::uint64_t keys = 1'000'000'000'000;
    const auto params = BloomParams::from({.keys = keys, .fpr = fpr});
    if (fpr < 1e-7) {
      // Among 10^12 digests of 64 bits, one absent key in 18 million has the digest of a present
      // one.
      ASSERT_FALSE(params);
      EXPECT_NE(params.error().message.find("out of reach"), std::string::npos);
      continue;
    }
    EXPECT_LE(params->fpr(keys), fpr);
    EXPECT_NEAR(static_cast<double>(params->bits) / static_cast<double>(textbook_bits(keys, fpr)),
                1, 0.06);
  }
  EXPECT_EQ(BloomParams::from({.keys = 1'000'000, .fpr = 1e-12}).value().hashes, 40u);
}

TEST(Bloom, ParamsErrorsNameArgumentValueAndRange) {
  EXPECT_EQ(Bloom::create(BloomParams{0, 1}).error().message,
            "bits is 0; accepted is 1 to 1152921504606846976.");
  EXPECT_EQ(Bloom::create(BloomParams{(std::uint64_t{1} << 60) + 1, 1}).error().message,
            "bits is 1152921504606846977; accepted is 1 to 1152921504606846976.");
  EXPECT_EQ(Bloom::create(BloomParams{64, 0}).error().message, "hashes is 0; accepted is 1 to 64.");
  EXPECT_EQ(Bloom::create(BloomParams{64, 65}).error().message,
            "hashes is 65; accepted is 1 to 64.");
}

TEST(Bloom, PredictsTheStandardFormulaWhereItHolds) {
  const BloomParams params{9'585'059, 7};
  EXPECT_NEAR(params.fpr(1'000'000), textbook_fpr(9'585'059, 7, 1'000'000), 1e-7);
  EXPECT_NEAR(params.fill(1'000'000), 0.518237158119, 1e-12);
  EXPECT_EQ(params.fpr(0), 0);
  EXPECT_EQ(params.fill(0), 0);
  EXPECT_DOUBLE_EQ(params.fpr(kMaxKeys), 1);
  EXPECT_DOUBLE_EQ(params.fill(kMaxKeys), 1);
}

// The mean of fill^k from the distribution of the number of set bits, throw by throw, and the
// chance of an equal digest. Numbers of set bits that have a chance below 10^-80 are left out.
double exact_fpr(const BloomParams& params, std::uint64_t keys) {
  const auto m = static_cast<double>(params.bits);
  std::vector<double> chance(params.bits + 2);
  chance[0] = 1;
  std::size_t first = 0;
  std::size_t last = 0;
  for (std::uint64_t i = 0; i < keys * params.hashes; ++i) {
    for (std::size_t set = ++last; set > first; --set) {
      const auto x = static_cast<double>(set);
      chance[set] = chance[set] * (x / m) + chance[set - 1] * (1 - (x - 1) / m);
    }
    chance[first] *= static_cast<double>(first) / m;
    while (first < last && chance[first] < 1e-80) chance[first++] = 0;
    while (last > first && (last > params.bits || chance[last] < 1e-80)) chance[last--] = 0;
  }
  double mean = 0;
  for (std::size_t set = first; set <= last; ++set) {
    mean += chance[set] * std::pow(static_cast<double>(set) / m, params.hashes);
  }
  return std::min(1.0, mean + static_cast<double>(keys) * 0x1p-64);
}

TEST(Bloom, PredictsTheExactRateOfSmallSets) {
  EXPECT_NEAR((BloomParams{128, 30}.fpr(3)), 3.52986e-9, 1e-14);
  EXPECT_NEAR((BloomParams{256, 40}.fpr(5)), 5.61985e-11, 1e-16);
  EXPECT_NEAR((BloomParams{583, 39}.fpr(10)), 1.04297e-12, 1e-17);
  for (const std::uint64_t bits : {1u, 2u, 7u, 64u, 128u, 583u, 3'000u}) {
    for (const std::uint32_t hashes : {1u, 2u, 7u, 30u, 40u, 64u}) {
      for (const std::uint64_t keys : {1u, 2u, 5u, 10u, 40u}) {
        const BloomParams params{bits, hashes};
        EXPECT_NEAR(params.fpr(keys) / exact_fpr(params, keys), 1, 1e-10)
            << bits << " bits, " << hashes << " hashes, " << keys << " keys";
      }
    }
  }
}

TEST(Bloom, PlansKeepTheirPromiseToSmallSets) {
  for (std::uint64_t keys = 8; keys <= 250; keys += 1 + keys / 5) {
    for (double fpr = 1e-12; fpr < 2e-5; fpr *= 10) {
      const BloomParams params = BloomParams::from({.keys = keys, .fpr = fpr}).value();
      EXPECT_LE(exact_fpr(params, keys), fpr * (1 + 1e-8)) << keys << " keys";
    }
  }
}

// Where the exact rate would cost too much, the prediction is at most 0.1 % above it, and no more
// than rounding below. Many hashes are the hard case, and sets that are just not small: the border
// is at 4096 throws for nearly empty and nearly full filters, and at up to 4 k^2 between.
TEST(Bloom, PredictsTheRateOfLargerSetsToOneInAThousand) {
  for (const std::uint32_t hashes : {2u, 3u, 7u, 13u, 30u, 40u, 52u, 64u}) {
    for (const std::uint32_t border : {4096u, std::max(4096u, 4 * hashes * hashes)}) {
      const std::uint64_t keys = border / hashes + 1;
      for (const double load : {0.1, 0.5, 0.7, 1.0, 2.0, 4.0}) {
        const BloomParams params{static_cast<std::uint64_t>(border / load), hashes};
        const double off = params.fpr(keys) / exact_fpr(params, keys) - 1;
        EXPECT_GE(off, -1e-8) << params.bits << " bits, " << hashes << " hashes, " << keys;
        EXPECT_LE(off, 1e-3) << params.bits << " bits, " << hashes << " hashes, " << keys;
      }
    }
  }
}

// Across the border between the exact rate and its approximation, too: searches rely on it.
TEST(Bloom, APredictionGrowsWithEveryKeyAndFallsWithEveryBit) {
  for (const std::uint32_t hashes : {2u, 7u, 20u, 40u, 64u}) {
    const std::uint64_t border = 4096 / hashes;
    for (const std::uint64_t bits : {1'000u, 6'000u, 20'000u}) {
      for (std::uint64_t keys = border - 10; keys < border + 200; ++keys) {
        EXPECT_GE((BloomParams{bits, hashes}.fpr(keys + 1)), (BloomParams{bits, hashes}.fpr(keys)))
            << bits << " bits, " << hashes << " hashes, " << keys << " keys";
      }
    }
    for (std::uint64_t bits = 1'000; bits < 20'000; bits += bits / 50) {
      EXPECT_LE((BloomParams{bits + 1, hashes}.fpr(border + 20)),
                (BloomParams{bits, hashes}.fpr(border + 20)))
          << bits << " bits, " << hashes << " hashes";
    }
  }
}

TEST(Bloom, LookupsStayWithinTheBits) {
  // Only the bits below m may be set; the rest of the last word stays zero.
  Bloom filter = Bloom::create(BloomParams{65, 64}).value();
  const auto digests = DigestStream(4).take(1000);
  filter.insert(digests);
  EXPECT_TRUE(contains_all(filter, digests));
  EXPECT_EQ(words_of(filter)[1], 1u);
  EXPECT_EQ(filter.fill_ratio(), 1);
}

TEST(Bloom, AdoptsNoBitsThatItCannotHave) {
  const auto adopted = [](const BloomParams& params, std::size_t word, std::uint64_t bits) {
    testing::AlignedWords memory(params.size_bytes() / 8);
    memory.words()[word] = bits;
    return Bloom::adopt(params, {}, Storage::borrow(memory.words())).has_value();
  };
  EXPECT_TRUE(adopted({100, 7}, 1, (std::uint64_t{1} << 36) - 1));
  EXPECT_FALSE(adopted({100, 7}, 1, std::uint64_t{1} << 36));
  EXPECT_TRUE(adopted({128, 7}, 1, ~std::uint64_t{0}));
  EXPECT_TRUE(adopted({1, 1}, 0, 1));
  EXPECT_FALSE(adopted({1, 1}, 0, 2));
}

}  // namespace
}  // namespace probably
