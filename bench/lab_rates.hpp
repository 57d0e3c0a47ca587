// The false-positive rate of a one-block layout, from the sum over Poisson block loads.
//
// A block of the shape below holds L keys with probability Poisson(L; bits of a block / bits per
// key). Given L, the groups are independent and alike; in each, the word that a query picks was
// picked by Binomial(L, 1/words) of the keys, and each part of that word has taken `throws` bits
// from each of them. The query then needs its own `throws` bits set: the mean of the occupied
// share's power. With one word and one throw the sum is the short one of k slices of c bits,
//   rate = sum over L of Poisson(L) * (1 - (1 - 1/c)^L)^k.
#pragma once

#include <cmath>
#include <vector>

namespace lab {

// A key picks one of `words` words in each group and sets `throws` of the `cells` bits (repeats
// allowed) in each part of that word.
struct Shape {
  int groups, words, parts, cells, throws;
  [[nodiscard]] constexpr int block_bits() const { return groups * words * parts * cells; }
};

class RateOf {
 public:
  explicit RateOf(Shape shape) : shape_(shape) {}

  double operator()(double bits_per_key) {
    const double load = shape_.block_bits() / bits_per_key;
    const double spread = std::sqrt(load);
    const int last = static_cast<int>(load + 12 * spread) + 30;
    double rate = 0;
    for (int keys = 0; keys <= last; ++keys) {
      rate += std::exp(keys * std::log(load) - load - std::lgamma(keys + 1.0)) * given(keys);
    }
    return rate;
  }

  // The bits per key at which the rate is `rate`.
  double bits_per_key(double rate) {
    double low = 1, high = 1'000;
    for (int i = 0; i < 40; ++i) {
      const double middle = (low + high) / 2;
      ((*this)(middle) > rate ? low : high) = middle;
    }
    return high;
  }

 private:
  double given(int keys) {
    while (static_cast<int>(given_.size()) <= keys) {
      const int n = static_cast<int>(given_.size());
      const double p = 1.0 / shape_.words;
      double group = shape_.words == 1 ? word(n) : 0;
      for (int i = 0; i <= n && shape_.words > 1; ++i) {
        const double ways = std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0);
        group += std::exp(ways + i * std::log(p) + (n - i) * std::log1p(-p)) * word(i);
      }
      given_.push_back(std::pow(group, shape_.groups));
    }
    return given_[static_cast<std::size_t>(keys)];
  }

  // The chance that the query's bits are all set in a word that `keys` keys have picked.
  double word(int keys) {
    while (static_cast<int>(word_.size()) <= keys) {
      double part = 0;
      for (std::size_t i = 0; i < occupied_.size(); ++i) {
        const double share = static_cast<double>(i) / shape_.cells;
        part += occupied_[i] * std::pow(share, shape_.throws);
      }
      word_.push_back(std::pow(part, shape_.parts));
      for (int i = 0; i < shape_.throws; ++i) throw_once();
    }
    return word_[static_cast<std::size_t>(keys)];
  }

  // occupied_[i] is the chance that i cells are occupied; one more bit is thrown.
  void throw_once() {
    for (std::size_t i = occupied_.size() - 1; i > 0; --i) {
      const double share = static_cast<double>(i) / shape_.cells;
      occupied_[i] =
          occupied_[i] * share + occupied_[i - 1] * (1 - static_cast<double>(i - 1) / shape_.cells);
    }
    occupied_[0] = 0;
  }

  static std::vector<double> nothing(int cells) {
    std::vector<double> result(static_cast<std::size_t>(cells) + 1);
    result[0] = 1;
    return result;
  }

  Shape shape_;
  std::vector<double> occupied_ = nothing(shape_.cells), given_, word_;
};

}  // namespace lab
