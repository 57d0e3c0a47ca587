#include "probably/foreign.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "bit_filter_impl.hpp"
#include "byte_hashes.hpp"
#include "probably/bloom.hpp"
#include "scalable_impl.hpp"

namespace probably {
namespace {

constexpr double kLn2 = std::numbers::ln2;

// What is left to a scheme: whole words only, and how the software sizes a filter.
template <class Scheme>
struct Sizing;

// ceil(n * -ln p / (ln 2)^2) bits.
template <>
struct Sizing<GoScheme> {
  static constexpr std::uint64_t kUnitBits = 1;
  static double bits(double keys, double fpr) {
    return std::ceil(-keys * std::log(fpr) / (kLn2 * kLn2));
  }
  static double hashes(double bits, double keys, double) { return std::ceil(kLn2 * bits / keys); }
};

template <>
struct Sizing<Guava64Scheme> {
  static constexpr std::uint64_t kUnitBits = 64;
  static double bits(double keys, double fpr) {
    return std::floor(-keys * std::log(fpr) / (kLn2 * kLn2));
  }
  // Of the bits before they are rounded up to whole words.
  static double hashes(double bits, double keys, double) {
    return std::max(1.0, std::round(bits / keys * kLn2));
  }
};
template <>
struct Sizing<Guava32Scheme> : Sizing<Guava64Scheme> {};

template <>
struct Sizing<DcsoScheme> {
  static constexpr std::uint64_t kUnitBits = 1;
  static double bits(double keys, double fpr) {
    return std::floor(keys * std::abs(std::log(fpr)) / (kLn2 * kLn2));
  }
  static double hashes(double bits, double keys, double) { return std::ceil(kLn2 * bits / keys); }
};

// The constants are RedisBloom's own, with its digits.
template <>
struct Sizing<RedisScheme> {
  static constexpr std::uint64_t kUnitBits = 64;
  static constexpr double kLn2Squared = 0.480453013918201;
  static constexpr double kRedisLn2 = 0.693147180559945;
  static double bits(double keys, double fpr) {
    return std::floor(keys * (-std::log(fpr) / kLn2Squared));
  }
  static double hashes(double, double, double fpr) {
    return std::ceil(kRedisLn2 * (-std::log(fpr) / kLn2Squared));
  }
};

template <class Scheme>
BloomParams as_bloom(const ForeignParams<Scheme>& params) noexcept {
  return {params.bits, params.hashes};
}

}  // namespace

GoScheme::Digest GoScheme::digest(std::span<const std::byte> key) noexcept {
  const detail::Wide first = detail::murmur3_x64_128(key, 0);
  const detail::Wide second = detail::murmur3_x64_128(key, 0, std::byte{1});
  return {{first.low, first.high, second.low, second.high}};
}

Guava32Scheme::Digest Guava32Scheme::digest(std::span<const std::byte> key) noexcept {
  return {{detail::murmur3_x64_128(key, 0).low}};
}

Guava64Scheme::Digest Guava64Scheme::digest(std::span<const std::byte> key) noexcept {
  const detail::Wide hash = detail::murmur3_x64_128(key, 0);
  return {{hash.low, hash.high}};
}

DcsoScheme::Digest DcsoScheme::digest(std::span<const std::byte> key) noexcept {
  return {{detail::fnv1(key)}};
}

RedisScheme::Digest RedisScheme::digest(std::span<const std::byte> key) noexcept {
  const std::uint64_t first = detail::murmur64a(key, 0xc6a4a7935bd1e995);
  return {{first, detail::murmur64a(key, first)}};
}

template <class Scheme>
Result<ForeignParams<Scheme>> ForeignParams<Scheme>::from(const Plan& plan) {
  if (auto valid = probably::validate(plan); !valid) return valid.error();
  if (plan.keys == 0 || plan.fpr == 0 || detail::has_budget(plan) || plan.hashes != 0) {
    return Error{ErrorCode::invalid_argument,
                 "A filter for other software is planned as that does it: give keys and fpr, and "
                 "nothing else."};
  }
  using Rule = Sizing<Scheme>;
  const auto keys = static_cast<double>(plan.keys);
  const double bits = std::max(1.0, Rule::bits(keys, plan.fpr));
  const double hashes = Rule::hashes(bits, keys, plan.fpr);
  if (!(bits < 0x1p60)) {
    return Error{ErrorCode::invalid_argument, "A filter of " + detail::text(bits) +
                                                  " bits is too large; accepted is up to 2^60."};
  }
  const std::uint64_t units =
      (static_cast<std::uint64_t>(bits) + Rule::kUnitBits - 1) / Rule::kUnitBits;
  const ForeignParams params{units * Rule::kUnitBits, static_cast<std::uint32_t>(hashes)};
  if (auto valid = params.validate(); !valid) return valid.error();
  return params;
}

template <class Scheme>
Result<void> ForeignParams<Scheme>::validate() const {
  if (auto valid = as_bloom(*this).validate(); !valid) return valid;
  if (bits % Sizing<Scheme>::kUnitBits != 0) {
    return detail::domain_error("bits", bits, "a multiple of 64");
  }
  return {};
}

template <class Scheme>
double ForeignParams<Scheme>::fpr(std::uint64_t keys) const noexcept {
  return as_bloom(*this).fpr(keys);
}

template <class Scheme>
double ForeignParams<Scheme>::fill(std::uint64_t keys) const noexcept {
  return as_bloom(*this).fill(keys);
}

template <class Scheme>
std::uint64_t ForeignParams<Scheme>::capacity(double rate) const noexcept {
  return as_bloom(*this).capacity(rate);
}

template <class Scheme>
static detail::Occupancy occupancy(const ForeignParams<Scheme>& params) noexcept {
  return {.slices = 1, .cells = params.bits, .throws_per_key = params.hashes, .blocks = 0};
}

template <class Scheme>
static std::uint64_t last_word_bits(const ForeignParams<Scheme>& params) noexcept {
  return ~std::uint64_t{0} >> ((64 - params.bits % 64) % 64);
}

template <class Scheme>
static double observed_fpr(const ForeignParams<Scheme>& params,
                           const std::uint64_t* words) noexcept {
  return detail::fill_to_the(params.hashes, params.bits, words);
}

Result<RedisChainParams> RedisChainParams::from(const Plan& plan) {
  if (detail::has_budget(plan) || plan.hashes != 0) {
    return Error{ErrorCode::invalid_argument,
                 "A chain grows: give keys (expected at first) and fpr, no memory and no hashes."};
  }
  RedisChainParams params;
  if (plan.keys != 0) params.first_keys = plan.keys;
  if (plan.fpr != 0) params.fpr = plan.fpr;
  if (auto valid = params.validate(); !valid) return valid.error();
  return params;
}

Result<void> RedisChainParams::validate() const {
  if (first_keys < 1 || first_keys > kMaxKeys) {
    return detail::domain_error("first_keys", first_keys, "1 to " + detail::text(kMaxKeys));
  }
  if (!(fpr >= 1e-9 && fpr <= kMaxFpr)) {
    return detail::domain_error("fpr", fpr, "a rate from 1e-09 to " + detail::text(kMaxFpr));
  }
  if (growth > 65536) return detail::domain_error("growth", growth, "0 to 65536");
  return {};
}

std::uint64_t RedisChainParams::link_keys(std::uint32_t link) const noexcept {
  std::uint64_t keys = first_keys;
  for (std::uint32_t i = 0; i < link && keys <= kMaxKeys; ++i) keys *= growth;
  return keys;
}

double RedisChainParams::link_fpr(std::uint32_t link) const noexcept {
  return growth == 0 ? fpr : std::ldexp(fpr, -static_cast<int>(link) - 1);
}

Result<RedisParams> RedisChainParams::link_params(std::uint32_t link) const {
  if (growth == 0 && link != 0) {
    return Error{ErrorCode::invalid_argument, "A chain without growth has one link."};
  }
  return RedisParams::from({.keys = link_keys(link), .fpr = link_fpr(link)});
}

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type.
#define PROBABLY_INSTANTIATE(Scheme)                                         \
  template bool detail::insert(const ForeignLayout<Scheme>&, std::uint64_t*, \
                               const typename Scheme::Digest&) noexcept;     \
  template struct ForeignParams<Scheme>;                                     \
  template class BitFilter<ForeignParams<Scheme>>
// NOLINTEND(bugprone-macro-parentheses)
PROBABLY_INSTANTIATE(GoScheme);
PROBABLY_INSTANTIATE(Guava32Scheme);
PROBABLY_INSTANTIATE(Guava64Scheme);
PROBABLY_INSTANTIATE(DcsoScheme);
PROBABLY_INSTANTIATE(RedisScheme);
template class ScalableFilter<RedisChainParams>;

}  // namespace probably
