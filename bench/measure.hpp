// What the programs of the suite share: keys, a clock, and records, one JSON object a line, from
// which bench/report makes docs/benchmarks.md. A program prints a record for every round; the
// report computes the best and the median.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

namespace bench {

inline constexpr double kFpr = 0.01;

// The output function of splitmix64: distinct numbers for distinct numbers, and all look random.
inline std::uint64_t mix(std::uint64_t z) noexcept {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Keys from here on are never inserted.
inline constexpr std::uint64_t kAbsent = std::uint64_t{1} << 50;

// The keys mix(first), mix(first + 1), ...
inline std::vector<std::uint64_t> make_keys(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = mix(first + i);
  return keys;
}

// Nanoseconds per operation.
template <class Run>
double time_ns(std::uint64_t operations, Run&& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(operations);
}

// Calls work(0), work(1), ... in a thread each; the last in this one.
template <class Work>
void in_threads(unsigned count, Work&& work) {
  std::vector<std::jthread> others;
  for (unsigned i = 0; i + 1 < count; ++i) others.emplace_back([&work, i] { work(i); });
  work(count - 1);
}

// Keeps `value`, and all that it was computed from, alive in the optimiser's eyes.
template <class T>
void keep(const T& value) noexcept {
  asm volatile("" : : "r,m"(value) : "memory");
}

// The instructions that this program may use outside the library.
#if defined(__AVX2__)
inline constexpr std::string_view kBuild = "avx2";
#else
inline constexpr std::string_view kBuild = "baseline";
#endif

// One line of output: Record("time").add("keys", 1000).add("ns", 2.5).print();
// Names and texts are ours and need no escaping.
class Record {
 public:
  explicit Record(std::string_view subject) { add("subject", subject); }

  template <class T>
  Record& add(std::string_view name, const T& value) {
    text_ += text_.empty() ? "{\"" : ", \"";
    text_ += name;
    text_ += "\": ";
    if constexpr (std::is_same_v<T, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_floating_point_v<T>) {
      char digits[32];
      std::snprintf(digits, sizeof(digits), "%.6g", static_cast<double>(value));
      text_ += digits;
    } else if constexpr (std::is_integral_v<T>) {
      text_ += std::to_string(value);
    } else {
      text_ += '"';
      text_ += value;
      text_ += '"';
    }
    return *this;
  }
  void print() const {
    std::printf("%s}\n", text_.c_str());
    std::fflush(stdout);
  }

 private:
  std::string text_;
};

}  // namespace bench
