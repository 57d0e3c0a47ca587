#include "probably/split_block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "endian.hpp"
#include "probably/blocked.hpp"
#include "support/filters.hpp"
#include "support/json_strings.hpp"
#include "support/streams.hpp"

namespace probably {
namespace {

using testing::DigestStream;
using testing::fold;
using testing::read_test_data;
using testing::words_of;

// A failure means that released snapshots, and Parquet's files, no longer mean the same set. Do not
// edit the numbers. From params, not from a plan: sizing goes through libm.
// The numbers come of a second implementation, in Python, of what layout/split_block.hpp says.
TEST(SplitBlockBloom, BitsAreFrozen) {
  struct Frozen {
    SplitBlockParams params;
    std::size_t keys;
    std::uint64_t bits;
  };
  for (const Frozen& frozen : std::vector<Frozen>{{{1}, 10, 0x95ab6d0902b59d38},
                                                  {{64}, 1000, 0xf6c3202d3ccbbbbc},
                                                  {{1001}, 5000, 0x457ed37ed4b584c3}}) {
    SplitBlockBloom filter = SplitBlockBloom::create(frozen.params).value();
    filter.insert(DigestStream(1).take(frozen.keys));
    EXPECT_EQ(fold(words_of(filter)), frozen.bits) << frozen.params.blocks;
  }
}

TEST(SplitBlockLayout, PlacesAreFrozen) {
  const Digest digest{0x0123456789abcdef};
  const auto one = SplitBlockLayout{1000}.place(digest);
  EXPECT_EQ(one.block, 4u);
  const auto masks = SplitBlockLayout{}.masks(one.pattern);
  std::vector<std::size_t> bits;
  for (std::size_t bit = 0; bit < 256; ++bit) {
    if ((masks[bit / 64] >> (bit % 64) & 1) != 0) bits.push_back(bit);
  }
  EXPECT_EQ(bits, (std::vector<std::size_t>{18, 51, 94, 119, 132, 176, 204, 248}));

  std::vector<Digest> digests{Digest(0), Digest(1), Digest(~std::uint64_t{0}),
                              Digest(0x8000000000000000), digest};
  for (const Digest random : DigestStream(2).take(1000)) digests.push_back(random);
  const auto all_places = [&](const SplitBlockLayout& layout) {
    std::vector<std::uint64_t> all;
    for (const Digest each : digests) {
      const auto place = layout.place(each);
      EXPECT_LT(place.block, layout.blocks);
      all.push_back(place.block);
      for (const std::uint64_t mask : layout.masks(place.pattern)) all.push_back(mask);
    }
    return fold(all);
  };
  EXPECT_EQ(all_places({1}), 0x30bde40f823fd2c7);
  EXPECT_EQ(all_places({1'000'003}), 0xfaa489b2207ecb23);
  EXPECT_EQ(all_places({0xffffffff}), 0xf0f75227bc2115c1);
}

// The Bloom filter of a file that DuckDB 1.5.6 wrote: a header of 16 bytes, 64 blocks, the keys
// key-000000 to key-000999.
class ParquetVector : public ::testing::Test {
 protected:
  static constexpr std::size_t kHeaderBytes = 16;
  static constexpr SplitBlockParams kParams{64};

  void SetUp() override {
    const std::string file = read_test_data("interop/parquet_sbbf_k.header_and_bitset.bin");
    ASSERT_EQ(file.size(), kHeaderBytes + kParams.size_bytes());
    const auto bytes = std::as_bytes(std::span(file));
    for (std::size_t at = kHeaderBytes; at < bytes.size(); at += 8) {
      words_.push_back(detail::load_little_endian<std::uint64_t>(&bytes[at]));
    }
    for (int i = 0; i < 1000; ++i) {
      const std::string digits = std::to_string(i);
      keys_.push_back("key-" + std::string(6 - digits.size(), '0') + digits);
    }
  }

