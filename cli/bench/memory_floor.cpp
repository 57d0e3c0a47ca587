#include "bench/memory_floor.hpp"

#include <algorithm>
#include <cstddef>

#include "bench/clock.hpp"
#include "trouble.hpp"

namespace probably::cli {
namespace {

using Numbers = std::span<const std::uint64_t>;

constexpr std::size_t kRow = 1 << 16;
constexpr std::size_t kDependentRow = 1 << 13;  // takes as long
constexpr std::uint64_t kLineWords = kCacheLineBytes / sizeof(std::uint64_t);

// Which word of so many lines a random number stands for.
std::uint64_t word_of(std::uint64_t number, std::uint64_t lines) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{number} * lines) >> 64) * kLineWords;
}

std::uint64_t read_ahead(const std::uint64_t* words, std::uint64_t lines, Numbers random,
                         std::size_t ahead) noexcept {
  std::uint64_t sum = 0;
  const std::size_t last = random.size() - 1;
  for (std::size_t i = 0; i < random.size(); ++i) {
    __builtin_prefetch(words + word_of(random[std::min(i + ahead, last)], lines));
    sum += words[word_of(random[i], lines)];
  }
  return sum;
}

// The processor alone looks ahead: best where the cache holds all.
std::uint64_t read_plainly(const std::uint64_t* words, std::uint64_t lines,
                           Numbers random) noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t number : random) sum += words[word_of(number, lines)];
  return sum;
}

}  // namespace

MemoryFloor::MemoryFloor(std::uint64_t size_bytes)
    : storage_(expect(Storage::allocate(size_bytes, {.prefault = true}))),
      lines_(storage_.size_bytes() / kCacheLineBytes) {}

double MemoryFloor::independent_ns(Numbers random) const {
  const std::uint64_t* const words = storage_.words();
  double best =
      best_row_ns(random, kRow, [&](Numbers some) { keep(read_plainly(words, lines_, some)); });
  for (const std::size_t ahead : {16u, 32u, 64u}) {
    best = std::min(best, best_row_ns(random, kRow, [&](Numbers some) {
                      keep(read_ahead(words, lines_, some, ahead));
                    }));
  }
  return best;
}

double MemoryFloor::dependent_ns(Numbers random) const {
  const std::uint64_t* const words = storage_.words();
  std::uint64_t last = 0;  // always zero, but only the loaded word says so
  return best_row_ns(random, kDependentRow, [&](Numbers some) {
    for (const std::uint64_t number : some) last = words[word_of(number + last, lines_)];
    keep(last);
  });
}

}  // namespace probably::cli
