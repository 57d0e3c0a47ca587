// What `probably demo` shows: a Bloom filter of 15 bits, the words that are in it, and the
// sentences that say what happened.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "probably/bloom.hpp"

namespace probably::cli {

// Longer lines are no words.
inline constexpr std::size_t kMaxDemoLineBytes = 1000;

// What a line of the user asks for.
struct DemoRequest {
  enum class Verb { nothing, add, test, forget, clear, quit };
  Verb verb = Verb::nothing;
  std::string word;
};

// "cat" and "+cat" add, "?cat" tests, "-cat" and "undo" would forget. Blanks around words are
// dropped; "+clear" adds a word that is a command by itself.
[[nodiscard]] DemoRequest parse_demo_request(std::string_view line);

class DemoSet {
 public:
  static constexpr unsigned kBits = 15;
  static constexpr unsigned kPlaces = 3;  // of a word
  using Places = std::array<unsigned, kPlaces>;

  DemoSet();

  // Do it, and say what happened.
  std::string add(const std::string& word);
  std::string clear();
  [[nodiscard]] std::string test(const std::string& word) const;
  // Says why that cannot be.
  [[nodiscard]] std::string forget(const std::string& word) const;

  // As the filter itself computes them, in its order; two may be equal.
  [[nodiscard]] Digest digest(std::string_view word) const noexcept;
  [[nodiscard]] Places places(std::string_view word) const noexcept;
  [[nodiscard]] bool is_lit(unsigned bit) const noexcept;
  // Lit by the last word that was added.
  [[nodiscard]] bool is_fresh(unsigned bit) const noexcept { return is_fresh_[bit]; }
  [[nodiscard]] unsigned lit_count() const noexcept;
  // The chance that a word that nobody added meets lit bits only.
  [[nodiscard]] double rate() const noexcept { return filter_.estimated_fpr(); }
  // Each once, in the order of their coming.
  [[nodiscard]] const std::vector<std::string>& words() const noexcept { return words_; }

 private:
  [[nodiscard]] std::string say_what_was_lit(const std::string& word) const;
  [[nodiscard]] std::string say_who_lit(const Places& places) const;

  Bloom filter_;
  std::vector<std::string> words_;
  std::unordered_set<std::string> known_;  // the same words: the demo knows what the bits do not
  std::array<std::string, kBits> lit_by_;  // the word that lit a bit first
  std::array<bool, kBits> is_fresh_ = {};
};

// The places with their numbers: 3, 7 and 11.
[[nodiscard]] std::string list_places(const DemoSet::Places& places);
// The hash of the word, and its places.
[[nodiscard]] std::string explain_places(const DemoSet& set, std::string_view word);
// How many words and lit bits there are, and the rate.
[[nodiscard]] std::string sum_up(const DemoSet& set);

}  // namespace probably::cli
