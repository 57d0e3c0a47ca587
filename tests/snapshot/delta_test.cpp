// Deltas: what they carry, how large they are, and that replicas converge.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "support/filters.hpp"
#include "support/golden.hpp"
#include "support/streams.hpp"
#include "support/temporary_file.hpp"

namespace probably {
namespace {

using testing::contains_all;
using testing::DigestStream;
using testing::sample_params;
using testing::TemporaryFile;

using Bytes = std::vector<std::byte>;

template <class F>
F filled(const typename F::Params& params, std::size_t keys) {
  F filter = F::create(params).value();
  filter.insert(DigestStream(1).take(keys));
  return filter;
}

template <class F, class Since>
Bytes delta_of(const F& filter, const Since& since) {
  BufferSink sink;
  save_delta(filter, since, sink, {.created = 1}).value();
  return sink.bytes();
}

template <class F>
Result<void> apply_bytes(F& filter, const Bytes& bytes) {
  BufferSource source(bytes);
  return apply_delta(filter, source);
}

template <class F>
class Deltas : public ::testing::Test {};
TYPED_TEST_SUITE(Deltas, testing::AllFilterTypes, testing::KindName);

TYPED_TEST(Deltas, BringAnOlderFilterUpToDate) {
  for (const auto& params : sample_params<TypeParam>()) {
    auto filter = filled<TypeParam>(params, 300);
    const auto old = filter.clone();
    const Mark mark(filter);
    filter.insert(DigestStream(2).take(300));
    for (const Bytes& delta : {delta_of(filter, old), delta_of(filter, mark)}) {
      auto replica = old.clone();
      ASSERT_TRUE(apply_bytes(replica, delta));
      EXPECT_TRUE(replica == filter);
      EXPECT_TRUE(contains_all(replica, DigestStream(1).take(300)));
      EXPECT_TRUE(contains_all(replica, DigestStream(2).take(300)));
      // Twice is as good as once.
      const auto once = replica.clone();
      ASSERT_TRUE(apply_bytes(replica, delta));
      EXPECT_TRUE(replica == once);
    }
  }
}

// A mark of another filter would leave out lines that this one needs.
TYPED_TEST(Deltas, SinceAMarkOfAnotherFilterAreRefused) {
  const auto params = sample_params<TypeParam>().back();
  const auto other = filled<TypeParam>(params, 500);
  auto filter = TypeParam::create(params).value();
  filter.insert(DigestStream(2).take(500));
  BufferSink sink;
  const auto written = save_delta(filter, Mark(other), sink);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::invalid_argument);
  const TemporaryFile file;
  EXPECT_FALSE(save_delta(filter, Mark(other), file.path()));
  EXPECT_TRUE(testing::read_bytes(file.path()).empty()) << "the old file stays";
}

TYPED_TEST(Deltas, TakeWholeSnapshotsToo) {
  const auto params = sample_params<TypeParam>().back();
  const auto filter = filled<TypeParam>(params, 500);
  for (const bool sparse : {false, true}) {
    BufferSink sink;
    ASSERT_TRUE(save(filter, sink, {.sparse = sparse}));
    auto empty = TypeParam::create(params).value();
    ASSERT_TRUE(apply_bytes(empty, sink.bytes()));
    EXPECT_TRUE(empty == filter);
  }
}

TYPED_TEST(Deltas, OfNothingAreEmpty) {
  const auto filter = filled<TypeParam>(sample_params<TypeParam>().back(), 500);
  const TemporaryFile file(delta_of(filter, Mark(filter)));
  const auto info = peek(file.path());
  ASSERT_TRUE(info);
  EXPECT_TRUE(info->is_delta);
  for (const auto& section : info->sections) EXPECT_EQ(section.set_bits, 0u);
  EXPECT_TRUE(delta_of(filter, filter.clone()) == delta_of(filter, Mark(filter)));
}

TYPED_TEST(Deltas, AreNoSnapshots) {
  const auto filter = filled<TypeParam>(sample_params<TypeParam>().back(), 500);
  const TemporaryFile file(delta_of(filter, Mark(filter)));
  const auto opened = open<TypeParam>(file.path());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::unsupported);
  const auto mapped = map<TypeParam>(file.path());
  ASSERT_FALSE(mapped);
  EXPECT_EQ(mapped.error().code, ErrorCode::unsupported);
  EXPECT_TRUE(verify(file.path()));
}

TYPED_TEST(Deltas, OfOtherFiltersAreRefused) {
  const auto params = sample_params<TypeParam>();
  const auto filter = filled<TypeParam>(params.back(), 100);
  const Bytes delta = delta_of(filter, TypeParam::create(params.back()).value());
  auto other_params = TypeParam::create(params.front()).value();
  auto other_hasher = TypeParam::create(params.back(), Hasher::xxh3(1)).value();
  for (TypeParam* other : {&other_params, &other_hasher}) {
    const auto before = other->clone();
    const auto applied = apply_bytes(*other, delta);
    ASSERT_FALSE(applied);
    EXPECT_EQ(applied.error().code, ErrorCode::incompatible);
    EXPECT_TRUE(*other == before);
    BufferSink sink;
    EXPECT_FALSE(save_delta(filter, *other, sink));
    EXPECT_FALSE(save_delta(filter, Mark(*other), sink));
  }
}

