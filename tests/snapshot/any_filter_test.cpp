// What every kind promises, those of other software among them, as far as AnyFilter can ask: verbs,
// snapshots and deltas with keys that are strings.
#include "probably/any_filter.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "probably/snapshot.hpp"
#include "support/any_filters.hpp"
#include "support/filters.hpp"
#include "support/mapping.hpp"
#include "support/temporary_file.hpp"

namespace probably {
namespace {

using testing::Answers;
using testing::make_filter;
using testing::TemporaryFile;
using testing::text_keys;

using Bytes = std::vector<std::byte>;
using Keys = std::vector<std::string>;

std::uint64_t add(AnyFilter& filter, const Keys& keys) { return filter.insert(std::span(keys)); }

bool contains_all(const AnyFilter& filter, const Keys& keys) {
  Answers answers(keys.size());
  filter.contains(std::span(keys), answers.span());
  return answers.trues() == keys.size();
}

Bytes snapshot_of(const AnyFilter& filter, const SaveOptions& options = {}) {
  BufferSink sink;
  save(filter, sink, options).value();
  return sink.bytes();
}

template <class Since>
Bytes delta_of(const AnyFilter& filter, const Since& since) {
  BufferSink sink;
  save_delta(filter, since, sink).value();
  return sink.bytes();
}

Result<void> apply_bytes(AnyFilter& filter, const Bytes& bytes) {
  BufferSource source(bytes);
  return apply_delta(filter, source);
}

class EveryKind : public ::testing::TestWithParam<Kind> {
 protected:
  [[nodiscard]] static AnyFilter empty() { return make_filter(GetParam()); }
  [[nodiscard]] static AnyFilter filled(const Keys& keys) {
    AnyFilter filter = empty();
    add(filter, keys);
    return filter;
  }

