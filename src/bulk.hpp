// Millions of keys into a filter that the cache does not hold.
//
// One key after the other costs a random cache line each. Here the keys are first sorted, roughly,
// by the part of the filter that they fall into, which writes and reads memory in order, and then
// each part is filled while it is in the cache. Parts are whole lines, and one thread at a time
// owns one: no atomic operation, no line that two threads write.
//
//   round     every thread distributes keys of its share to its own bins, until one bin is full
//   barrier   then the threads take part after part, and fill it from everybody's bins
//   barrier   and so on, until no keys are left
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <thread>
#include <vector>

#include "probably/batch.hpp"
#include "probably/storage.hpp"
#include "simd/kernels.hpp"

namespace probably::detail {

// A thread among others that run side by side.
struct Member {
  unsigned number;
  unsigned count;
  std::barrier<>& barrier;
};

// Calls work(member) in up to `wanted` threads, this one included; in fewer, if the system has not
// so many. Throws std::bad_alloc, before any call.
template <class Work>
void run_in_team(unsigned wanted, Work&& work) {
  std::atomic<unsigned> count = 0;  // not known before all threads are there
  std::barrier<> barrier(wanted);
  const auto join = [&](unsigned number) {
    // Relaxed: the thread's start published all but this number.
    count.wait(0, std::memory_order_relaxed);
    work(Member{number, count.load(std::memory_order_relaxed), barrier});
  };
  std::vector<std::jthread> others;
  try {
    others.reserve(wanted - 1);
    while (others.size() + 1 < wanted) {
      others.emplace_back(join, static_cast<unsigned>(others.size() + 1));
    }
  } catch (const std::exception&) {
    // The work is divided by whoever came.
  }
  const auto came = static_cast<unsigned>(others.size() + 1);
  for (unsigned i = came; i < wanted; ++i) barrier.arrive_and_drop();
  count.store(came, std::memory_order_relaxed);
  count.notify_all();
  join(0);
}

// How a filter is cut into parts of 2^shift blocks.
struct Parts {
  unsigned shift = 0;
  std::size_t count = 1;

  // Lines of one part.
  [[nodiscard]] std::uint64_t lines(std::size_t block_words) const noexcept {
    return (block_words << shift) * sizeof(std::uint64_t) / kCacheLineBytes;
  }

  // Parts of about a second-level cache, and no more of them than a processor can write to
  // side by side.
  static Parts of(std::uint64_t blocks, std::size_t block_bytes) noexcept {
    constexpr std::size_t kPartBytes = 512 * 1024;
    constexpr std::size_t kMaxParts = 1024;
    auto shift = static_cast<unsigned>(std::countr_zero(kPartBytes / block_bytes));
    while ((blocks - 1) >> shift >= kMaxParts) ++shift;
    return {shift, static_cast<std::size_t>((blocks - 1) >> shift) + 1};
  }
};

// The bins of one thread: for every part up to `room` digests.
class Bins {
 public:
  // Requires: memory for at least one digest per part.
  Bins(std::span<Digest> memory, std::size_t parts)
      : room_(memory.size() / parts), digests_(memory.data()) {
    // Room behind the end keeps the arrays of two threads off one line.
    ends_.reserve(parts + kCacheLineBytes / sizeof(void*));
    ends_.resize(parts);
    clear();
  }

  void clear() noexcept {
    for (std::size_t part = 0; part < ends_.size(); ++part) ends_[part] = begin(part);
  }
  // How many keys may come before somebody looks again whether a bin is full: as many as fit into
  // the fullest.
  [[nodiscard]] std::size_t left() const noexcept {
    std::ptrdiff_t longest = 0;
    for (std::size_t part = 0; part < ends_.size(); ++part) {
      longest = std::max(longest, ends_[part] - begin(part));
    }
    return room_ - static_cast<std::size_t>(longest);
  }
  // Below that many a round ends: looks would come too often.
  [[nodiscard]] std::size_t least() const noexcept { return std::max<std::size_t>(1, room_ / 16); }
  // Where the next digest of each bin goes.
  [[nodiscard]] Digest** ends() noexcept { return ends_.data(); }
  [[nodiscard]] std::span<const Digest> operator[](std::size_t part) const noexcept {
    return {begin(part), ends_[part]};
  }

 private:
  [[nodiscard]] Digest* begin(std::size_t part) const noexcept { return digests_ + part * room_; }

  std::size_t room_;
  Digest* digests_;
  std::vector<Digest*> ends_;
};

template <LineLayout L>
class BulkInsertion {
 public:
  BulkInsertion(const L& layout, std::uint64_t* words, const KeySource& keys, Parts parts,
                std::span<Digest> scratch, unsigned threads)
      : layout_(layout), words_(words), keys_(keys), parts_(parts) {
    bins_.reserve(threads);
    const std::size_t share = scratch.size() / threads;
    for (unsigned i = 0; i < threads; ++i) {
      bins_.emplace_back(scratch.subspan(i * share, share), parts.count);
    }
  }

  std::uint64_t run() {
    run_in_team(static_cast<unsigned>(bins_.size()), [&](const Member& me) { work(me); });
    return fresh_.load(std::memory_order_relaxed);
  }