TYPED_TEST(Deltas, ThatAreDamagedChangeNothing) {
  const auto params = sample_params<TypeParam>().back();
  const auto filter = filled<TypeParam>(params, 100);
  Bytes delta = delta_of(filter, TypeParam::create(params).value());
  auto replica = TypeParam::create(params).value();
  const auto before = replica.clone();
  for (std::size_t bit = 0; bit < 8 * delta.size(); bit += 97) {
    delta[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_FALSE(apply_bytes(replica, delta)) << bit;
    delta[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  for (std::size_t size = 0; size < delta.size(); size += 53) {
    ASSERT_FALSE(apply_bytes(
        replica, Bytes(delta.begin(), delta.begin() + static_cast<std::ptrdiff_t>(size))))
        << size;
  }
  EXPECT_TRUE(replica == before);
}

TYPED_TEST(Deltas, GoThroughFilesAndAnyFilter) {
  const auto params = sample_params<TypeParam>().back();
  AnyFilter filter(filled<TypeParam>(params, 100));
  const AnyFilter old = filter.clone();
  filter.insert(std::span<const int>(std::array{1, 2, 3, 4, 5}));
  const TemporaryFile file;
  ASSERT_TRUE(save_delta(filter, old, file.path()));
  AnyFilter replica = old.clone();
  ASSERT_TRUE(apply_delta(replica, file.path()));
  EXPECT_TRUE(replica == filter);
  ASSERT_TRUE(save_delta(filter, Mark(old), file.path()));
  AnyFilter second = old.clone();
  ASSERT_TRUE(apply_delta(second, file.path()));
  EXPECT_TRUE(second == replica);
}

// Three replicas insert, and send each other what changed since they last did; messages are lost,
// repeated and come in any order. When in the end every message that a replica still owes arrives,
// all hold the same.
RC_GTEST_PROP(DeltaReplicas, Converge, ()) {
  constexpr std::size_t kReplicas = 3;
  const BlockedParams params{*rc::gen::inRange<std::uint64_t>(1, 40), 8};
  std::vector<BlockedBloom> replicas;
  for (std::size_t i = 0; i < kReplicas; ++i)
    replicas.push_back(BlockedBloom::create(params).value());
  std::vector<Bytes> network;
  std::vector<Digest> all;
  std::uint64_t stream = 1;
  // What each replica has sent by now, as far as it knows that somebody got it: nothing, here.
  std::vector<BlockedBloom> sent;
  for (std::size_t i = 0; i < kReplicas; ++i) sent.push_back(BlockedBloom::create(params).value());

  const int steps = *rc::gen::inRange(1, 60);
  for (int step = 0; step < steps; ++step) {
    const auto who = *rc::gen::inRange<std::size_t>(0, kReplicas);
    switch (*rc::gen::inRange(0, 4)) {
      case 0: {
        const auto digests = DigestStream(stream++).take(*rc::gen::inRange<std::size_t>(1, 20));
        replicas[who].insert(digests);
        all.insert(all.end(), digests.begin(), digests.end());
        break;
      }
      case 1:
        network.push_back(delta_of(replicas[who], sent[who]));
        break;
      case 2:  // arrives, and may come again
        if (!network.empty()) {
          RC_ASSERT(
              apply_bytes(replicas[who], network[*rc::gen::inRange<std::size_t>(0, network.size())])
                  .has_value());
        }
        break;
      default:  // is lost
        if (!network.empty()) network.pop_back();
        break;
    }
  }
  for (std::size_t from = 0; from < kReplicas; ++from) {
    const Bytes owed = delta_of(replicas[from], sent[from]);
    for (auto& replica : replicas) RC_ASSERT(apply_bytes(replica, owed).has_value());
  }
  // The first two told before they had heard everything; the keys reached all the same.
  for (const auto& replica : replicas) {
    RC_ASSERT(contains_all(replica, all));
    RC_ASSERT(replica == replicas.front());
  }
}

TEST(DeltaLimits, AChainGrowsOnlyAsFarAsAllowed) {
  auto filter = ScalableBloom::create(ScalableParams{100, 0.01, 2}).value();
  auto replica = filter.clone();
  filter.insert(DigestStream(1).take(1000));
  const Bytes delta = delta_of(filter, replica);
  BufferSource source(delta);
  const auto applied = apply_delta(replica, source, {.max_bytes = filter.size_bytes() - 1});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::too_large);
  EXPECT_EQ(replica.link_count(), 1u);
  BufferSource again(delta);
  EXPECT_TRUE(apply_delta(replica, again, {.max_bytes = filter.size_bytes()}));
}

TEST(DeltaSizes, AreASmallPartOfASnapshot) {
  constexpr std::size_t kKeys = 200'000;
  auto filter = BlockedBloom::create({.keys = kKeys, .fpr = 0.01}).value();
  filter.insert(DigestStream(1).take(kKeys));
  BufferSink whole;
  ASSERT_TRUE(save(filter, whole));
  const auto old = filter.clone();
  const Mark mark(filter);
  filter.insert(DigestStream(2).take(kKeys / 100));
  const auto share = [&](const Bytes& delta) {
    return static_cast<double>(delta.size()) / static_cast<double>(whole.bytes().size());
  };
  RecordProperty("against_old_bits", std::to_string(share(delta_of(filter, old))));
  RecordProperty("against_a_mark", std::to_string(share(delta_of(filter, mark))));
  EXPECT_LT(share(delta_of(filter, old)), 0.10);
  EXPECT_LT(share(delta_of(filter, mark)), 0.60);
}

}  // namespace
}  // namespace probably