  std::vector<std::uint64_t> words_;
  std::vector<std::string> keys_;
};

TEST_F(ParquetVector, ContainsItsKeys) {
  testing::AlignedWords memory(words_.size());
  std::ranges::copy(words_, memory.words().begin());
  const SplitBlockBloom filter =
      SplitBlockBloom::adopt(kParams, Hasher::xxh64(), Storage::borrow(memory.words())).value();
  for (const std::string& key : keys_) EXPECT_TRUE(filter.contains(key)) << key;
  testing::Answers answers(keys_.size());
  filter.contains(std::span(keys_), answers);
  EXPECT_EQ(answers.trues(), keys_.size());
  // 16.4 bits per key give a rate near 0.14 %: 14 of 10,000 other keys, give or take 4.
  std::vector<std::string> others;
  for (int i = 100'000; i < 110'000; ++i) others.push_back("key-" + std::to_string(i));
  testing::Answers found(others.size());
  filter.contains(std::span(others), found);
  EXPECT_LT(found.trues(), 30u);
}

TEST_F(ParquetVector, IsWhatWeBuildBitForBit) {
  SplitBlockBloom one_by_one = SplitBlockBloom::create(kParams, Hasher::xxh64()).value();
  for (const std::string& key : keys_) one_by_one.insert(key);
  EXPECT_TRUE(std::ranges::equal(words_of(one_by_one), words_));
  SplitBlockBloom batch = SplitBlockBloom::create(kParams, Hasher::xxh64()).value();
  batch.insert(std::span(keys_));
  EXPECT_TRUE(std::ranges::equal(words_of(batch), words_));
}

TEST(SplitBlockBloom, PlansTheFewestBlocks) {
  for (const std::uint64_t keys : {1u, 100u, 10'000u, 1'000'000u, 100'000'000u}) {
    for (const double fpr : {0.5, 0.1, 0.01, 0.001, 1e-4, 1e-6}) {
      const SplitBlockParams params = SplitBlockParams::from({.keys = keys, .fpr = fpr}).value();
      EXPECT_LE(params.fpr(keys), fpr) << keys;
      if (params.blocks == 1) continue;
      EXPECT_GT(SplitBlockParams{params.blocks - 1}.fpr(keys), fpr) << keys;
    }
  }
}

// What the header promises of blocked: 4 % fewer bits at a rate of 1 %, 13 % fewer at 0.01 %.
TEST(SplitBlockBloom, CostsWhatTheHeaderSays) {
  const auto saving = [](double fpr) {
    const Plan plan{.keys = 10'000'000, .fpr = fpr};
    return 1 - static_cast<double>(BlockedParams::from(plan).value().size_bytes()) /
                   static_cast<double>(SplitBlockParams::from(plan).value().size_bytes());
  };
  EXPECT_NEAR(saving(0.01), 0.04, 0.005);
  EXPECT_NEAR(saving(0.0001), 0.13, 0.01);
}

TEST(SplitBlockBloom, RefusesWhatParquetCannotDo) {
  EXPECT_EQ(SplitBlockParams::from({.keys = 10, .fpr = 0.01, .hashes = 7}).error().message,
            "hashes is 7; accepted is 8 for this kind, or 0 to let it choose.");
  EXPECT_TRUE(SplitBlockParams::from({.keys = 10, .fpr = 0.01, .hashes = 8}));
  EXPECT_EQ(SplitBlockBloom::create(SplitBlockParams{0}).error().message,
            "blocks is 0; accepted is 1 to 4294967295.");
  EXPECT_EQ(SplitBlockBloom::create(SplitBlockParams{std::uint64_t{1} << 32}).error().message,
            "blocks is 4294967296; accepted is 1 to 4294967295.");
  // The block comes of 32 bits: at most 128 GiB.
  EXPECT_TRUE(SplitBlockParams::from({.fpr = 0.01, .size_bytes = 137'438'953'440}));
  for (const std::uint64_t bytes : {31ull, 137'438'953'441ull}) {
    const auto budget = SplitBlockParams::from({.fpr = 0.01, .size_bytes = bytes});
    ASSERT_FALSE(budget);
    EXPECT_EQ(budget.error().message, "The memory granted is " + std::to_string(bytes) +
                                          " bytes; accepted is 32 to 137438953440 bytes.");
  }
  const auto refused = SplitBlockParams::from({.keys = 1'000'000'000'000, .fpr = 0.01});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.find("A rate of 0.01 for 1000000000000 keys is out of reach"),
            0u);
}

// The eight bits of a key come of 32 bits of its digest, so a block's keys share patterns with
// absent ones at a chance of 2^-32 each: the floor that the prediction knows.
TEST(SplitBlockBloom, PredictsTheFloorOfItsPatterns) {
  const SplitBlockParams params{1'000'000};
  EXPECT_GE(params.fpr(1'000'000), 0x1p-32);
  EXPECT_GE(params.fpr(1'000), 1e-3 * 0x1p-32);
}

}  // namespace
}  // namespace probably
