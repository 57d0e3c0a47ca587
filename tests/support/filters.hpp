// What tests over all kinds share: the list as GoogleTest wants it, sample geometries, answers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "probably/kinds.hpp"

namespace probably::testing {

template <class Tuple>
struct TypesOf;
template <class... Filters>
struct TypesOf<std::tuple<Filters...>> {
  using type = ::testing::Types<Filters...>;
};
// Of foreign kinds, tests/interop knows more.
using AllFilterTypes = TypesOf<NativeFilters>::type;

// Names typed tests after the kind: Conformance/blocked.
struct KindName {
  template <class F>
  static std::string GetName(int) {
    return std::string(name(kind_of<F>));
  }
};

// Small, odd and usual geometries of a kind; the first is the smallest that there is.
template <class F>
std::vector<typename F::Params> sample_params() {
  if constexpr (kind_of<F> == Kind::bloom) {
    return {{1, 1}, {63, 2}, {64, 64}, {65, 3}, {1000, 7}, {9586, 7}, {100'003, 13}};
  } else if constexpr (kind_of<F> == Kind::blocked) {
    return {{1, 4}, {1, 8},  {1, 16},  {2, 8},   {7, 4},
            {7, 8}, {7, 16}, {300, 4}, {300, 8}, {300, 16}};
  } else if constexpr (kind_of<F> == Kind::split_block) {
    return {{1}, {2}, {3}, {64}, {1001}};
  } else {
    static_assert(kind_of<F> == Kind::scalable, "a new kind needs sample params");
    return {{1, 0.5, 2}, {1, 0.001, 3}, {16, 0.01, 2}, {100, 0.1, 16}, {3000, 0.001, 2}};
  }
}

// As many bools in a row as a batch verb wants; std::vector<bool> has none.
class Answers {
 public:
  explicit Answers(std::size_t size) : data_(std::make_unique<bool[]>(size)), size_(size) {}

  std::span<bool> span() noexcept { return {data_.get(), size_}; }
  operator std::span<bool>() noexcept { return span(); }  // NOLINT: stands for its span
  bool operator[](std::size_t index) const noexcept { return data_[index]; }

  [[nodiscard]] std::size_t trues() const noexcept {
    return static_cast<std::size_t>(std::count(data_.get(), data_.get() + size_, true));
  }

 private:
  std::unique_ptr<bool[]> data_;
  std::size_t size_;
};

// How many of the digests the filter answers with "probably".
template <class F>
std::size_t count_found(const F& filter, std::span<const Digest> digests) {
  Answers answers(digests.size());
  filter.contains(digests, answers);
  return answers.trues();
}

template <class F>
bool contains_all(const F& filter, std::span<const Digest> digests) {
  return count_found(filter, digests) == digests.size();
}

// The words' bits of a filter that has no links.
template <class F>
std::span<const std::uint64_t> words_of(const F& filter) {
  return {filter.storage().words(), filter.size_bytes() / sizeof(std::uint64_t)};
}

// Memory for Storage::borrow(): zeroed, aligned to a cache line.
class AlignedWords {
 public:
  explicit AlignedWords(std::size_t count) : memory_(count + kLineWords) {
    void* start = memory_.data();
    std::size_t space = memory_.size() * sizeof(std::uint64_t);
    std::align(kCacheLineBytes, count * sizeof(std::uint64_t), start, space);
    words_ = {static_cast<std::uint64_t*>(start), count};
  }

  [[nodiscard]] std::span<std::uint64_t> words() noexcept { return words_; }

 private:
  static constexpr std::size_t kLineWords = kCacheLineBytes / sizeof(std::uint64_t);
  std::vector<std::uint64_t> memory_;
  std::span<std::uint64_t> words_;
};

}  // namespace probably::testing
