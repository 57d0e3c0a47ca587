// What goes wrong in the command line: a sentence for the user, and exit code 2.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "probably/result.hpp"

namespace probably::cli {

struct Trouble : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// As grep's.
enum ExitCode : int { kFound = 0, kNone = 1, kTrouble = 2, kInterrupted = 130 };

// The value, or the library's sentence as Trouble.
template <class T>
T expect(Result<T> result) {
  if (!result) throw Trouble(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace probably::cli
