// Any sequence of operations on any geometry of every kind, against a model: a plain set of
// digests.
//
// The model knows no false positive, so it says what must be found; and every vector target, the
// single-key path and the batches must agree to the bit.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <span>
#include <vector>

#include "probably/kinds.hpp"
#include "simd/kernels.hpp"

namespace {

using namespace probably;

// Takes numbers off the front of the input; zeros when it is used up.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  std::uint64_t number(std::size_t width) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width && !bytes_.empty(); ++i) {
      value = value << 8 | bytes_.front();
      bytes_ = bytes_.subspan(1);
    }
    return value;
  }
  // Half of them from a small set, so that keys come twice; half of them anything.
  Digest digest() {
    const std::uint64_t first = number(1);
    return Digest(first < 128 ? first * 0x9e3779b97f4a7c15u : number(8));
  }
  [[nodiscard]] bool done() const { return bytes_.empty(); }

 private:
  std::span<const std::uint8_t> bytes_;
};

// Ends the run, naming the line that called.
void require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "The requirement at line %d does not hold.\n", line);
  std::abort();
}

// Whether the words have all bits that the layout, which specifies them, gives to the digest.
template <class Layout>
bool specified(const Layout& layout, const std::uint64_t* words, Digest digest) {
  if constexpr (detail::LineLayout<Layout>) {
    const auto place = layout.place(digest);
    const auto masks = layout.masks(place.pattern);
    for (std::size_t i = 0; i < masks.size(); ++i) {
      if ((masks[i] & ~words[place.block * Layout::kBlockWords + i]) != 0) return false;
    }
  } else {
    auto walk = layout.walk(digest);
    for (std::uint32_t i = 0; i < layout.hashes; ++i) {
      const std::uint64_t place = walk.next();
      if ((words[place / 64] >> (place % 64) & 1) == 0) return false;
    }
  }
  return true;
}

// A key is new if and only if it was not found: in one thread there is no third case.
template <class F>
bool insert_checked(F& filter, Digest digest) {
  const bool found = filter.contains(digest);
  const bool is_new = filter.insert(digest);
  require(is_new != found);
  require(filter.contains(digest));
  if constexpr (!Growable<F>) {
    require(specified(filter.params().layout(), filter.storage().words(), digest));
  }
  return is_new;
}

// No false negative; and where nothing grows, the bits are those of the set, however it came about.
template <class F>
void check_against(const F& filter, const std::set<Digest>& model) {
  for (const Digest digest : model) require(filter.contains(digest));
  if constexpr (!Growable<F>) {
    auto rebuilt = F::create(filter.params()).value();
    for (const Digest digest : model) rebuilt.insert(digest);
    require(rebuilt == filter);
  }
}

// Every target's batch verbs against the single-key path, on copies.
template <class F>
void check_targets(const F& filter, std::span<const Digest> digests) {
  auto expected = filter.clone();
  std::vector<char> found;
  std::vector<char> fresh;
  for (const Digest digest : digests) found.push_back(filter.contains(digest));
  for (const Digest digest : digests) fresh.push_back(expected.insert(digest));
  const auto layout = filter.params().layout();
  const detail::KeySource keys(digests);
  for (const detail::Kernels* kernels : detail::supported_kernels()) {
    const auto& verbs = kernels->of(layout);
    for (const bool prefetch : {false, true}) {
      std::array<bool, 64> out{};
      verbs.contains(layout, filter.storage().words(), keys, prefetch, out.data());
      for (std::size_t i = 0; i < digests.size(); ++i) require(out[i] == (found[i] != 0));
      // The copies' own memory, written by this target.
      auto inserted = filter.clone();
      verbs.insert(layout, const_cast<std::uint64_t*>(inserted.storage().words()), keys, prefetch,
                   out.data());
      for (std::size_t i = 0; i < digests.size(); ++i) require(out[i] == (fresh[i] != 0));
      require(inserted == expected);
      auto filled = filter.clone();
      verbs.fill(layout, const_cast<std::uint64_t*>(filled.storage().words()), keys, prefetch,
                 nullptr);
      require(filled == expected);
    }
  }
}

template <class F>
void run(Input& input, const typename F::Params& params) {
  auto created = F::create(params);
  auto other_created = F::create(params);
  if (!created || !other_created) return;
  F& filter = *created;
  F& other = *other_created;
  std::set<Digest> model;
  std::set<Digest> other_model;
  double fill = 0;
  while (!input.done()) {
    switch (input.number(1) % 7) {
      case 0: {
        const Digest digest = input.digest();
        const bool known = model.contains(digest);
        const bool was_new = insert_checked(filter, digest);
        require(!(known && was_new));
        model.insert(digest);
        break;
      }
      case 1: {
        std::vector<Digest> digests(input.number(1) % 64);
        for (Digest& digest : digests) digest = input.digest();
        std::array<bool, 64> out{};
        auto singly = filter.clone();
        std::uint64_t expected = 0;
        for (const Digest digest : digests) expected += insert_checked(singly, digest);
        require(filter.insert(digests, std::span(out).first(digests.size())) == expected);
        require(filter == singly);
        filter.contains(digests, std::span(out).first(digests.size()));
        for (std::size_t i = 0; i < digests.size(); ++i) require(out[i]);
        model.insert(digests.begin(), digests.end());
        break;
      }
      case 2: {
        const Digest digest = input.digest();
        other.insert(digest);
        other_model.insert(digest);
        break;
      }
      case 3: {
        auto turned = other.clone();
        require(turned.merge(filter).has_value());
        require(filter.merge(other).has_value());
        require(turned == filter);
        require(filter.merge(other).has_value());
        require(turned == filter);
        model.insert(other_model.begin(), other_model.end());
        break;
      }
      case 4:
        filter.clear();
        model.clear();
        fill = 0;
        require(filter == F::create(params).value());
        require(filter.approximate_size().value == 0);
        break;
      case 5: {
        std::vector<Digest> digests(input.number(1) % 64);
        for (Digest& digest : digests) digest = input.digest();
        if constexpr (!Growable<F> && kind_of<F> != Kind::bloom) check_targets(filter, digests);
        break;
      }
      default:
        check_against(filter, model);
        require(filter.estimated_fpr() >= 0 && filter.estimated_fpr() <= 1);
        require(filter.approximate_size().value >= 0);
        if constexpr (!Growable<F>) {
          require(filter.fill_ratio() >= fill);
          fill = filter.fill_ratio();
        }
    }
  }
  check_against(filter, model);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  switch (input.number(1) % 4) {
    case 0:
      run<Bloom>(input, {input.number(2), static_cast<std::uint32_t>(input.number(1) % 70)});
      break;
    case 1:
      run<BlockedBloom>(input, {input.number(1), 4u << (input.number(1) % 4)});
      break;
    case 2:
      run<SplitBlockBloom>(input, {input.number(1)});
      break;
    default:
      run<ScalableBloom>(input,
                         {input.number(1) + 1, 0.001 * static_cast<double>(input.number(1) + 1),
                          static_cast<std::uint32_t>(2 + input.number(1) % 4)});
  }
  return 0;
}