  const Keys first_ = text_keys("first", 700);
  const Keys second_ = text_keys("second", 700);
};

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind, ::testing::ValuesIn(testing::all_kinds()),
                         testing::kind_name);

TEST_P(EveryKind, ContainsEveryInsertedKeyAndFewOthers) {
  AnyFilter filter = empty();
  EXPECT_EQ(filter.kind(), GetParam());
  EXPECT_FALSE(filter.contains("first 0"));
  for (const std::string& key : first_) {
    const bool contained = filter.contains(key);
    ASSERT_EQ(filter.insert(key), !contained);
    ASSERT_TRUE(filter.contains(key));
    ASSERT_FALSE(filter.insert(key));
  }
  EXPECT_TRUE(contains_all(filter, first_));
  // 10,000 others at the rate of a filter that has 700 of 1,000 keys: at most 100 are expected, and
  // the hashes of other software do somewhat worse than theory.
  Answers found(10'000);
  const Keys others = text_keys("other", 10'000);
  filter.contains(std::span(others), found.span());
  EXPECT_LE(found.trues(), 150u);
  EXPECT_NEAR(filter.approximate_size().value, 700, 70);
}

TEST_P(EveryKind, BatchesEqualSingleCalls) {
  for (const std::size_t size : {0u, 1u, 2u, 15u, 16u, 17u, 255u, 256u, 257u, 700u}) {
    Keys keys(first_.begin(), first_.begin() + static_cast<std::ptrdiff_t>(size));
    for (std::size_t i = 2; i < size; i += 3) keys[i] = keys[i / 2];
    AnyFilter single = empty();
    AnyFilter counted = empty();
    AnyFilter told = empty();
    Answers was_new(size);
    const std::uint64_t fresh = told.insert(std::span(keys), was_new.span());
    EXPECT_EQ(add(counted, keys), fresh);
    EXPECT_EQ(was_new.trues(), fresh);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(single.insert(keys[i]), was_new[i]);
    EXPECT_EQ(single, counted);
    EXPECT_EQ(single, told);
    Answers found(second_.size());
    single.contains(std::span(second_), found.span());
    for (std::size_t i = 0; i < second_.size(); ++i) {
      ASSERT_EQ(single.contains(second_[i]), found[i]);
    }
  }
}

TEST_P(EveryKind, InsertsAloneAsBesideOthers) {
  AnyFilter alone = empty();
  AnyFilter beside = empty();
  // Beyond the plan, so that chains grow.
  for (const Keys& keys : {first_, first_, second_, text_keys("third", 5000)}) {
    Answers alone_new(keys.size());
    Answers beside_new(keys.size());
    const AnyFilter before = alone.clone();
    const std::uint64_t fresh = alone.insert_alone(std::span(keys), alone_new.span());
    EXPECT_EQ(fresh, alone_new.trues());
    AnyFilter unasked = before.clone();
    EXPECT_EQ(unasked.insert_alone(std::span(keys)), fresh);
    EXPECT_EQ(unasked, alone);
    AnyDigests digests;
    beside.hash(std::span(keys), digests);
    ASSERT_EQ(digests.size(), keys.size());
    beside.insert(digests, beside_new.span());
    for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(alone_new[i], beside_new[i]) << i;
    EXPECT_TRUE(contains_all(alone, keys));
  }
  EXPECT_EQ(alone, beside);
  EXPECT_EQ(alone.size_bytes(), beside.size_bytes());
}

// A link that is full stays the last until a new key comes.
TEST_P(EveryKind, KnownKeysDoNotMakeItGrow) {
  AnyFilter filter = make_filter(GetParam(), {.keys = 64, .fpr = 0.001});
  const Keys keys = text_keys("key", 64);
  for (const std::string& key : keys) filter.insert_alone(std::span(&key, 1));
  const AnyFilter before = filter.clone();
  EXPECT_EQ(filter.insert_alone(std::span(keys)), 0u);
  EXPECT_EQ(filter, before);
  EXPECT_EQ(filter.size_bytes(), before.size_bytes());
}

TEST_P(EveryKind, TakesKeysThatWereHashedBefore) {
  AnyFilter filter = empty();
  AnyDigests digests;
  Answers none(0);
  filter.contains(digests, none.span());
  // Used before, for another kind.
  make_filter(GetParam() == Kind::go_bloom ? Kind::dcso : Kind::go_bloom)
      .hash(std::span(first_), digests);
  filter.hash(std::span(second_), digests);
  Answers answers(second_.size());
  filter.contains(digests, answers.span());
  EXPECT_EQ(answers.trues(), 0u);
  const std::uint64_t fresh = filter.insert_alone(digests, answers.span());
  EXPECT_EQ(fresh, answers.trues());
  EXPECT_EQ(filter, filled(second_));
  filter.contains(digests, answers.span());
  EXPECT_EQ(answers.trues(), second_.size());
}

TEST_P(EveryKind, IsClearedClonedAndMoved) {
  AnyFilter filter = filled(first_);
  AnyFilter copy = filter.clone();
  EXPECT_EQ(copy, filter);
  add(copy, second_);
  EXPECT_NE(copy, filter);
  EXPECT_EQ(filter, filled(first_));
  const AnyFilter moved = std::move(copy);
  EXPECT_TRUE(contains_all(moved, first_));
  EXPECT_TRUE(contains_all(moved, second_));
  filter.clear();
  EXPECT_EQ(filter, empty());
}

TEST_P(EveryKind, MergesWithItsLikeOnly) {
  const AnyFilter a = filled(first_);
  const AnyFilter b = filled(second_);
  AnyFilter ab = a.clone();
  AnyFilter ba = b.clone();
  ASSERT_TRUE(ab.merge(b));
  ASSERT_TRUE(ba.merge(a));
  EXPECT_EQ(ab, ba);
  EXPECT_TRUE(contains_all(ab, first_));
  EXPECT_TRUE(contains_all(ab, second_));
  ASSERT_TRUE(ab.merge(b));
  EXPECT_EQ(ab, ba) << "twice is as good as once";
  for (const Kind other : testing::all_kinds()) {
    const AnyFilter refused =
        other == GetParam() ? make_filter(other, {.keys = 5000, .fpr = 0.02}) : make_filter(other);
    const auto merged = ab.merge(refused);
    ASSERT_FALSE(merged);
    EXPECT_EQ(merged.error().code, ErrorCode::incompatible);
    EXPECT_EQ(ab, ba);
  }
}

TEST_P(EveryKind, IsSavedAndOpened) {
  // Twice as many keys as planned: chains have grown.
  AnyFilter filter = filled(first_);
  add(filter, second_);
  for (const bool sparse : {false, true}) {
    const Bytes bytes = snapshot_of(filter, {.sparse = sparse});
    BufferSource source(bytes);
    EXPECT_EQ(open(source).value(), filter);
    const TemporaryFile file(bytes);
    EXPECT_EQ(open(file.path()).value(), filter);
    EXPECT_TRUE(verify(file.path()));
    EXPECT_EQ(peek(file.path()).value().kind, GetParam());
  }
  const TemporaryFile file(snapshot_of(filter));
  const auto mapped = map(file.path());
  if (testing::is_mapped(mapped)) {
    EXPECT_EQ(**mapped, filter);
    EXPECT_TRUE(contains_all(**mapped, second_));
  }
  AnyFilter again = open(file.path()).value();
  EXPECT_EQ(add(again, text_keys("third", 700)), add(filter, text_keys("third", 700)));
  EXPECT_EQ(again, filter) << "both go on alike";
}

TEST_P(EveryKind, ReplicasExchangeDeltas) {
  AnyFilter filter = filled(first_);
  const AnyFilter old = filter.clone();
  const Mark mark(filter);
  add(filter, second_);
  for (const Bytes& delta : {delta_of(filter, old), delta_of(filter, mark)}) {
    AnyFilter replica = old.clone();
    ASSERT_TRUE(apply_bytes(replica, delta));
    ASSERT_TRUE(apply_bytes(replica, delta));
    EXPECT_EQ(replica, filter);
    AnyFilter behind = empty();
    ASSERT_TRUE(apply_bytes(behind, delta));
    ASSERT_TRUE(apply_bytes(behind, snapshot_of(old)));
    EXPECT_EQ(behind, filter) << "in any order";
    for (const Kind other : testing::all_kinds()) {
      if (other == GetParam()) continue;
      AnyFilter stranger = make_filter(other);
      const auto refused = apply_bytes(stranger, delta);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::incompatible);
      EXPECT_EQ(stranger, make_filter(other));
    }
  }
}

}  // namespace
}  // namespace probably
