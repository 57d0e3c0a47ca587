#include "probably/blocked.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "probably/bloom.hpp"
#include "support/filters.hpp"
#include "support/streams.hpp"

namespace probably {
namespace {

using testing::DigestStream;
using testing::fold;
using testing::words_of;

constexpr std::array<std::uint32_t, 3> kAllSlices{4, 8, 16};

// A failure means that released snapshots no longer mean the same set. Do not edit the numbers:
// add a layout revision. From params, not from a plan: sizing goes through libm.
// The numbers come of a second implementation, in Python, of what layout/blocked.hpp says.
TEST(BlockedBloom, BitsAreFrozen) {
  struct Frozen {
    BlockedParams params;
    std::size_t keys;
    std::uint64_t bits;
  };
  for (const Frozen& frozen : std::vector<Frozen>{{{1, 4}, 20, 0x66ffba46e358aaa3},
                                                  {{1, 8}, 20, 0x7326cffea2514cc9},
                                                  {{1, 16}, 20, 0xe4a453e4771de6a5},
                                                  {{37, 4}, 1000, 0x38cc3357d7674202},
                                                  {{37, 8}, 1000, 0xa3b88b107b6660a3},
                                                  {{37, 16}, 1000, 0x16380b853051d85c},
                                                  {{100'003, 8}, 5000, 0x852ec87acc224eeb}}) {
    BlockedBloom filter = BlockedBloom::create(frozen.params).value();
    filter.insert(DigestStream(1).take(frozen.keys));
    EXPECT_EQ(fold(words_of(filter)), frozen.bits)
        << frozen.params.lines << " lines, " << frozen.params.slices << " slices";
  }
}

// The set bits of masks, as numbers from 0 to 511.
std::vector<int> bits_of(const BlockedLayout::Masks& masks) {
  std::vector<int> bits;
  for (int bit = 0; bit < 512; ++bit) {
    if ((masks[static_cast<std::size_t>(bit / 64)] >> (bit % 64) & 1) != 0) bits.push_back(bit);
  }
  return bits;
}

TEST(BlockedLayout, PlacesAreFrozen) {
  // One digest by hand: its line, and a bit per slice; slice i owns the 32-bit words i mod k.
  const Digest digest{0x0123456789abcdef};
  const auto place = BlockedLayout{1000, 8}.place(digest);
  EXPECT_EQ(place.block, 4u);
  EXPECT_EQ(bits_of(BlockedLayout{1000, 4}.masks(place.pattern)),
            (std::vector<int>{0, 47, 67, 381}));
  EXPECT_EQ(bits_of(BlockedLayout{1000, 8}.masks(place.pattern)),
            (std::vector<int>{0, 39, 65, 134, 179, 196, 255, 366}));
  EXPECT_EQ(bits_of(BlockedLayout{1000, 16}.masks(place.pattern)),
            (std::vector<int>{0, 35, 64, 119, 131, 169, 194, 239, 268, 295, 329, 378, 391, 441, 453,
                              509}));

  std::vector<Digest> digests{Digest(0), Digest(1), Digest(~std::uint64_t{0}),
                              Digest(0x8000000000000000), digest};
  for (const Digest random : DigestStream(2).take(1000)) digests.push_back(random);
  const auto all_places = [&](const BlockedLayout& layout) {
    std::vector<std::uint64_t> all;
    for (const Digest each : digests) {
      const auto found = layout.place(each);
      EXPECT_LT(found.block, layout.lines);
      all.push_back(found.block);
      for (const std::uint64_t mask : layout.masks(found.pattern)) all.push_back(mask);
    }
    return fold(all);
  };
  EXPECT_EQ(all_places({1, 4}), 0x48308e2195b282e9);
  EXPECT_EQ(all_places({1, 8}), 0xf3caf10349470126);
  EXPECT_EQ(all_places({1, 16}), 0xcb9d480f50c38a83);
  EXPECT_EQ(all_places({1'000'003, 4}), 0x426aac2e9a1e9403);
  EXPECT_EQ(all_places({1'000'003, 8}), 0x0d39aa0d0d9a0c6d);
  EXPECT_EQ(all_places({1'000'003, 16}), 0xdf1f376fa884e509);
  EXPECT_EQ(all_places({std::uint64_t{1} << 51, 4}), 0xc64b20e1b7d1c913);
  EXPECT_EQ(all_places({std::uint64_t{1} << 51, 8}), 0x5c00d9d7724da148);
  EXPECT_EQ(all_places({std::uint64_t{1} << 51, 16}), 0xd911d2fe8a13e642);
}

TEST(BlockedLayout, SetsOneBitPerSlice) {
  for (const std::uint32_t slices : kAllSlices) {
    const BlockedLayout layout{1000, slices};
    for (const Digest digest : DigestStream(3).take(1000)) {
      const auto bits = bits_of(layout.masks(layout.place(digest).pattern));
      ASSERT_EQ(bits.size(), slices);
      std::vector<int> hits(slices);
      for (const int bit : bits) ++hits[static_cast<std::size_t>(bit / 32) % slices];
      EXPECT_EQ(std::count(hits.begin(), hits.end(), 1), slices);
    }
  }
}

TEST(BlockedBloom, AKeyTouchesOneLine) {
  for (const std::uint32_t slices : kAllSlices) {
    const BlockedParams params{77, slices};
    for (const Digest digest : DigestStream(4).take(50)) {
      BlockedBloom filter = BlockedBloom::create(params).value();
      filter.insert(digest);
      const auto place = params.layout().place(digest);
      const auto masks = params.layout().masks(place.pattern);
      std::vector<std::uint64_t> expected(77 * 8);
      std::copy(masks.begin(), masks.end(),
                expected.begin() + static_cast<std::ptrdiff_t>(place.block * 8));
      const auto words = words_of(filter);
      EXPECT_TRUE(std::equal(words.begin(), words.end(), expected.begin(), expected.end()));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(words.data()) % kCacheLineBytes, 0u);
    }
  }
}

TEST(BlockedBloom, PlansTheFewestLines) {
  for (const std::uint64_t keys : {1u, 100u, 10'000u, 1'000'000u, 1'000'000'000u}) {
    for (const double fpr : {0.5, 0.1, 0.01, 0.001, 1e-4, 1e-6, 1e-9}) {
      const BlockedParams params = BlockedParams::from({.keys = keys, .fpr = fpr}).value();
      EXPECT_LE(params.fpr(keys), fpr) << keys;
      for (const std::uint32_t slices : kAllSlices) {
        if (params.lines > 1) {
          EXPECT_GT((BlockedParams{params.lines - 1, slices}.fpr(keys)), fpr)
              << keys << " keys at " << fpr;
        }
        EXPECT_GE((BlockedParams{params.lines, slices}.fpr(keys)), params.fpr(keys))
            << "another number of slices is better in the same lines";
      }
    }
  }
}

// What the header promises: 5 % more bits than a classic filter at 1 %, 9 % at 0.1 %, 20 % at 0.01
// %.
TEST(BlockedBloom, CostsWhatTheHeaderSays) {
  const auto cost = [](double fpr) {
    const Plan plan{.keys = 10'000'000, .fpr = fpr};
    return static_cast<double>(BlockedParams::from(plan).value().size_bytes()) /
           static_cast<double>(BloomParams::from(plan).value().size_bytes());
  };
  EXPECT_NEAR(cost(0.01), 1.05, 0.005);
  EXPECT_NEAR(cost(0.001), 1.09, 0.01);
  EXPECT_NEAR(cost(0.0001), 1.20, 0.02);
}

TEST(BlockedBloom, PlansWithGivenSlices) {
  for (const std::uint32_t slices : kAllSlices) {
    const BlockedParams params =
        BlockedParams::from({.keys = 10'000, .fpr = 0.01, .hashes = slices}).value();
    EXPECT_EQ(params.slices, slices);
    EXPECT_LE(params.fpr(10'000), 0.01);
    const BlockedParams budget =
        BlockedParams::from({.keys = 10'000, .size_bytes = 10'000, .hashes = slices}).value();
    EXPECT_EQ(budget, (BlockedParams{10'000 / 64, slices}));
  }
  EXPECT_EQ(BlockedParams::from({.keys = 10, .fpr = 0.01, .hashes = 7}).error().message,
            "hashes is 7; accepted is 4, 8 or 16 for this kind, or 0 to let it choose.");
}

TEST(BlockedBloom, PlansForATrillionKeysAndRatesDownToOneInATrillion) {
  EXPECT_LE(
      BlockedParams::from({.keys = 1'000'000'000'000, .fpr = 0.01}).value().fpr(1'000'000'000'000),
      0.01);
  const BlockedParams rare = BlockedParams::from({.keys = 1'000'000, .fpr = 1e-12}).value();
  EXPECT_EQ(rare.slices, 16u);
  EXPECT_LE(rare.fpr(1'000'000), 1e-12);
}

TEST(BlockedBloom, ParamsErrorsNameArgumentValueAndRange) {
  EXPECT_EQ(BlockedBloom::create(BlockedParams{0, 8}).error().message,
            "lines is 0; accepted is 1 to 2251799813685248.");
  EXPECT_EQ(BlockedBloom::create(BlockedParams{(std::uint64_t{1} << 51) + 1, 8}).error().message,
            "lines is 2251799813685249; accepted is 1 to 2251799813685248.");
  for (const std::uint32_t slices : {0u, 1u, 5u, 32u}) {
    EXPECT_EQ(BlockedBloom::create(BlockedParams{1, slices}).error().message,
              "slices is " + std::to_string(slices) + "; accepted is 4, 8 or 16.");
  }
}

TEST(BlockedBloom, ABudgetErrorNamesTheLeastMemoryThatWouldDo) {
  const Plan plan{.keys = 1'000'000, .fpr = 0.01};
  const std::uint64_t need = BlockedParams::from(plan).value().size_bytes();
  const auto refused =
      BlockedParams::from({.keys = plan.keys, .fpr = plan.fpr, .size_bytes = 1000});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "1000000 keys at a rate of 0.01 need " + std::to_string(need) +
                                         " bytes, more than the 1000 granted.");
}

// The sum over block loads, done here the slow way: the binomial distribution from log-gamma.
TEST(BlockedBloom, PredictsTheMeanOverBlockLoads) {
  for (const std::uint32_t slices : kAllSlices) {
    for (const std::uint64_t lines : {1u, 2u, 10u, 1000u}) {
      for (const double load : {0.5, 10.0, 51.0, 200.0, 1000.0}) {
        const auto keys = static_cast<std::uint64_t>(load * static_cast<double>(lines)) + 1;
        const auto n = static_cast<double>(keys);
        const double p = 1.0 / static_cast<double>(lines);
        double rate = 0;
        for (double x = 0; x <= n; ++x) {
          const double log_weight = lines == 1 ? (x == n ? 0.0 : -1e9)
                                               : std::lgamma(n + 1) - std::lgamma(x + 1) -
                                                     std::lgamma(n - x + 1) + x * std::log(p) +
                                                     (n - x) * std::log1p(-p);
          const double fill = 1 - std::pow(1 - slices / 512.0, x);
          rate += std::exp(log_weight) * std::pow(fill, slices);
        }
        if (slices <= 8) rate += n * p * 0x1p-32;
        rate += n * 0x1p-64;
        EXPECT_NEAR((BlockedParams{lines, slices}.fpr(keys)) / rate, 1, 1e-7)
            << lines << " lines, " << slices << " slices, " << keys << " keys";
      }
    }
  }
}

}  // namespace
}  // namespace probably
