// What memory itself costs: no filter that reads one cache line for a key can be faster.
#pragma once

#include <cstdint>
#include <span>

#include "probably/storage.hpp"

namespace probably::cli {

// Memory of a filter's size from the filter's allocator: aligned, on huge pages, touched.
class MemoryFloor {
 public:
  // Throws Trouble, and std::bad_alloc.
  explicit MemoryFloor(std::uint64_t size_bytes);

  // Nanoseconds for one word of a random line, in one thread, for each of these random numbers.
  // The lines are known in advance, so that many are on their way at once; they are asked for as
  // far ahead as turns out best.
  [[nodiscard]] double independent_ns(std::span<const std::uint64_t> random) const;
  // The next line is known only when the last has come: the latency.
  [[nodiscard]] double dependent_ns(std::span<const std::uint64_t> random) const;

 private:
  Storage storage_;
  std::uint64_t lines_;
};

}  // namespace probably::cli
