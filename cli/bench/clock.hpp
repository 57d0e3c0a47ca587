// Times what the optimiser must not take away.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace probably::cli {

// Nanoseconds per operation.
template <class Run>
double time_ns(std::uint64_t operations, Run&& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(operations);
}

// The same for work on so many numbers in a row, the best of all such rows: short enough that
// others who use the machine do not slow down each.
template <class Run>
double best_row_ns(std::span<const std::uint64_t> numbers, std::size_t row, Run&& run) {
  double best = std::numeric_limits<double>::infinity();
  for (; !numbers.empty(); numbers = numbers.subspan(std::min(row, numbers.size()))) {
    const auto some = numbers.first(std::min(row, numbers.size()));
    best = std::min(best, time_ns(some.size(), [&] { run(some); }));
  }
  return best;
}

// Keeps `value`, and all that it was computed from, alive in the optimiser's eyes.
template <class T>
void keep(const T& value) noexcept {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace probably::cli
