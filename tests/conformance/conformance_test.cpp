// What every kind promises, tested for every kind in kinds.hpp over all sample geometries.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/filters.hpp"
#include "support/streams.hpp"

namespace probably {
namespace {

using testing::Answers;
using testing::contains_all;
using testing::count_found;
using testing::DigestStream;
using testing::sample_params;

template <class F>
class Conformance : public ::testing::Test {
 protected:
  static F create(const typename F::Params& params, const Hasher& hasher = {}) {
    return F::create(params, hasher).value();
  }
  static F create(const Plan& plan) { return F::create(plan).value(); }

  // A filter of these params that holds these digests.
  static F filled(const typename F::Params& params, std::span<const Digest> digests) {
    F filter = create(params);
    filter.insert(digests);
    return filter;
  }
};

TYPED_TEST_SUITE(Conformance, testing::AllFilterTypes, testing::KindName);

TYPED_TEST(Conformance, ContainsEveryInsertedKey) {
  for (const auto& params : sample_params<TypeParam>()) {
    TypeParam filter = this->create(params);
    std::vector<Digest> inserted;
    for (const Digest digest : DigestStream(1).take(3'000)) {
      filter.insert(digest);
      ASSERT_TRUE(filter.contains(digest));
      inserted.push_back(digest);
    }
    for (const Digest digest : inserted) ASSERT_TRUE(filter.contains(digest));
    EXPECT_TRUE(contains_all(filter, inserted));
  }
}

TYPED_TEST(Conformance, AnEmptyFilterContainsNothing) {
  for (const auto& params : sample_params<TypeParam>()) {
    const TypeParam filter = this->create(params);
    EXPECT_EQ(count_found(filter, DigestStream(1).take(1'000)), 0u);
    EXPECT_FALSE(filter.contains(Digest{0}));
    EXPECT_FALSE(filter.contains(Digest{~std::uint64_t{0}}));
    EXPECT_EQ(filter.fill_ratio(), 0);
    EXPECT_EQ(filter.estimated_fpr(), 0);
    EXPECT_EQ(filter.approximate_size().value, 0);
    EXPECT_EQ(filter.approximate_size().standard_error, 0);
  }
}

// A key is new exactly if the filter did not contain it, and afterwards it is not.
TYPED_TEST(Conformance, InsertReturnsWhetherTheKeyWasNew) {
  for (const auto& params : sample_params<TypeParam>()) {
    TypeParam filter = this->create(params);
    for (const Digest digest : DigestStream(2).take(1'000)) {
      const bool contained = filter.contains(digest);
      ASSERT_EQ(filter.insert(digest), !contained);
      ASSERT_FALSE(filter.insert(digest));
    }
  }
}

TYPED_TEST(Conformance, NearlyAllKeysOfAPlanAreNew) {
  TypeParam filter = this->create(Plan{.keys = 10'000, .fpr = 0.001});
  // Fewer than one in a thousand is taken for known, for most of the time far fewer.
  EXPECT_GE(filter.insert(DigestStream(3).take(10'000)), 9'980u);
}

TYPED_TEST(Conformance, BatchesEqualSingleCalls) {
  std::vector<std::size_t> sizes(101);
  std::iota(sizes.begin(), sizes.end(), std::size_t{0});
  for (const std::size_t size : {255u, 256u, 257u, 511u, 1'000u, 4'096u}) sizes.push_back(size);
  for (const auto& params : sample_params<TypeParam>()) {
    for (const std::size_t size : sizes) {
      // Every third key comes twice in the batch.
      std::vector<Digest> batch = DigestStream(4).take(size);
      for (std::size_t i = 2; i < size; i += 3) batch[i] = batch[i / 2];
      TypeParam single = this->create(params);
      TypeParam counted = this->create(params);
      TypeParam told = this->create(params);
      Answers was_new(size);
      std::uint64_t fresh = 0;
      const std::uint64_t counted_fresh = counted.insert(batch);
      const std::uint64_t told_fresh = told.insert(batch, was_new);
      for (std::size_t i = 0; i < size; ++i) {
        const bool is_new = single.insert(batch[i]);
        ASSERT_EQ(is_new, was_new[i]) << i << " of " << size;
        fresh += is_new;
      }
      ASSERT_EQ(counted_fresh, fresh);
      ASSERT_EQ(told_fresh, fresh);
      ASSERT_EQ(counted, single) << size;
      ASSERT_EQ(told, single) << size;

      const std::vector<Digest> others = DigestStream(5).take(size);
      Answers found(size);
      single.contains(others, found);
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(found[i], single.contains(others[i]));
      ASSERT_TRUE(contains_all(single, batch));
    }
  }
}

// Spans of keys, against one call per key.
template <class F, class K>
void expect_keys_equal_single(F& batch, F& single, std::vector<K> keys) {
  Answers was_new(keys.size());
  const std::uint64_t fresh = batch.insert(std::span(keys), was_new.span());
  EXPECT_EQ(fresh, was_new.trues());
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(single.insert(keys[i]), was_new[i]);
  EXPECT_EQ(batch, single);
  EXPECT_EQ(batch.insert(std::span(std::as_const(keys))), 0u) << "known, all of them";
  Answers found(keys.size());
  batch.contains(std::span(std::as_const(keys)), found.span());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_TRUE(found[i]);
    ASSERT_TRUE(single.contains(keys[i]));
    ASSERT_TRUE(single.contains(single.hasher()(keys[i])));
  }
}

TYPED_TEST(Conformance, SpansOfKeysEqualSingleKeys) {
  for (const std::size_t count : {0u, 1u, 255u, 256u, 257u, 1'000u}) {
    TypeParam batch = this->create(Plan{.keys = 3'000, .fpr = 0.01});
    TypeParam single = this->create(Plan{.keys = 3'000, .fpr = 0.01});
    std::vector<std::string> texts;
    std::vector<std::uint32_t> numbers;
    std::vector<std::int64_t> negatives;
    for (std::size_t i = 0; i < count; ++i) {
      texts.push_back("key " + std::to_string(i));
      numbers.push_back(static_cast<std::uint32_t>(i));
      negatives.push_back(-1'000'000 - static_cast<std::int64_t>(i));
    }
    expect_keys_equal_single(batch, single, texts);
    expect_keys_equal_single(batch, single, numbers);
    expect_keys_equal_single(batch, single, negatives);
  }
  // Spans of fixed extent are spans, too.
  TypeParam filter = this->create(Plan{.keys = 10, .fpr = 0.01});
  std::array<int, 3> three{1, 2, 3};
  EXPECT_EQ(filter.insert(std::span(three)), 3u);
  EXPECT_TRUE(filter.contains(2));
}

TYPED_TEST(Conformance, TheHasherDecides) {
  TypeParam filter = TypeParam::create({.keys = 100, .fpr = 1e-6}, Hasher::xxh3(7)).value();
  EXPECT_EQ(filter.hasher(), Hasher::xxh3(7));
  filter.insert("key");
  EXPECT_TRUE(filter.contains(Hasher::xxh3(7)("key")));
  EXPECT_FALSE(filter.contains(Hasher::xxh3(8)("key")));
}

TYPED_TEST(Conformance, ClearEqualsNew) {
  for (const auto& params : sample_params<TypeParam>()) {
    TypeParam filter = this->create(params);
    const auto digests = DigestStream(6).take(500);
    const std::uint64_t fresh = filter.insert(digests);
    EXPECT_NE(filter, this->create(params));
    filter.clear();
    EXPECT_EQ(filter, this->create(params));
    EXPECT_EQ(filter.size_bytes(), this->create(params).size_bytes());
    // And behaves so.
    EXPECT_EQ(filter.insert(digests), fresh);
    EXPECT_EQ(filter, this->filled(params, digests));
  }
}

TYPED_TEST(Conformance, ACloneIsEqualAndIndependent) {
  for (const auto& params : sample_params<TypeParam>()) {
    const auto first = DigestStream(7).take(10);
    const auto second = DigestStream(8).take(400);
    TypeParam original = this->filled(params, first);
    TypeParam copy = original.clone();
    EXPECT_EQ(copy, original);
    EXPECT_EQ(copy.params(), original.params());
    EXPECT_EQ(copy.hasher(), original.hasher());
    if (copy.insert(second) != 0) {
      EXPECT_NE(copy, original);
    }
    EXPECT_EQ(original, this->filled(params, first));
    const TypeParam grown = copy.clone();
    copy.clear();
    original.clear();
    EXPECT_TRUE(contains_all(grown, first));
    EXPECT_TRUE(contains_all(grown, second));
    EXPECT_EQ(copy, original);
  }
}

TYPED_TEST(Conformance, MovedFiltersWork) {
  for (const auto& params : sample_params<TypeParam>()) {
    const auto digests = DigestStream(9).take(300);
    TypeParam source = this->filled(params, digests);
    TypeParam constructed = std::move(source);
    EXPECT_EQ(constructed, this->filled(params, digests));
    TypeParam assigned = this->create(params);
    assigned = std::move(constructed);
    EXPECT_EQ(assigned, this->filled(params, digests));
    const auto more = DigestStream(10).take(300);
    assigned.insert(more);
    EXPECT_TRUE(contains_all(assigned, digests));
    EXPECT_TRUE(contains_all(assigned, more));
  }
}

TYPED_TEST(Conformance, MergeEqualsInsertingBoth) {
  for (const auto& params : sample_params<TypeParam>()) {
    const auto left = DigestStream(11).take(60);
    const auto right = DigestStream(12).take(90);
    TypeParam merged = this->filled(params, left);
    const TypeParam other = this->filled(params, right);
    ASSERT_TRUE(merged.merge(other));
    EXPECT_TRUE(contains_all(merged, left));
    EXPECT_TRUE(contains_all(merged, right));
    EXPECT_EQ(other, this->filled(params, right)) << "the source stays";
    if constexpr (!Growable<TypeParam>) {
      TypeParam both = this->filled(params, left);
      both.insert(right);
      EXPECT_EQ(merged, both);
    }
  }
}

TYPED_TEST(Conformance, MergeIsCommutativeAssociativeAndIdempotent) {
  for (const auto& params : sample_params<TypeParam>()) {
    const TypeParam a = this->filled(params, DigestStream(13).take(5));
    const TypeParam b = this->filled(params, DigestStream(14).take(50));
    const TypeParam c = this->filled(params, DigestStream(15).take(300));
    const auto merged = [](const TypeParam& x, const TypeParam& y) {
      TypeParam out = x.clone();
      out.merge(y).value();
      return out;
    };
    EXPECT_EQ(merged(a, b), merged(b, a));
    EXPECT_EQ(merged(merged(a, b), c), merged(a, merged(b, c)));
    EXPECT_EQ(merged(merged(c, b), b), merged(c, b));
    EXPECT_EQ(merged(a, a), a);
    EXPECT_EQ(merged(a, this->create(params)), a);
    EXPECT_EQ(merged(this->create(params), a), a);
    TypeParam self = c.clone();
    ASSERT_TRUE(self.merge(self));
    EXPECT_EQ(self, c);
  }
}

TYPED_TEST(Conformance, MergeRefusesAnotherGeometryChangingNothing) {
  const auto all = sample_params<TypeParam>();
  for (const auto& params : all) {
    for (const auto& others : all) {
      if (params == others) continue;
      TypeParam filter = this->filled(params, DigestStream(16).take(20));
      const TypeParam before = filter.clone();
      const TypeParam other = this->filled(others, DigestStream(17).take(20));
      const TypeParam other_before = other.clone();
      EXPECT_NE(filter, other);
      const auto refused = filter.merge(other);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::incompatible);
      EXPECT_NE(refused.error().message.find("params"), std::string::npos);
      EXPECT_EQ(filter, before);
      EXPECT_EQ(other, other_before);
    }
  }
}

TYPED_TEST(Conformance, MergeRefusesAnotherHasherChangingNothing) {
  for (const auto& params : sample_params<TypeParam>()) {
    TypeParam filter = this->filled(params, DigestStream(18).take(20));
    const TypeParam before = filter.clone();
    for (const Hasher& hasher : {Hasher::xxh3(1), Hasher::xxh64(), Hasher::keyed(SecretKey{})}) {
      TypeParam other = this->create(params, hasher);
      other.insert(DigestStream(19).take(20));
      const auto refused = filter.merge(other);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::incompatible);
      EXPECT_NE(refused.error().message.find("hasher"), std::string::npos);
      EXPECT_EQ(filter, before);
    }
    EXPECT_NE(this->create(params), this->create(params, Hasher::xxh3(1)))
        << "equal bits, other hasher";
  }
}

// A short span of answers would be written beyond, so that is checked in every build.
TYPED_TEST(Conformance, AnswersWithoutRoomEndTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto filter = TypeParam::create({.keys = 10, .fpr = 0.01}).value();
  const std::array<Digest, 3> digests{Digest(1), Digest(2), Digest(3)};
  const std::array<int, 3> keys{1, 2, 3};
  testing::Answers few(2);
  const char* const message = "there must be an answer for each key";
  EXPECT_DEATH(filter.contains(std::span<const Digest>(digests), few), message);
  EXPECT_DEATH(filter.insert(std::span<const Digest>(digests), few), message);
  EXPECT_DEATH(filter.contains(std::span(keys), few), message);
  EXPECT_DEATH(filter.insert(std::span(keys), few), message);
}

}  // namespace
}  // namespace probably
