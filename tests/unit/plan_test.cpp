#include "probably/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace probably {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kTrillion = 1'000'000'000'000;

std::string error_of(const Plan& plan) {
  const auto solution = solve(plan);
  if (solution) return "no error";
  EXPECT_EQ(solution.error().code, ErrorCode::invalid_argument);
  return solution.error().message;
}

// Computed with 60 decimal digits.
TEST(Plan, HoldsKnownValues) {
  struct Known {
    std::uint64_t keys;
    double fpr;
    std::uint64_t bits;
    unsigned hashes;
  };
  for (const Known& known : std::vector<Known>{{1'000'000, 0.01, 9'585'059, 7},
                                               {1'000'000'000, 0.01, 9'585'058'378, 7},
                                               {100'000'000, 0.001, 1'437'758'757, 10},
                                               {1'000, 0.01, 9'586, 7},
                                               {1'000'000, 0.05, 6'235'225, 4},
                                               {1, 0.5, 2, 1},
                                               {1, 1e-12, 58, 40},
                                               {kTrillion, 0.5, 1'442'695'040'889, 1},
                                               {kTrillion, 0.01, 9'585'058'377'368, 7},
                                               {kTrillion, 1e-12, 57'510'350'264'205, 40},
                                               {kMaxKeys, 0.01, 9'585'058'377'367'440, 7}}) {
    const Solution solution = solve({.keys = known.keys, .fpr = known.fpr}).value();
    EXPECT_EQ(solution.bits, known.bits) << known.keys << " keys at " << known.fpr;
    EXPECT_EQ(solution.hashes, known.hashes) << known.keys << " keys at " << known.fpr;
    EXPECT_EQ(solution.keys, known.keys);
    EXPECT_EQ(solution.fpr, known.fpr);
    EXPECT_DOUBLE_EQ(solution.bits_per_key,
                     static_cast<double>(known.bits) / static_cast<double>(known.keys));
  }
}

TEST(Plan, StandsBesideTheLowerBound) {
  EXPECT_DOUBLE_EQ(lower_bound_bits_per_key(0.5), 1);
  EXPECT_NEAR(lower_bound_bits_per_key(0.01), 6.643856, 1e-6);
  for (const double fpr : {0.5, 0.1, 0.01, 1e-3, 1e-6, 1e-12}) {
    const Solution solution = solve({.keys = 1'000'000, .fpr = fpr}).value();
    EXPECT_DOUBLE_EQ(solution.lower_bound_bits_per_key, lower_bound_bits_per_key(fpr));
    // An ideal Bloom filter is above it by 1 / ln 2.
    EXPECT_NEAR(solution.bits_per_key / solution.lower_bound_bits_per_key, 1.442695, 1e-5);
  }
}

TEST(Plan, StandardFormulaHoldsKnownValues) {
  EXPECT_NEAR(textbook_fpr(9'585'059, 7, 1'000'000), 0.01003921704800282, 1e-15);
  EXPECT_NEAR(textbook_fpr(1'000, 3, 100), 0.01743300344298798, 1e-15);
  EXPECT_EQ(textbook_fpr(1'000, 3, 0), 0);
  EXPECT_EQ(textbook_fpr(1, 1, 0), 0);
  EXPECT_EQ(textbook_fpr(0, 1, 0), 0);
  EXPECT_EQ(textbook_fpr(0, 1, 1), 1);
  EXPECT_EQ(textbook_fpr(1, 3, 1), 1);
  EXPECT_DOUBLE_EQ(textbook_fpr(64, 1, kMaxKeys), 1);
  EXPECT_EQ(textbook_bits(0, 0.01), 1u);
  EXPECT_EQ(textbook_hashes(64, 0), 44u);
  EXPECT_EQ(textbook_hashes(1, 1'000), 1u);
  EXPECT_EQ(textbook_hashes(1'000'000, 1), 64u);
  EXPECT_NEAR(solve({.keys = 1'000'000, .fpr = 0.01}).value().fill, 0.518237158119, 1e-12);
}

TEST(Plan, SolvesForTheRate) {
  const Solution budget = solve({.keys = 1'000'000, .size_bytes = 1'250'000}).value();
  EXPECT_EQ(budget.bits, 10'000'000u);
  EXPECT_EQ(budget.hashes, 7u);
  EXPECT_DOUBLE_EQ(budget.fpr, textbook_fpr(10'000'000, 7, 1'000'000));
  EXPECT_NEAR(budget.fpr, 0.00819, 0.00001);

  const Solution per_key = solve({.keys = 1'000'000, .bits_per_key = 10}).value();
  EXPECT_EQ(per_key.bits, budget.bits);
  EXPECT_EQ(per_key.hashes, budget.hashes);
  EXPECT_EQ(per_key.fpr, budget.fpr);
  EXPECT_DOUBLE_EQ(per_key.bits_per_key, 10);

  const Solution three = solve({.keys = 1'000'000, .bits_per_key = 10, .hashes = 3}).value();
  EXPECT_EQ(three.hashes, 3u);
  EXPECT_DOUBLE_EQ(three.fpr, textbook_fpr(10'000'000, 3, 1'000'000));
}

TEST(Plan, SolvesForTheKeys) {
  const Solution solution =
      solve({.fpr = 0.01, .size_bytes = 1'198'133}).value();  // 9,585,064 bits
  EXPECT_EQ(solution.keys, 1'000'000u);
  EXPECT_EQ(solution.bits, 9'585'064u);
  EXPECT_EQ(solution.hashes, 7u);
  // The most keys, with a given number of hashes: one more would miss the rate. The textbook solves
  // with e^(-kn/m) for (1 - 1/m)^(kn), which shifts the rate by parts in a million here.
  for (const unsigned hashes : {1u, 2u, 4u, 7u, 12u, 64u}) {
    const Solution given = solve({.fpr = 0.01, .size_bytes = 100'000, .hashes = hashes}).value();
    EXPECT_EQ(given.hashes, hashes);
    EXPECT_LE(textbook_fpr(800'000, hashes, given.keys), 0.01 * (1 + 1e-5)) << hashes;
    EXPECT_GT(textbook_fpr(800'000, hashes, given.keys + 1), 0.01) << hashes;
  }
  EXPECT_EQ(solve({.fpr = 1e-12, .size_bytes = 1}).value().keys, 1u);
  // The largest budget has room for more keys than a plan may have.
  EXPECT_EQ(solve({.fpr = 0.5, .size_bytes = std::uint64_t{1} << 57}).value().keys, kMaxKeys);
}

TEST(Plan, SolvesForTheBitsWithAGivenNumberOfHashes) {
  EXPECT_EQ(solve({.keys = 1'000'000, .fpr = 0.01, .hashes = 4}).value().bits, 10'522'705u);
  EXPECT_EQ(solve({.keys = 1'000'000, .fpr = 0.01, .hashes = 1}).value().bits, 99'499'163u);
  for (unsigned hashes = 1; hashes <= 64; ++hashes) {
    const Solution solution = solve({.keys = 1'000'000, .fpr = 0.001, .hashes = hashes}).value();
    EXPECT_LE(textbook_fpr(solution.bits, hashes, 1'000'000), 0.001 * (1 + 1e-6)) << hashes;
    EXPECT_GT(textbook_fpr(solution.bits - 10, hashes, 1'000'000), 0.001 * (1 - 1e-6)) << hashes;
  }
}

// From keys and rate to bits, from there back to the keys and back to the rate.
TEST(Plan, RoundTrips) {
  for (std::uint64_t keys = 1'000; keys <= kTrillion; keys *= 10) {
    for (const double fpr : {0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12}) {
      const Solution forward = solve({.keys = keys, .fpr = fpr}).value();
      const std::uint64_t bytes = (forward.bits + 7) / 8;
      const Solution keys_back = solve({.fpr = fpr, .size_bytes = bytes}).value();
      // Rounding to bytes adds up to eight bits; floating point errs by parts in 10^15.
      EXPECT_GE(keys_back.keys, keys - 1) << fpr;
      EXPECT_LE(static_cast<double>(keys_back.keys), static_cast<double>(keys) * (1 + 1e-12) + 8);
      const Solution fpr_back = solve({.keys = keys, .size_bytes = bytes}).value();
      EXPECT_EQ(fpr_back.hashes, forward.hashes);
      // An integer number of hashes costs up to 6 % of the rate; extra bits in small filters win
      // some.
      EXPECT_LE(fpr_back.fpr, fpr * 1.06) << keys;
      EXPECT_GE(fpr_back.fpr, fpr * 0.9) << keys;
    }
  }
}

TEST(Plan, IsMonotonic) {
  const std::vector<double> rates{1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.1, 0.3, 0.5};
  for (std::uint64_t keys = 1; keys < kTrillion; keys *= 7) {
    std::uint64_t bits = std::numeric_limits<std::uint64_t>::max();
    for (const double fpr : rates) {
      const std::uint64_t now = solve({.keys = keys, .fpr = fpr}).value().bits;
      EXPECT_LE(now, bits) << "a larger rate never needs more";
      EXPECT_LE(now, solve({.keys = 7 * keys, .fpr = fpr}).value().bits);
      bits = now;
    }
  }
  double before = 0;
  for (std::uint64_t keys = 1; keys < kTrillion; keys *= 3) {
    const double now = textbook_fpr(1'000'000, 7, keys);
    EXPECT_GE(now, before);
    before = now;
  }
}

TEST(Plan, GrantsBits) {
  EXPECT_EQ(granted_bits({.keys = 5, .fpr = 0.1}), 0u);
  EXPECT_EQ(granted_bits({.keys = 5, .size_bytes = 7}), 56u);
  EXPECT_EQ(granted_bits({.keys = 5, .bits_per_key = 9.5}), 47u);
  EXPECT_EQ(granted_bits({.keys = kMaxKeys, .bits_per_key = 1e6}), std::uint64_t{1} << 60);
}

TEST(Plan, DomainErrorsNameArgumentValueAndRange) {
  EXPECT_EQ(error_of({.keys = kMaxKeys + 1, .fpr = 0.01}),
            "keys is 1000000000000001; accepted is 1 to 1000000000000000.");
  EXPECT_EQ(error_of({.keys = 1, .fpr = 2}),
            "fpr is 2; accepted is a rate from 1e-12 to 0.5 (1 % is 0.01).");
  EXPECT_EQ(error_of({.keys = 1, .fpr = 0.51}),
            "fpr is 0.51; accepted is a rate from 1e-12 to 0.5 (1 % is 0.01).");
  EXPECT_EQ(error_of({.keys = 1, .fpr = 9e-13}),
            "fpr is 9e-13; accepted is a rate from 1e-12 to 0.5 (1 % is 0.01).");
  EXPECT_EQ(error_of({.keys = 1, .fpr = -0.01}),
            "fpr is -0.01; accepted is a rate from 1e-12 to 0.5 (1 % is 0.01).");
  EXPECT_EQ(error_of({.keys = 1, .fpr = kNan}),
            "fpr is nan; accepted is a rate from 1e-12 to 0.5 (1 % is 0.01).");
  EXPECT_EQ(error_of({.keys = 1, .bits_per_key = 0.05}),
            "bits_per_key is 0.05; accepted is 0.1 to 1000000.");
  EXPECT_EQ(error_of({.keys = 1, .bits_per_key = 1e7}),
            "bits_per_key is 10000000; accepted is 0.1 to 1000000.");
  EXPECT_EQ(error_of({.keys = 1, .bits_per_key = kNan}),
            "bits_per_key is nan; accepted is 0.1 to 1000000.");
  // More bits altogether than any filter has.
  EXPECT_EQ(error_of({.keys = kMaxKeys, .bits_per_key = 1e6}),
            "bits_per_key is 1000000; accepted is 0.1 to 1152 for 1000000000000000 keys.");
  EXPECT_EQ(error_of({.keys = kMaxKeys, .bits_per_key = 1152.5}),
            "bits_per_key is 1152.5; accepted is 0.1 to 1152 for 1000000000000000 keys.");
  EXPECT_EQ(error_of({.keys = 1, .size_bytes = (std::uint64_t{1} << 57) + 1}),
            "size_bytes is 144115188075855873; accepted is 1 to 144115188075855872.");
  EXPECT_EQ(error_of({.keys = 1, .fpr = 0.01, .hashes = 65}), "hashes is 65; accepted is 1 to 64.");
}

TEST(Plan, ErrorsSayWhatIsMissing) {
  const std::string two = "A plan needs two of: keys, fpr, memory (size_bytes or bits_per_key).";
  for (const Plan& plan : std::vector<Plan>{{},
                                            {.keys = 10},
                                            {.fpr = 0.01},
                                            {.size_bytes = 100},
                                            {.hashes = 7},
                                            {.keys = 1, .hashes = 7}}) {
    EXPECT_EQ(error_of(plan).substr(0, two.size()), two);
  }
  EXPECT_EQ(error_of({.keys = 10, .fpr = 0}),
            two + " 0 counts as not given. For example keys = 1000000, fpr = 0.01.");
  EXPECT_EQ(error_of({.keys = 1, .bits_per_key = 8, .size_bytes = 8}),
            "bits_per_key and size_bytes are two ways to say one thing; give one of them.");
  EXPECT_EQ(error_of({.fpr = 0.01, .bits_per_key = 8}),
            "bits_per_key needs keys; for a rate in a budget give size_bytes.");
}

TEST(Plan, ABudgetThatDoesNotSufficeIsAnError) {
  const std::uint64_t need = 1'198'133;  // ceil(9,585,059 / 8)
  EXPECT_TRUE(solve({.keys = 1'000'000, .fpr = 0.01, .size_bytes = need}));
  EXPECT_EQ(solve({.keys = 1'000'000, .fpr = 0.01, .size_bytes = 10 * need}).value().bits,
            9'585'059u);
  EXPECT_EQ(error_of({.keys = 1'000'000, .fpr = 0.01, .size_bytes = need - 1}),
            "1000000 keys at a rate of 0.01 need 1198133 bytes, more than the 1198132 granted.");
  EXPECT_EQ(error_of({.keys = 1'000'000, .fpr = 0.01, .bits_per_key = 9}),
            "1000000 keys at a rate of 0.01 need 1198133 bytes, more than the 1125000 granted.");
  // Nine tenths of a bit are a budget.
  EXPECT_EQ(error_of({.keys = 9, .fpr = 0.01, .bits_per_key = 0.1}),
            "9 keys at a rate of 0.01 need 11 bytes, more than the 0 granted.");
}

// As a rate of more than 0.5 cannot be asked for, it cannot be had for too little memory either.
TEST(Plan, ABudgetThatGivesNoRateToAskForIsAnError) {
  EXPECT_EQ(error_of({.keys = 1'000'000, .size_bytes = 64}),
            "1000000 keys in 64 bytes give a rate of 1; accepted is at most 0.5. 180337 bytes "
            "would do.");
  EXPECT_EQ(error_of({.keys = 9, .bits_per_key = 0.1}),
            "9 keys in 0 bytes give a rate of 1; accepted is at most 0.5. 2 bytes would do.");
  for (const std::uint64_t keys : {1u, 2u, 3u, 10u, 1'000u, 1'000'000u}) {
    for (const unsigned hashes : {0u, 1u, 2u, 7u, 64u}) {
      const Plan half{.keys = keys, .fpr = kMaxFpr, .hashes = hashes};
      const std::uint64_t enough = (solve(half).value().bits + 7) / 8;
      EXPECT_TRUE(solve({.keys = keys, .size_bytes = enough, .hashes = hashes}));
      if (enough == 1) continue;
      const Plan less{.keys = keys, .size_bytes = enough - 1, .hashes = hashes};
      const std::string message = error_of(less);
      EXPECT_NE(message.find(". " + std::to_string(enough) + " bytes would do."), std::string::npos)
          << message;
    }
  }
}

// One bit per key at a rate of 10^-10 takes 10^22 bits.
TEST(Plan, MoreMemoryThanAnyFilterHasIsAnError) {
  EXPECT_EQ(error_of({.keys = 1'000'000'000'000, .fpr = 1e-10, .hashes = 1}),
            "1000000000000 keys at a rate of 1e-10 with 1 hashes need more than "
            "144115188075855872 bytes.");
}

// Total functions: what has no answer gets a number, and no undefined behaviour.
TEST(Plan, TheTextbookTakesAnyRate) {
  for (const double fpr :
       {std::nan(""), -1.0, 0.0, 1.0, 2.0, std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()}) {
    EXPECT_GE(textbook_bits(0, fpr), 1u) << fpr;
    EXPECT_GE(textbook_bits(1'000, fpr), 1u) << fpr;
  }
}

TEST(Plan, AcceptsTheBordersOfItsDomains) {
  EXPECT_TRUE(solve({.keys = kMaxKeys, .fpr = kMinFpr}));
  EXPECT_TRUE(solve({.keys = 1, .fpr = kMaxFpr}));
  EXPECT_TRUE(solve({.keys = kMaxKeys, .size_bytes = std::uint64_t{1} << 57}));
  EXPECT_TRUE(solve({.keys = 1, .size_bytes = 1}));
  EXPECT_TRUE(solve({.keys = 1, .bits_per_key = 1e6}));
  EXPECT_TRUE(solve({.keys = kMaxKeys, .bits_per_key = 1152}));
  EXPECT_TRUE(validate({.keys = 1, .bits_per_key = 0.1}));
  EXPECT_TRUE(solve({.fpr = kMaxFpr, .size_bytes = std::uint64_t{1} << 57}));
}

}  // namespace
}  // namespace probably
