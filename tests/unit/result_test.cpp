#include "probably/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace probably {
namespace {

const Error kError{ErrorCode::io, "The disk is full."};

Result<std::unique_ptr<int>> boxed(int value) {
  if (value < 0) return Error{ErrorCode::invalid_argument, "value is negative."};
  return std::make_unique<int>(value);
}

TEST(Result, HoldsAValue) {
  Result<std::string> result = std::string("text");
  EXPECT_TRUE(result.has_value());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(*result, "text");
  EXPECT_EQ(result->size(), 4u);
  EXPECT_EQ(result.value(), "text");
  *result += "s";
  result.value() += "!";
  EXPECT_EQ(std::as_const(result).value(), "texts!");
  EXPECT_EQ(*std::as_const(result), "texts!");
  EXPECT_EQ(std::as_const(result)->back(), '!');
}

TEST(Result, HoldsAnError) {
  const Result<std::string> result = kError;
  EXPECT_FALSE(result.has_value());
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_EQ(result.error().code, ErrorCode::io);
  EXPECT_EQ(result.error().message, "The disk is full.");
}

TEST(Result, GivesItsValueAway) {
  const std::unique_ptr<int> seven = boxed(7).value();
  EXPECT_EQ(*seven, 7);
  const std::unique_ptr<int> eight = *boxed(8);
  EXPECT_EQ(*eight, 8);
  Result<std::unique_ptr<int>> kept = boxed(9);
  const Result<std::unique_ptr<int>> moved = std::move(kept);
  EXPECT_EQ(**moved, 9);
}

TEST(Result, ValueThrowsTheError) {
  Result<int> result = kError;
  EXPECT_THROW(static_cast<void>(result.value()), BadResult);
  EXPECT_THROW(static_cast<void>(std::as_const(result).value()), BadResult);
  try {
    static_cast<void>(boxed(-1).value());
    FAIL() << "no exception";
  } catch (const BadResult& bad) {
    EXPECT_EQ(bad.error().code, ErrorCode::invalid_argument);
    EXPECT_STREQ(bad.what(), "value is negative.");
  }
}

TEST(Result, OfVoidIsSuccessOrAnError) {
  const Result<void> success;
  EXPECT_TRUE(success.has_value());
  EXPECT_TRUE(static_cast<bool>(success));
  EXPECT_NO_THROW(success.value());
  const Result<void> failure = kError;
  EXPECT_FALSE(failure.has_value());
  EXPECT_FALSE(static_cast<bool>(failure));
  EXPECT_EQ(failure.error().message, "The disk is full.");
  EXPECT_THROW(failure.value(), BadResult);
}

TEST(Result, IsAssignable) {
  Result<int> result = kError;
  result = 5;
  EXPECT_EQ(result.value(), 5);
  result = kError;
  EXPECT_FALSE(result.has_value());
}

// Programs and files store these numbers.
TEST(Result, ErrorCodesAreFrozen) {
  EXPECT_EQ(static_cast<int>(ErrorCode::invalid_argument), 1);
  EXPECT_EQ(static_cast<int>(ErrorCode::incompatible), 2);
  EXPECT_EQ(static_cast<int>(ErrorCode::io), 3);
  EXPECT_EQ(static_cast<int>(ErrorCode::unsupported), 4);
}

static_assert(!std::is_convertible_v<Result<int>, bool>, "a result is not by accident a number");

}  // namespace
}  // namespace probably
