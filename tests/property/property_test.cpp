// Laws that hold for every kind and every sequence of calls, tried on random ones. RapidCheck
// prints the seed of a failure and shrinks it to a small case; RC_PARAMS="seed=..." repeats it.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "support/filters.hpp"

namespace probably {
namespace {

using testing::Answers;

using Keys = std::vector<std::uint16_t>;

// A filter beside a std::unordered_set that is told the same. Every call is checked against the
// set, every state for false negatives and for the laws of fill and size.
template <class F>
class Checked {
 public:
  explicit Checked(const typename F::Params& params) : filter_(F::create(params).value()) {}

  void insert(std::uint16_t key) {
    const bool contained = filter_.contains(key);
    RC_ASSERT(contained || !keys_.contains(key));
    RC_ASSERT(filter_.insert(key) == !contained);
    keys_.insert(key);
    check();
  }

  void insert(const Keys& keys) {
    Answers was_new(keys.size());
    const std::uint64_t fresh = filter_.insert(std::span(keys), was_new.span());
    RC_ASSERT(fresh == was_new.trues());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      RC_ASSERT(!was_new[i] || !keys_.contains(keys[i]));
      keys_.insert(keys[i]);
    }
    check();
  }

  void merge(const Checked& other) {
    RC_ASSERT(filter_.merge(other.filter_).has_value());
    keys_.insert(other.keys_.begin(), other.keys_.end());
    check();
  }

  void clear() {
    filter_.clear();
    keys_.clear();
    fill_ = 0;
    RC_ASSERT(filter_ == F::create(filter_.params()).value());
    check();
  }

  void clone_and_move() {
    F copy = filter_.clone();
    RC_ASSERT(copy == filter_);
    filter_ = std::move(copy);
    check();
  }

  [[nodiscard]] const F& filter() const { return filter_; }

 private:
  void check() {
    const Keys known(keys_.begin(), keys_.end());
    Answers found(known.size());
    filter_.contains(std::span(known), found.span());
    RC_ASSERT(found.trues() == known.size());
    for (const std::uint16_t key : known) RC_ASSERT(filter_.contains(key));

    if constexpr (!Growable<F>) {
      const double fill = filter_.fill_ratio();
      RC_ASSERT(fill >= fill_);
      RC_ASSERT(fill <= 1);
      fill_ = fill;
    }
    RC_ASSERT(filter_.estimated_fpr() >= 0);
    RC_ASSERT(filter_.estimated_fpr() <= 1);
    RC_ASSERT((filter_.approximate_size().value == 0) == keys_.empty());
  }

  F filter_;
  std::unordered_set<std::uint16_t> keys_;
  double fill_ = 0;
};

enum class Verb : std::uint8_t { insert, insert_batch, merge, clear, clone_and_move };

struct Call {
  Verb verb{};
  Keys keys;
};

std::ostream& operator<<(std::ostream& out, const Call& call) {
  static constexpr const char* kNames[] = {"insert", "insert_batch", "merge", "clear",
                                           "clone_and_move"};
  out << kNames[static_cast<std::size_t>(call.verb)] << '(';
  for (const std::uint16_t key : call.keys) out << key << ' ';
  return out << ')';
}

// Keys from a small range come again and again; from the whole one they are mostly new.
rc::Gen<Keys> some_keys() {
  return rc::gen::container<Keys>(
      rc::gen::oneOf(rc::gen::inRange<std::uint16_t>(0, 50), rc::gen::arbitrary<std::uint16_t>()));
}

rc::Gen<Call> some_call() {
  return rc::gen::build<Call>(
      rc::gen::set(&Call::verb, rc::gen::weightedElement<Verb>({{8, Verb::insert},
                                                                {5, Verb::insert_batch},
                                                                {2, Verb::merge},
                                                                {1, Verb::clear},
                                                                {1, Verb::clone_and_move}})),
      rc::gen::set(&Call::keys, some_keys()));
}

template <class F>
class Property : public ::testing::Test {
 protected:
  using Params = typename F::Params;

