// What memory itself costs: the floor under every filter that the cache does not hold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "measure.hpp"
#include "probably/detail/wide.hpp"
#include "probably/storage.hpp"

namespace bench {

// Memory of a filter's size, from the filter's allocator: aligned, on huge pages, touched.
class Floor {
 public:
  static constexpr std::uint64_t kLineBytes = 64;

  explicit Floor(std::uint64_t size_bytes)
      : storage_(probably::Storage::allocate(size_bytes, {.prefault = true}).value()),
        words_(storage_.mutable_words()),
        lines_(storage_.size_bytes() / kLineBytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return lines_ * kLineBytes; }

  // One word of a random line for each number, asked for so far ahead as is best in a short trial;
  // the numbers are divided among the threads.
  [[nodiscard]] double random_line(std::span<const std::uint64_t> random,
                                   unsigned threads = 1) const {
    std::size_t best_ahead = 0;
    double best = std::numeric_limits<double>::infinity();
    for (const std::size_t ahead : {16u, 24u, 32u, 48u, 64u}) {
      const double ns = time_lines(random.first(random.size() / 4), threads, ahead);
      if (ns < best) {
        best = ns;
        best_ahead = ahead;
      }
    }
    return time_lines(random, threads, best_ahead);
  }

  // The next line is known only when the last has come.
  [[nodiscard]] double dependent_line(std::span<const std::uint64_t> random) const {
    const auto some = random.first(random.size() / 8);
    std::uint64_t last = 0;  // always zero, but only the loaded word says so
    const double ns = time_ns(some.size(), [&] {
      for (const std::uint64_t number : some) last = words_[word_of(number + last)];
    });
    keep(last);
    return ns;
  }

  // All lines in order.
  [[nodiscard]] double sequential_line() const {
    std::uint64_t sum = 0;
    const double ns = time_ns(lines_, [&] {
      for (std::uint64_t line = 0; line < lines_; ++line) sum += words_[line * kLineWords];
    });
    keep(sum);
    return ns;
  }

 private:
  static constexpr std::uint64_t kLineWords = kLineBytes / sizeof(std::uint64_t);

  [[nodiscard]] std::uint64_t word_of(std::uint64_t number) const noexcept {
    return probably::detail::multiply_wide(number, lines_).high * kLineWords;
  }

  [[nodiscard]] double time_lines(std::span<const std::uint64_t> random, unsigned threads,
                                  std::size_t ahead) const {
    return time_ns(random.size(), [&] {
      in_threads(threads, [&](unsigned i) {
        const std::size_t share = random.size() / threads;
        read_lines(random.subspan(i * share, share), ahead);
      });
    });
  }

  void read_lines(std::span<const std::uint64_t> random, std::size_t ahead) const {
    std::uint64_t sum = 0;
    const std::size_t last = random.size() - 1;
    for (std::size_t i = 0; i < random.size(); ++i) {
      __builtin_prefetch(words_ + word_of(random[std::min(i + ahead, last)]));
      sum += words_[word_of(random[i])];
    }
    keep(sum);
  }

  probably::Storage storage_;
  const std::uint64_t* words_;
  std::uint64_t lines_;
};

}  // namespace bench
