// Snapshots, marks and deltas of filters that other threads insert into.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "probably/snapshot.hpp"
#include "support/any_filters.hpp"
#include "support/filters.hpp"
#include "support/streams.hpp"

namespace probably {
namespace {

using testing::contains_all;
using testing::DigestStream;

constexpr std::size_t kThreads = 3;
constexpr std::size_t kKeys = 20'000;
constexpr std::size_t kMostPerThread = 50'000;

// Threads that insert, each from a stream of its own, until they have inserted enough or the object
// goes.
template <class F>
class Inserting {
 public:
  explicit Inserting(F& filter) {
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads_.emplace_back([this, &filter, thread] {
        DigestStream stream(10 + thread);
        for (std::size_t i = 0; i < kMostPerThread && !stop_.load(std::memory_order_relaxed); ++i) {
          filter.insert(stream.next());
          counts_[thread].fetch_add(1, std::memory_order_release);
        }
      });
    }
  }
  Inserting(const Inserting&) = delete;
  Inserting& operator=(const Inserting&) = delete;
  ~Inserting() { stop_ = true; }

  // How many keys each thread has inserted by now.
  [[nodiscard]] std::vector<std::size_t> counts() const {
    std::vector<std::size_t> all;
    for (const auto& count : counts_) all.push_back(count.load(std::memory_order_acquire));
    return all;
  }

 private:
  std::atomic<bool> stop_ = false;
  std::array<std::atomic<std::size_t>, kThreads> counts_{};
  std::vector<std::jthread> threads_;
};

template <class F>
void expect_all_of(const F& filter, const std::vector<std::size_t>& counts) {
  for (std::size_t thread = 0; thread < counts.size(); ++thread) {
    EXPECT_TRUE(contains_all(filter, DigestStream(10 + thread).take(counts[thread])));
  }
}

// Of every kind, those of other software among them, by keys.
class AnySnapshotThreads : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, AnySnapshotThreads, ::testing::ValuesIn(testing::all_kinds()),
                         testing::kind_name);

TEST_P(AnySnapshotThreads, SnapshotsAndDeltasHaveWhatWasInsertedBefore) {
  AnyFilter filter = testing::make_filter(GetParam(), {.keys = kKeys, .fpr = 0.01});
  AnyFilter replica = filter.clone();
  std::atomic<std::uint64_t> inserted = 0;
  // Keys that come while this writes.
  class SinkBesideInsertions final : public ByteSink {
   public:
    explicit SinkBesideInsertions(const std::atomic<std::uint64_t>& keys) : keys_(keys) {}
    Result<void> write(std::span<const std::byte> bytes) override {
      const std::uint64_t before = keys_.load(std::memory_order_relaxed);
      while (keys_.load(std::memory_order_relaxed) == before) std::this_thread::yield();
      return sink_.write(bytes);
    }
    [[nodiscard]] BufferSource source() const { return BufferSource(sink_.bytes()); }

   private:
    const std::atomic<std::uint64_t>& keys_;
    BufferSink sink_;
  };
  const auto expect_first = [](const AnyFilter& some, std::uint64_t count) {
    for (std::uint64_t key = 0; key < std::min<std::uint64_t>(count, kKeys); ++key) {
      ASSERT_TRUE(some.contains(key)) << key;
    }
  };
  Mark last(filter);  // of the bits that the replica has
  // Last, so that it ends first.
  const std::jthread inserting([&](const std::stop_token& stop) {
    for (std::uint64_t key = 0; !stop.stop_requested(); ++key) {
      filter.insert(key);
      inserted.store(key + 1, std::memory_order_release);
    }
  });
  for (std::uint64_t round = 0; round < 5; ++round) {
    while (inserted.load(std::memory_order_acquire) < round * kKeys / 4) std::this_thread::yield();
    const std::uint64_t before = inserted.load(std::memory_order_acquire);
    SinkBesideInsertions snapshot(inserted);
    ASSERT_TRUE(save(filter, snapshot));
    BufferSource source = snapshot.source();
    expect_first(open(source).value(), before);
    Mark next(filter);
    SinkBesideInsertions changes(inserted);
    ASSERT_TRUE(save_delta(filter, last, changes));
    last = next;
    BufferSource from = changes.source();
    ASSERT_TRUE(apply_delta(replica, from));
    expect_first(replica, before);
  }
}

template <class F>
class SnapshotThreads : public ::testing::Test {};
TYPED_TEST_SUITE(SnapshotThreads, testing::AllFilterTypes, testing::KindName);

TYPED_TEST(SnapshotThreads, ASnapshotHasWhatWasInsertedBefore) {
  auto filter = TypeParam::create(Plan{.keys = kKeys, .fpr = 0.01}).value();
  Inserting inserting(filter);
  for (int round = 0; round < 10; ++round) {
    const auto before = inserting.counts();
    BufferSink sink;
    ASSERT_TRUE(save(filter, sink, {.sparse = round % 2 == 1}));
    BufferSource source(sink.bytes());
    const auto opened = open<TypeParam>(source);
    ASSERT_TRUE(opened) << opened.error().message;
    expect_all_of(*opened, before);
  }
}

TYPED_TEST(SnapshotThreads, DeltasBringAReplicaUpToDate) {
  auto filter = TypeParam::create(Plan{.keys = kKeys, .fpr = 0.01}).value();
  auto replica = filter.clone();
  Mark last(filter);
  Inserting inserting(filter);
  for (int round = 0; round < 10; ++round) {
    const auto before = inserting.counts();
    Mark next(filter);
    BufferSink sink;
    ASSERT_TRUE(save_delta(filter, last, sink));
    last = next;
    BufferSource source(sink.bytes());
    ASSERT_TRUE(apply_delta(replica, source));
    expect_all_of(replica, before);
  }
}

}  // namespace
}  // namespace probably
