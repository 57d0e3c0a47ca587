// The members of BitFilter that need no inlining. Each kind's source instantiates them once, after
// it has said
//   Occupancy occupancy(const Params&)                          how the bits are thrown
//   double observed_fpr(const Params&, const std::uint64_t*)    the rate that the bits give
//   std::uint64_t last_word_bits(const Params&)                 the ones in use of the last word
#pragma once

#include <bit>
#include <cstring>
#include <utility>

#include "bulk.hpp"
#include "count_bits.hpp"
#include "probably/bit_filter.hpp"
#include "simd/kernels.hpp"
#include "sizing.hpp"
#include "walk_impl.hpp"

namespace probably {

template <class P>
Result<BitFilter<P>> BitFilter<P>::create(const Plan& plan, const Hasher& hasher,
                                          const StorageOptions& options) {
  auto params = P::from(plan);
  if (!params) return params.error();
  return create(*params, hasher, options);
}

template <class P>
Result<BitFilter<P>> BitFilter<P>::create(const P& params, const Hasher& hasher,
                                          const StorageOptions& options) {
  if (auto valid = params.validate(); !valid) return valid.error();
  auto storage = Storage::allocate(params.size_bytes(), options);
  if (!storage) return storage.error();
  detail::learn_about_machine();
  return BitFilter(params, hasher, *std::move(storage));
}

template <class P>
Result<BitFilter<P>> BitFilter<P>::adopt(const P& params, const Hasher& hasher, Storage storage) {
  if (!storage.writable()) {
    return Error{ErrorCode::invalid_argument, "The storage is read-only; a filter needs to write."};
  }
  return adopt_any(params, hasher, std::move(storage));
}

template <class P>
Result<BitFilter<P>> BitFilter<P>::adopt_any(const P& params, const Hasher& hasher,
                                             Storage storage) {
  if (auto valid = params.validate(); !valid) return valid.error();
  const std::uint64_t lines_bytes =
      (params.size_bytes() + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
  if (storage.size_bytes() != params.size_bytes() && storage.size_bytes() != lines_bytes) {
    return Error{ErrorCode::invalid_argument,
                 "The storage has " + detail::text(storage.size_bytes()) +
                     " bytes; these params need " + detail::text(params.size_bytes()) + "."};
  }
  const std::uint64_t last = storage.words()[params.size_bytes() / sizeof(std::uint64_t) - 1];
  if ((last & ~last_word_bits(params)) != 0) {
    return Error{ErrorCode::invalid_argument,
                 "The storage has bits set behind the last one of these params."};
  }
  detail::learn_about_machine();
  return BitFilter(params, hasher, std::move(storage));
}

template <class P>
void BitFilter<P>::contains_each(const KeySource& keys, bool* out) const noexcept {
  detail::contains_batch(layout_, storage_.words(), keys, out);
}

template <class P>
std::uint64_t BitFilter<P>::insert_each(const KeySource& keys, bool* was_new) noexcept {
  return detail::insert_batch(layout_, words(), keys, was_new);
}

template <class P>
std::uint64_t BitFilter<P>::insert_alone_each(const KeySource& keys, bool* was_new) noexcept {
  if constexpr (detail::LineLayout<Layout>) {
    return detail::fill_batch(layout_, words(), keys, was_new);
  } else {
    return detail::insert_batch(layout_, words(), keys, was_new);
  }
}

template <class P>
std::uint64_t BitFilter<P>::insert_bulk_each(const KeySource& keys, const BulkOptions& options) {
  if constexpr (detail::LineLayout<Layout>) {
    return detail::insert_bulk(layout_, words(), params_.size_bytes(), keys, options);
  } else {
    // Never called. Clang 14 instantiates members whose constraints do not hold.
    return insert_each(keys, nullptr);
  }
}

template <class P>
Result<void> BitFilter<P>::merge(const BitFilter& other) {
  if (!(params_ == other.params_)) {
    return Error{ErrorCode::incompatible,
                 "The filters differ in geometry; create both from the same params."};
  }
  if (!(hasher_ == other.hasher_)) {
    return Error{ErrorCode::incompatible,
                 "The filters differ in hasher; create both with the same seed or key."};
  }
  detail::add_bits(words(), other.storage_.words(), params_.size_bytes() / sizeof(std::uint64_t));
  return {};
}

template <class P>
void BitFilter<P>::clear() noexcept {
  std::memset(words(), 0, params_.size_bytes());
}

template <class P>
BitFilter<P> BitFilter<P>::clone(const StorageOptions& options) const {
  auto copy = create(params_, hasher_, options).value();
  const std::uint64_t count = params_.size_bytes() / sizeof(std::uint64_t);
  for (std::uint64_t i = 0; i < count; ++i) {
    // Untouched pages of the copy stay untouched where the original is empty.
    if (const std::uint64_t word = detail::load_relaxed(storage_.words()[i]); word != 0)
      copy.words()[i] = word;
  }
  return copy;
}

template <class P>
std::uint64_t BitFilter<P>::count_bits() const noexcept {
  return detail::count_bits({storage_.words(), params_.size_bytes() / sizeof(std::uint64_t)});
}

template <class P>
Estimate BitFilter<P>::approximate_size() const noexcept {
  return occupancy(params_).estimate_keys(count_bits());
}

template <class P>
double BitFilter<P>::fill_ratio() const noexcept {
  const detail::Occupancy cells = occupancy(params_);
  return static_cast<double>(count_bits()) / static_cast<double>(cells.slices * cells.cells);
}

template <class P>
double BitFilter<P>::estimated_fpr() const noexcept {
  return observed_fpr(params_, storage_.words());
}

template <class P>
bool BitFilter<P>::equals(const BitFilter& other) const noexcept {
  if (!(params_ == other.params_) || !(hasher_ == other.hasher_)) return false;
  const std::uint64_t count = params_.size_bytes() / sizeof(std::uint64_t);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (detail::load_relaxed(storage_.words()[i]) !=
        detail::load_relaxed(other.storage_.words()[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace probably