  // One of the sample geometries; they differ from nearly full after one key to nearly empty.
  static Params some_params() {
    const auto all = testing::sample_params<F>();
    return all[*rc::gen::inRange<std::size_t>(0, all.size())];
  }

  static F filled(const Params& params, const Keys& keys) {
    F filter = F::create(params).value();
    for (const std::uint16_t key : keys) filter.insert(key);
    return filter;
  }

  static F merged(const F& a, const F& b) {
    F out = a.clone();
    out.merge(b).value();
    return out;
  }
};

TYPED_TEST_SUITE(Property, testing::AllFilterTypes, testing::KindName);

TYPED_TEST(Property, AnyCallsAgreeWithASet) {
  EXPECT_TRUE(rc::check([] {
    const auto params = Property<TypeParam>::some_params();
    Checked<TypeParam> checked(params);
    for (const Call& call : *rc::gen::container<std::vector<Call>>(some_call())) {
      switch (call.verb) {
        case Verb::insert:
          for (const std::uint16_t key : call.keys) checked.insert(key);
          break;
        case Verb::insert_batch:
          checked.insert(call.keys);
          break;
        case Verb::merge: {
          Checked<TypeParam> other(params);
          other.insert(call.keys);
          checked.merge(other);
          break;
        }
        case Verb::clear:
          checked.clear();
          break;
        case Verb::clone_and_move:
          checked.clone_and_move();
          break;
      }
    }
  }));
}

TYPED_TEST(Property, MergeIsCommutative) {
  EXPECT_TRUE(rc::check([] {
    const auto params = Property<TypeParam>::some_params();
    const TypeParam a = Property<TypeParam>::filled(params, *some_keys());
    const TypeParam b = Property<TypeParam>::filled(params, *some_keys());
    RC_ASSERT(Property<TypeParam>::merged(a, b) == Property<TypeParam>::merged(b, a));
  }));
}

TYPED_TEST(Property, MergeIsAssociative) {
  EXPECT_TRUE(rc::check([] {
    using P = Property<TypeParam>;
    const auto params = P::some_params();
    const TypeParam a = P::filled(params, *some_keys());
    const TypeParam b = P::filled(params, *some_keys());
    const TypeParam c = P::filled(params, *some_keys());
    RC_ASSERT(P::merged(P::merged(a, b), c) == P::merged(a, P::merged(b, c)));
  }));
}

TYPED_TEST(Property, MergeIsIdempotent) {
  EXPECT_TRUE(rc::check([] {
    using P = Property<TypeParam>;
    const auto params = P::some_params();
    const TypeParam a = P::filled(params, *some_keys());
    const TypeParam b = P::filled(params, *some_keys());
    RC_ASSERT(P::merged(a, a) == a);
    RC_ASSERT(P::merged(P::merged(a, b), b) == P::merged(a, b));
  }));
}

TYPED_TEST(Property, MergeEqualsInsertingBoth) {
  EXPECT_TRUE(rc::check([] {
    using P = Property<TypeParam>;
    const auto params = P::some_params();
    const Keys left = *some_keys();
    const Keys right = *some_keys();
    const TypeParam merged = P::merged(P::filled(params, left), P::filled(params, right));
    for (const std::uint16_t key : left) RC_ASSERT(merged.contains(key));
    for (const std::uint16_t key : right) RC_ASSERT(merged.contains(key));
    if constexpr (!Growable<TypeParam>) {
      TypeParam both = P::filled(params, left);
      for (const std::uint16_t key : right) both.insert(key);
      RC_ASSERT(merged == both);
    }
  }));
}

TYPED_TEST(Property, BatchEqualsSingle) {
  EXPECT_TRUE(rc::check([] {
    const auto params = Property<TypeParam>::some_params();
    TypeParam single = TypeParam::create(params).value();
    TypeParam batch = TypeParam::create(params).value();
    for (const Keys& keys : *rc::gen::container<std::vector<Keys>>(some_keys())) {
      Answers was_new(keys.size());
      batch.insert(std::span(keys), was_new.span());
      for (std::size_t i = 0; i < keys.size(); ++i) {
        RC_ASSERT(single.insert(keys[i]) == was_new[i]);
      }
      RC_ASSERT(single == batch);
      const Keys asked = *some_keys();
      Answers found(asked.size());
      batch.contains(std::span(asked), found.span());
      for (std::size_t i = 0; i < asked.size(); ++i) {
        RC_ASSERT(single.contains(asked[i]) == found[i]);
      }
    }
  }));
}

TYPED_TEST(Property, ClearEqualsNew) {
  EXPECT_TRUE(rc::check([] {
    const auto params = Property<TypeParam>::some_params();
    TypeParam filter = Property<TypeParam>::filled(params, *some_keys());
    filter.clear();
    RC_ASSERT(filter == TypeParam::create(params).value());
    RC_ASSERT(filter.fill_ratio() == 0);
  }));
}

TYPED_TEST(Property, TheOrderOfKeysDoesNotCount) {
  if constexpr (!Growable<TypeParam>) {
    EXPECT_TRUE(rc::check([] {
      using P = Property<TypeParam>;
      const auto params = P::some_params();
      Keys keys = *some_keys();
      const TypeParam forth = P::filled(params, keys);
      std::reverse(keys.begin(), keys.end());
      RC_ASSERT(P::filled(params, keys) == forth);
    }));
  }
}

// A new key sets a bit at least, a known one none.
TYPED_TEST(Property, FillGrowsExactlyWithNewKeys) {
  if constexpr (!Growable<TypeParam>) {
    EXPECT_TRUE(rc::check([] {
      TypeParam filter = TypeParam::create(Property<TypeParam>::some_params()).value();
      double before = 0;
      for (const std::uint16_t key : *some_keys()) {
        const bool is_new = filter.insert(key);
        const double now = filter.fill_ratio();
        RC_ASSERT(now >= before);
        RC_ASSERT((now > before) == is_new);
        before = now;
      }
    }));
  }
}

// For a chain the set bits count, not their share of a memory that grows.
TYPED_TEST(Property, BytesAndLinksNeverShrinkByInserting) {
  if constexpr (Growable<TypeParam>) {
    EXPECT_TRUE(rc::check([] {
      TypeParam filter = TypeParam::create(Property<TypeParam>::some_params()).value();
      double set_before = 0;
      std::uint32_t links = 1;
      for (const std::uint16_t key : *some_keys()) {
        filter.insert(key);
        const double set = filter.fill_ratio() * static_cast<double>(filter.size_bytes());
        RC_ASSERT(set >= set_before - 1e-6);
        RC_ASSERT(filter.link_count() >= links);
        set_before = set;
        links = filter.link_count();
      }
    }));
  }
}

// Params that a plan gives are valid, keep the rate, and are the same for a budget of their size.
TYPED_TEST(Property, PlansKeepTheirRate) {
  if constexpr (!Growable<TypeParam>) {
    EXPECT_TRUE(rc::check([] {
      const auto keys =
          static_cast<std::uint64_t>(*rc::gen::inRange<std::int64_t>(1, 2'000'000'000));
      // From 0.5 to about 10^-8, even in the logarithm.
      const double fpr = 0.5 * std::pow(10.0, -0.01 * *rc::gen::inRange(0, 770));
      const Plan plan{.keys = keys, .fpr = fpr};
      const auto params = TypeParam::Params::from(plan);
      if (!params) {
        RC_ASSERT(params.error().message.find("out of reach") != std::string::npos);
        return;
      }
      RC_ASSERT(params->validate().has_value());
      RC_ASSERT(params->fpr(keys) <= fpr);
      Plan budget = plan;
      budget.size_bytes = params->size_bytes();
      RC_ASSERT(TypeParam::Params::from(budget).value() == *params);
    }));
  }
}

}  // namespace
}  // namespace probably
