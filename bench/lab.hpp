// What the labs share: digests, memory, a clock, and the one multiplication that places a digest.
//
// A lab is a program that answers one question of docs/decisions/ by measuring. It keeps its own
// copies of the candidates, so that a decision can be checked after the library has moved on.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace lab {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
__extension__ using u128 = unsigned __int128;

// The output function of splitmix64: digests for the keys 0, 1, 2, ...
inline u64 mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// The digests of absent keys start here, far from those of present keys.
inline constexpr u64 kAbsent = u64{1} << 40;

inline u64 mulhi(u64 a, u64 b) { return static_cast<u64>(static_cast<u128>(a) * b >> 64); }

// Zeroed memory, aligned and advised to sit in huge pages.
class Memory {
 public:
  explicit Memory(u64 size_bytes) : words_((size_bytes + 63) / 64 * 8) {
    void* raw = nullptr;
    if (posix_memalign(&raw, 2 << 20, words_ * 8) != 0) std::abort();
    madvise(raw, words_ * 8, MADV_HUGEPAGE);
    data_ = static_cast<u64*>(raw);
    clear();
  }
  ~Memory() { std::free(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void clear() { std::fill_n(data_, words_, u64{0}); }
  [[nodiscard]] u64* data() const { return data_; }
  [[nodiscard]] u64 lines() const { return words_ / 8; }

 private:
  u64 words_;
  u64* data_;
};

// Keeps `value` and all that it was computed from alive in the optimiser's eyes.
inline void keep(u64 value) { asm volatile("" : : "r"(value)); }

// Lowers `best` to the nanoseconds that one of the `operations` of `work` took.
template <class Work>
void time_ns(double& best, u64 operations, Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  best = std::min(best, took.count() / static_cast<double>(operations));
}

}  // namespace lab
