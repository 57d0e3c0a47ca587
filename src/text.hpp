// Sentences for errors: numbers as people read them, without a formatting library in the public
// surface.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "probably/result.hpp"

namespace probably::detail {

inline std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.12g", value);
  return buffer;
}

inline std::string text(std::uint64_t value) { return std::to_string(value); }
inline std::string text(unsigned value) { return std::to_string(value); }

// "fpr is 2; accepted is a number from 1e-12 to 0.5."
template <class T>
Error domain_error(const char* argument, T value, const std::string& accepted) {
  return {ErrorCode::invalid_argument,
          std::string(argument) + " is " + text(value) + "; accepted is " + accepted + "."};
}

}  // namespace probably::detail
