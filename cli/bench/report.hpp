// What `probably bench` prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/kind.hpp"
#include "bench/machine.hpp"
#include "terminal/terminal.hpp"

namespace probably::cli {

struct BenchReport {
  Machine machine;
  std::uint64_t keys = 0;
  double promised_fpr = 0;
  unsigned rounds = 0;  // finished
  bool is_interrupted = false;
  std::vector<BenchFigures> kinds;
};

[[nodiscard]] std::string as_text(const BenchReport& report, const Paint& paint);
[[nodiscard]] std::string as_json(const BenchReport& report);

}  // namespace probably::cli
