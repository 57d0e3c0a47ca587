// The machine that this runs on, as Linux tells it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace probably::cli {

struct Cache {
  std::string name;  // L1d, L2, L3
  std::uint64_t bytes = 0;
};

struct Machine {
  std::string cpu;  // "unknown processor" where nobody tells
  unsigned cores = 1;
  std::vector<Cache> caches;  // of the first core, without those of instructions
};

[[nodiscard]] Machine this_machine();
// What could be allocated now without swapping, under the limits of this container; none if that is
// not known.
[[nodiscard]] std::optional<std::uint64_t> available_memory();

}  // namespace probably::cli
