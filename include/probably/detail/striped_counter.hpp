// A counter that many threads bump without sharing a cache line.
//
// Concurrency: add and total may run together; total lies between the counts before and after.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "probably/storage.hpp"

namespace probably::detail {

class StripedCounter {
 public:
  static constexpr std::size_t kStripes = 16;

  // Adds to the calling thread's stripe and returns the stripe's new value.
  std::uint64_t add(std::uint64_t amount = 1) noexcept {
    // Relaxed: a count publishes nothing.
    return stripes_[stripe_of_thread()].value.fetch_add(amount, std::memory_order_relaxed) + amount;
  }

  // Requires: no other call runs.
  void reset() noexcept {
    for (Stripe& stripe : stripes_) stripe.value.store(0, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t total() const noexcept {
    std::uint64_t sum = 0;
    for (const Stripe& stripe : stripes_) sum += stripe.value.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  struct alignas(kCacheLineBytes) Stripe {
    std::atomic<std::uint64_t> value = 0;
  };

  // Threads take the stripes in turn, each for its life.
  static std::size_t stripe_of_thread() noexcept;

  std::array<Stripe, kStripes> stripes_;
};

}  // namespace probably::detail
