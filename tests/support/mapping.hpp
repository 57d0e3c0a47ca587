// Where map() works. It uses a file's words as they lie there, least byte first; a machine that
// keeps the highest byte first refuses at once, whatever the file.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "probably/snapshot.hpp"

namespace probably::testing {

inline constexpr bool kCanMap = std::endian::native == std::endian::little;

// What map() fails with, if it fails with this where it works.
constexpr ErrorCode map_error(ErrorCode code) { return kCanMap ? code : ErrorCode::unsupported; }

// Whether there is a mapped filter to go on with. The running test fails unless there is one where
// map() works, and a refusal that tells why where it does not.
template <Saveable F>
bool is_mapped(const Result<Mapped<F>>& mapped) {
  if (mapped) {
    EXPECT_TRUE(kCanMap);
    return true;
  }
  const Error& error = mapped.error();
  EXPECT_FALSE(kCanMap) << error.message;
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_NE(error.message.find("highest byte of a word first"), std::string::npos) << error.message;
  return false;
}

}  // namespace probably::testing
