// probably bench: filters on this machine, beside one random read of its memory.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/kind.hpp"
#include "bench/machine.hpp"
#include "bench/report.hpp"
#include "commands.hpp"
#include "terminal/output.hpp"
#include "terminal/progress.hpp"
#include "terminal/terminal.hpp"
#include "trouble.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

constexpr std::uint64_t kMinKeys = 1000;  // fewer are done before a clock can tell
constexpr unsigned kMinRounds = 2;        // the first is the warm-up of the second
constexpr unsigned kMaxRounds = 5;
// No further round begins that would not end in this time.
constexpr std::chrono::duration<double> kPatience{15};

// What is going on, on a terminal. It is written between measurements, never while one runs.
class BenchProgress {
 public:
  BenchProgress() : is_shown_(is_terminal(STDERR_FILENO)) {}
  ~BenchProgress() {
    if (is_shown_) write("\r\x1b[K");
  }
  BenchProgress(const BenchProgress&) = delete;
  BenchProgress& operator=(const BenchProgress&) = delete;

  void show(std::string line) const {
    if (!is_shown_) return;
    // A line that is broken in two could not be written over.
    line.resize(std::min(line.size(), terminal_width(STDERR_FILENO) - 1));
    write(fmt::format("\r\x1b[K{}", line));
  }

 private:
  static void write(const std::string& text) {
    // Nobody is left to tell of a failure.
    static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) + 0);
  }
  bool is_shown_;
};

// The one that was asked for, or those of ours that can be planned.
std::vector<Kind> kinds_for(const BenchOptions& options, const Plan& plan) {
  if (options.kind) return {*options.kind};
  std::vector<Kind> kinds;
  for (const Kind kind : {Kind::blocked, Kind::split_block, Kind::bloom, Kind::scalable}) {
    if (const auto bytes = planned_bytes(kind, plan)) {
      kinds.push_back(kind);
    } else {
      tell(fmt::format("{} is left out: {}", probably::name(kind), bytes.error().message));
    }
  }
  if (kinds.empty()) throw Trouble("No kind can be made so.");
  return kinds;
}

void require_memory(std::uint64_t keys, const std::vector<Kind>& kinds, const Plan& plan) {
  std::uint64_t filters = 0;
  std::uint64_t largest = 0;
  for (const Kind kind : kinds) {
    const std::uint64_t bytes = expect(planned_bytes(kind, plan));
    filters += 2 * bytes;  // and as much for its floor
    largest = std::max(largest, bytes);
  }
  // Bulk insertion sorts in as much memory as the filter has.
  const std::uint64_t needed = BenchKeys::size_bytes(keys) + filters + largest;
  const auto available = available_memory();
  if (!available || needed <= *available) return;
  throw Trouble(
      fmt::format("To measure {} keys takes {} of memory, and {} are free. Take fewer --keys{}.",
                  show_count(keys), show_bytes(needed), show_bytes(*available),
                  kinds.size() > 1 ? ", or one --kind" : ""));
}

class Bench {
 public:
  Bench(const BenchOptions& options, const std::vector<Kind>& kinds, const Plan& plan,
        const StopFlag& stop)
      : stop_(stop) {
    report_.machine = this_machine();
    report_.keys = options.keys;
    report_.promised_fpr = options.fpr;
    for (const Kind kind : kinds) benches_.push_back(make_kind_bench(kind, plan));
  }

  BenchReport run() {
    using Clock = std::chrono::steady_clock;
    progress_.show("making keys");
    const BenchKeys keys(report_.keys, stop_);
    const auto start = Clock::now();
    for (unsigned round = 0; round < kMaxRounds && !stop_; ++round) {
      // As long as the rounds before, on average.
      const auto end_of_next = (Clock::now() - start) * (round + 1) / std::max(round, 1u);
      if (round >= kMinRounds && end_of_next > kPatience) break;
      run_round(keys, round);
      if (!stop_) report_.rounds = round + 1;
    }
    for (const auto& bench : benches_) report_.kinds.push_back(bench->figures());
    report_.is_interrupted = stop_;
    return report_;
  }

 private:
  void run_round(const BenchKeys& keys, unsigned round) {
    for (std::size_t i = 0; i < kBenchStepCount; ++i) {
      const auto step = static_cast<BenchStep>(i);
      for (const auto& bench : benches_) {
        if (stop_) return;
        progress_.show(fmt::format("round {} of at most {}: {}, {}", round + 1, kMaxRounds,
                                   probably::name(bench->figures().kind), name(step)));
        bench->measure(step, keys, stop_);
      }
    }
    for (const auto& bench : benches_) {
      if (round == 0 && !stop_) bench->measure_rate(report_.promised_fpr, stop_);
    }
  }

  const StopFlag& stop_;
  BenchProgress progress_;
  BenchReport report_;
  std::vector<std::unique_ptr<KindBench>> benches_;
};

}  // namespace

int run(const BenchOptions& options, const StopFlag& stop) {
  if (options.keys < kMinKeys) {
    throw Trouble(fmt::format("--keys takes {} or more: fewer are done before a clock can tell.",
                              show_count(kMinKeys)));
  }
  const Plan plan{.keys = options.keys, .fpr = options.fpr};
  expect(validate(plan));
  const std::vector<Kind> kinds = kinds_for(options, plan);
  require_memory(options.keys, kinds, plan);
  const BenchReport report = Bench(options, kinds, plan, stop).run();
  Output output;
  output.write(options.as_json ? as_json(report) : as_text(report, Paint(STDOUT_FILENO)));
  output.finish();
  if (!report.is_interrupted) return kFound;
  tell("Interrupted: there would have been more to measure.");
  return kInterrupted;
}

}  // namespace probably::cli
