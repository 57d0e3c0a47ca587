// How full a filter is while keys go in, by counting: looking at the bits would take too long.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "probably/any_filter.hpp"

namespace probably::cli {

class FillWatch {
 public:
  // `fpr` is the promise; beyond it the filter is full. One that grows is never full.
  FillWatch(const AnyFilter& filter, double fpr, bool is_strict);

  // Counts new keys. When the filter becomes full, returns once what is to be said, or throws
  // Trouble if it is strict.
  [[nodiscard]] std::optional<std::string> add(std::uint64_t fresh);

  // Of the filter now; none of one that grows.
  [[nodiscard]] std::optional<double> fill() const;
  [[nodiscard]] std::optional<double> fpr() const;
  [[nodiscard]] bool is_full() const noexcept { return capacity_ && keys_ > *capacity_; }

 private:
  const AnyFilter& filter_;
  double promised_fpr_;
  bool is_strict_;
  bool has_told_ = false;
  std::uint64_t keys_;
  std::optional<std::uint64_t> capacity_;
};

}  // namespace probably::cli
