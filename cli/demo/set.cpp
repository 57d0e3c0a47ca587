#include "demo/set.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terminal/visible.hpp"
#include "trouble.hpp"
#include "units.hpp"

namespace probably::cli {
namespace {

constexpr std::size_t kWordColumns = 30;

std::string quoted(std::string_view word) {
  return fmt::format("\"{}\"", visible(word, kWordColumns));
}

std::string plural(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", show_count(std::uint64_t{count}), thing, count == 1 ? "" : "s");
}

// a, b and c
std::string listed(const std::vector<std::string>& things) {
  std::string text;
  for (std::size_t i = 0; i < things.size(); ++i) {
    if (i != 0) text += i + 1 == things.size() ? " and " : ", ";
    text += things[i];
  }
  return text;
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

}  // namespace

DemoRequest parse_demo_request(std::string_view line) {
  using Verb = DemoRequest::Verb;
  const std::string_view text = without_blanks(line);
  if (text.empty()) return {};
  if (text == "clear") return {Verb::clear, {}};
  if (text == "undo") return {Verb::forget, {}};
  if (text == "quit" || text == "exit") return {Verb::quit, {}};
  const std::string rest(without_blanks(text.substr(1)));
  switch (text.front()) {
    case '+':
      return {Verb::add, rest};
    case '?':
      return {Verb::test, rest};
    case '-':
      return {Verb::forget, rest};
    default:
      return {Verb::add, std::string(text)};
  }
}

DemoSet::DemoSet() : filter_(expect(Bloom::create(BloomParams{kBits, kPlaces}))) {}

Digest DemoSet::digest(std::string_view word) const noexcept { return filter_.hasher()(word); }

DemoSet::Places DemoSet::places(std::string_view word) const noexcept {
  auto walk = filter_.params().layout().walk(digest(word));
  Places places;
  for (unsigned& place : places) place = static_cast<unsigned>(walk.next());
  return places;
}

bool DemoSet::is_lit(unsigned bit) const noexcept {
  return (filter_.storage().words()[0] >> bit & 1) != 0;
}

unsigned DemoSet::lit_count() const noexcept {
  unsigned count = 0;
  for (unsigned bit = 0; bit < kBits; ++bit) count += is_lit(bit) ? 1 : 0;
  return count;
}

std::string DemoSet::add(const std::string& word) {
  std::array<bool, kBits> before;
  for (unsigned bit = 0; bit < kBits; ++bit) before[bit] = is_lit(bit);
  filter_.insert(word);
  const bool was_new = known_.insert(word).second;
  if (was_new) words_.push_back(word);
  for (unsigned bit = 0; bit < kBits; ++bit) {
    is_fresh_[bit] = is_lit(bit) && !before[bit];
    if (is_fresh_[bit]) lit_by_[bit] = word;
  }
  if (!was_new) {
    return fmt::format("{} was in already, and adding it again changes nothing.", quoted(word));
  }
  return say_what_was_lit(word);
}

std::string DemoSet::say_what_was_lit(const std::string& word) const {
  const Places all = places(word);
  std::vector<std::string> fresh;
  std::vector<std::string> old;
  for (unsigned bit = 0; bit < kBits; ++bit) {
    if (std::ranges::find(all, bit) == all.end()) continue;
    (is_fresh_[bit] ? fresh : old).push_back(std::to_string(bit));
  }
  if (fresh.empty()) {
    return fmt::format(
        "{} is in, but no new bit was lit: {} To the filter it looked known before it came.",
        quoted(word), say_who_lit(all));
  }
  std::string text = fmt::format("{} is in. It lit bit{} {}", quoted(word),
                                 fresh.size() == 1 ? "" : "s", listed(fresh));
  if (!old.empty()) {
    text += fmt::format("; {} {} lit already", listed(old), old.size() == 1 ? "was" : "were");
  }
  text += '.';
  if (fresh.size() + old.size() < kPlaces) text += " Some of its places fell on one bit.";
  if (lit_count() == kBits) {
    text += " Now all bits are lit: the filter says maybe to every word, and is of no more use.";
  }
  return text;
}

std::string DemoSet::say_who_lit(const Places& places) const {
  std::vector<std::string> who;
  for (const unsigned place : places) {
    std::string name = quoted(lit_by_[place]);
    if (std::ranges::find(who, name) == who.end()) who.push_back(std::move(name));
  }
  return fmt::format("{} had lit its bits.", listed(who));
}

std::string DemoSet::test(const std::string& word) const {
  const Places all = places(word);
  if (!filter_.contains(word)) {
    const unsigned dark = *std::ranges::find_if(all, [&](unsigned bit) { return !is_lit(bit); });
    return fmt::format(
        "{} is definitely not in the set: bit {} is dark, and adding it would have lit it.",
        quoted(word), dark);
  }
  if (known_.contains(word)) {
    return fmt::format("{} is maybe in the set: all its bits are lit. It is, you added it.",
                       quoted(word));
  }
  return fmt::format(
      "{} is maybe in the set: and this time that is wrong, nobody added it. {} That is a false "
      "positive.",
      quoted(word), say_who_lit(all));
}

std::string DemoSet::forget(const std::string& word) const {
  constexpr std::string_view kRule =
      "A Bloom filter cannot forget: a bit does not know who lit it.";
  if (word.empty() || !known_.contains(word)) {
    return fmt::format("{} Only clear makes bits dark, all of them.", kRule);
  }
  const Places own = places(word);
  for (const std::string& other : words_) {
    if (other == word) continue;
    for (const unsigned bit : places(other)) {
      if (std::ranges::find(own, bit) == own.end()) continue;
      return fmt::format("{} Bit {} of {} is also one of {}: were it dark, that would be lost.",
                         kRule, bit, quoted(word), quoted(other));
    }
  }
  return fmt::format("{} Here nobody shares a bit with {}, but the filter cannot know that.", kRule,
                     quoted(word));
}

std::string DemoSet::clear() {
  *this = DemoSet();
  return "All bits are dark again, and the set is empty.";
}

std::string list_places(const DemoSet::Places& places) {
  std::vector<std::string> numbers;
  for (const unsigned place : places) numbers.push_back(std::to_string(place));
  return listed(numbers);
}

std::string explain_places(const DemoSet& set, std::string_view word) {
  return fmt::format("{} hashes to {:016x} (XXH3), and that leads to bits {}", quoted(word),
                     set.digest(word).value, list_places(set.places(word)));
}

std::string sum_up(const DemoSet& set) {
  return fmt::format("{}, {} of {} bits lit ({}), false positives ({}/{})^{} = {}",
                     plural(set.words().size(), "word"), set.lit_count(), DemoSet::kBits,
                     show_percent(static_cast<double>(set.lit_count()) / DemoSet::kBits),
                     set.lit_count(), DemoSet::kBits, DemoSet::kPlaces, show_percent(set.rate()));
}

}  // namespace probably::cli