 private:
  void work(const Member& me) noexcept {
    // A share of the keys for each thread.
    const std::size_t share = keys_.size() / me.count;
    std::size_t next = share * me.number;
    const std::size_t end = me.number + 1 == me.count ? keys_.size() : next + share;
    std::uint64_t fresh = 0;
    for (bool again = true; again;) {
      bins_[me.number].clear();
      next = distribute(next, end, bins_[me.number]);
      if (next < end) unfinished_.store(true, std::memory_order_relaxed);
      me.barrier.arrive_and_wait();
      again = unfinished_.load(std::memory_order_relaxed);
      fresh += fill_parts(me.count);
      me.barrier.arrive_and_wait();
      if (me.number == 0) {
        next_part_.store(0, std::memory_order_relaxed);
        unfinished_.store(false, std::memory_order_relaxed);
      }
      me.barrier.arrive_and_wait();
    }
    fresh_.fetch_add(fresh, std::memory_order_relaxed);
  }

  // Returns the first key that was left for the next round.
  std::size_t distribute(std::size_t next, std::size_t end, Bins& bins) const noexcept {
    const auto distribute_chunk = kernels().of(layout_).distribute;
    while (next < end) {
      const std::size_t left = bins.left();
      if (left < bins.least()) break;
      const std::size_t count = std::min(left, end - next);
      distribute_chunk(layout_, keys_.part(next, count), parts_.shift, bins.ends());
      next += count;
    }
    return next;
  }

  std::uint64_t fill_parts(unsigned count) noexcept {
    const auto fill = kernels().of(layout_).fill;
    std::uint64_t fresh = 0;
    for (;;) {
      const std::size_t part = next_part_.fetch_add(1, std::memory_order_relaxed);
      if (part >= parts_.count) return fresh;
      std::size_t digests = 0;
      for (unsigned i = 0; i < count; ++i) digests += bins_[i][part].size();
      // Few keys, as in a short last round, meet few lines.
      if (digests >= parts_.lines(L::kBlockWords)) fetch_lines(part);
      for (unsigned i = 0; i < count; ++i) {
        fresh += fill(layout_, words_, KeySource(bins_[i][part]), true, nullptr);
      }
    }
  }

  // Brings the part into the cache. Plain loads in order, which the processor runs ahead of:
  // prefetch instructions get lost when too many are under way.
  void fetch_lines(std::size_t part) const noexcept {
    const std::uint64_t first = std::uint64_t{part} << parts_.shift;
    const std::uint64_t end =
        std::min(layout_.last_block() + 1, first + (std::uint64_t{1} << parts_.shift));
    constexpr std::size_t kLineWords = kCacheLineBytes / sizeof(std::uint64_t);
    for (std::uint64_t word = first * L::kBlockWords; word < end * L::kBlockWords;
         word += kLineWords) {
      static_cast<void>(*static_cast<const volatile std::uint64_t*>(words_ + word));
    }
  }

  const L& layout_;
  std::uint64_t* words_;
  const KeySource& keys_;
  Parts parts_;
  std::vector<Bins> bins_;
  // Relaxed in every use: the barrier orders them.
  std::atomic<bool> unfinished_ = false;
  std::atomic<std::size_t> next_part_ = 0;
  std::atomic<std::uint64_t> fresh_ = 0;
};

template <LineLayout L>
std::uint64_t insert_bulk(const L& layout, std::uint64_t* words, std::uint64_t size_bytes,
                          const KeySource& keys, const BulkOptions& options) {
  constexpr std::size_t kBlockBytes = L::kBlockWords * sizeof(std::uint64_t);
  // To sort pays when several keys share a line; below that it costs what it saves.
  constexpr std::uint64_t kKeysPerLine = 4;
  const Parts parts = Parts::of(layout.last_block() + 1, kBlockBytes);
  const std::uint64_t lines = (size_bytes + kCacheLineBytes - 1) / kCacheLineBytes;
  // More than the keys, since bins do not fill evenly, and a round ends before one is full.
  const std::uint64_t all = keys.size() + keys.size() / 8 + 64 * parts.count;
  const std::uint64_t granted = options.scratch_bytes != 0 ? options.scratch_bytes : size_bytes;
  const auto room = static_cast<std::size_t>(std::min(all, granted / sizeof(Digest)));
  if (parts.count == 1 || room < kKeysPerLine * lines) {
    return fill_batch(layout, words, keys, nullptr);
  }
  // Each thread has a share worth its start, and bins of some size.
  constexpr std::size_t kLeastShare = 65'536;
  const std::size_t wanted =
      options.threads != 0 ? options.threads : std::thread::hardware_concurrency();
  const std::size_t useful = std::min(parts.count, keys.size() / kLeastShare);
  const auto threads =
      static_cast<unsigned>(std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(useful, 1)));
  Storage scratch = Storage::allocate(room * sizeof(Digest), {}).value();
  const std::span<Digest> digests(reinterpret_cast<Digest*>(scratch.mutable_words()), room);
  return BulkInsertion<L>(layout, words, keys, parts, digests, threads).run();
}

}  // namespace probably::detail
