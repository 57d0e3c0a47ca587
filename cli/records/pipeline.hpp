// A pipeline: items go through stages in turn, several items at a time, by several threads.
//
//   Pipeline<Item> pipeline;
//   pipeline.source([&](Item& item) { return read(item); });   // false: there are no more
//   pipeline.in_parallel([](Item& item) { hash(item); });
//   pipeline.in_order([&](Item& item) { insert(item); });
//   pipeline.run(threads);
//
// A stage that is in order sees the items one by one, in the order in which they were read, so what
// comes out does not depend on the number of threads. Items are used again: their memory is that of
// the largest.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace probably::cli {

template <class Item>
class Pipeline {
 public:
  // The first stage, which fills items, in order. It is not called again once it returned false.
  void source(std::function<bool(Item&)> fill) { fill_ = std::move(fill); }
  // Called when a stage has failed, so that a source that waits comes back.
  void on_failure(std::function<void()> work) { on_failure_ = std::move(work); }
  void in_order(std::function<void(Item&)> work) { stages_.push_back({std::move(work), true}); }
  void in_parallel(std::function<void(Item&)> work) { stages_.push_back({std::move(work), false}); }

  // Until the source has ended and everything that it gave has passed. An exception of the source
  // is its end, and is thrown here after that; one of a stage ends all. Requires: threads > 0.
  void run(unsigned threads) {
    slots_.resize(std::size_t{2} * threads + (threads > 1 ? 2 : 0));
    std::vector<std::jthread> others;
    try {
      for (unsigned i = 1; i < threads; ++i) others.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // Fewer threads do it, too.
    }
    work();
    others.clear();
    if (error_) std::rethrow_exception(error_);
    if (source_error_) std::rethrow_exception(source_error_);
  }

 private:
  struct Stage {
    std::function<void(Item&)> work;
    bool is_ordered;
    std::uint64_t next = 0;  // the item that an ordered stage takes next
    bool is_busy = false;    // an ordered stage is at work
  };
  struct Slot {
    Item item;
    std::size_t stage = kFree;  // which it waits for, or is in
    bool is_busy = false;
  };
  struct Task {
    Slot* slot;
    std::size_t stage;
  };
  static constexpr std::size_t kFree = ~std::size_t{0};
  static constexpr std::size_t kSource = kFree - 1;

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Task task{};
      changed_.wait(lock, [&] { return is_done() || (task = choose()).slot != nullptr; });
      if (task.slot == nullptr) break;
      start(task);
      lock.unlock();
      bool has_more = true;
      std::exception_ptr error;
      try {
        if (task.stage == kSource) {
          has_more = fill_(task.slot->item);
        } else {
          stages_[task.stage].work(task.slot->item);
        }
      } catch (...) {
        error = std::current_exception();
      }
      const bool has_source_failed = error && task.stage == kSource;
      if (error && !has_source_failed && on_failure_) on_failure_();
      lock.lock();
      if (has_source_failed) {
        has_more = false;
        source_error_ = error;
      } else if (error && !error_) {
        error_ = error;
      }
      finish(task, has_more);
      changed_.notify_all();
    }
  }

  [[nodiscard]] bool is_done() const {
    return error_ != nullptr || (source_ended_ && passed_ == read_);
  }

  // What lies nearest to the end first: that is what frees slots.
  [[nodiscard]] Task choose() {
    for (std::size_t stage = stages_.size(); stage-- > 0;) {
      if (stages_[stage].is_ordered) {
        Slot& slot = slots_[stages_[stage].next % slots_.size()];
        if (!stages_[stage].is_busy && slot.stage == stage && !slot.is_busy) return {&slot, stage};
        continue;
      }
      // The oldest.
      for (std::uint64_t i = passed_; i < read_; ++i) {
        Slot& slot = slots_[i % slots_.size()];
        if (slot.stage == stage && !slot.is_busy) return {&slot, stage};
      }
    }
    Slot& slot = slots_[read_ % slots_.size()];
    if (!source_ended_ && !source_is_busy_ && slot.stage == kFree) return {&slot, kSource};
    return {nullptr, 0};
  }

  void start(const Task& task) {
    task.slot->is_busy = true;
    if (task.stage == kSource) {
      source_is_busy_ = true;
    } else if (stages_[task.stage].is_ordered) {
      stages_[task.stage].is_busy = true;
    }
  }

  void finish(const Task& task, bool has_more) {
    task.slot->is_busy = false;
    if (task.stage == kSource) {
      source_is_busy_ = false;
      if (!has_more) {
        source_ended_ = true;
        return;
      }
      task.slot->stage = 0;
      ++read_;
    } else {
      Stage& stage = stages_[task.stage];
      stage.is_busy = false;
      ++stage.next;
      task.slot->stage = task.stage + 1;
    }
    if (task.slot->stage == stages_.size()) {
      task.slot->stage = kFree;
      ++passed_;
    }
  }

  std::function<bool(Item&)> fill_;
  std::function<void()> on_failure_;
  std::vector<Stage> stages_;
  std::vector<Slot> slots_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t read_ = 0;    // items that the source gave
  std::uint64_t passed_ = 0;  // items that left the last stage
  bool source_is_busy_ = false;
  bool source_ended_ = false;
  std::exception_ptr error_;  // of a stage
  std::exception_ptr source_error_;
};

}  // namespace probably::cli
