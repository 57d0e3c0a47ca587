// The batch kernels of every target, and the inline single-key path as this file's compiler flags
// make it, against the layouts: the specification of the bits.
#include "simd/kernels.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probably/batch.hpp"
#include "probably/blocked.hpp"
#include "probably/detail/probe.hpp"
#include "probably/split_block.hpp"
#include "support/filters.hpp"
#include "support/streams.hpp"

namespace probably {
namespace {

using testing::AlignedWords;
using testing::Answers;
using testing::DigestStream;

// A way to do the batch verbs.
template <class Layout>
struct Path {
  std::string name;
  std::function<void(const Layout&, const std::uint64_t*, std::span<const Digest>, bool*)> contains;
  std::function<std::uint64_t(const Layout&, std::uint64_t*, std::span<const Digest>, bool*)>
      insert;
};

// A key that is hashed to the digest it holds.
struct Prehashed {
  Digest digest;
};
Digest probably_digest(const Hasher&, const Prehashed& key) noexcept { return key.digest; }

// The header's path, one key at a time.
template <class Layout>
Path<Layout> inline_path() {
  return {"inline",
          [](const Layout& layout, const std::uint64_t* words, std::span<const Digest> digests,
             bool* out) noexcept {
            for (const Digest digest : digests) *out++ = detail::contains(layout, words, digest);
          },
          [](const Layout& layout, std::uint64_t* words, std::span<const Digest> digests,
             bool* was_new) noexcept {
            std::uint64_t fresh = 0;
            for (const Digest digest : digests) {
              const bool is_new = detail::insert(layout, words, digest);
              fresh += is_new;
              if (was_new != nullptr) *was_new++ = is_new;
            }
            return fresh;
          }};
}

// That, and every kernel with given digests and with keys, with and without prefetching.
template <class Layout>
std::vector<Path<Layout>> paths(const Layout& layout) {
  static const Hasher hasher;
  std::vector<Path<Layout>> all{inline_path<Layout>()};
  for (const detail::Kernels* kernels : detail::supported_kernels()) {
    for (const bool prefetch : {false, true}) {
      const auto verbs = kernels->of(layout);
      const std::string name = std::string(kernels->name) + (prefetch ? " with prefetching" : "");
      all.push_back({name + " on digests",
                     [=](const Layout& l, const std::uint64_t* words, auto digests, bool* out) {
                       verbs.contains(l, words, detail::KeySource(digests), prefetch, out);
                     },
                     [=](const Layout& l, std::uint64_t* words, auto digests, bool* was_new) {
                       return verbs.insert(l, words, detail::KeySource(digests), prefetch, was_new);
                     }});
      const auto keys_of = [](std::span<const Digest> digests) {
        std::vector<Prehashed> keys;
        for (const Digest digest : digests) keys.push_back({digest});
        return keys;
      };
      all.push_back({name + " on keys",
                     [=](const Layout& l, const std::uint64_t* words, auto digests, bool* out) {
                       const auto keys = keys_of(digests);
                       verbs.contains(l, words, detail::KeySource(hasher, std::span(keys)),
                                      prefetch, out);
                     },
                     [=](const Layout& l, std::uint64_t* words, auto digests, bool* was_new) {
                       const auto keys = keys_of(digests);
                       const detail::KeySource source(hasher, std::span(keys));
                       return verbs.insert(l, words, source, prefetch, was_new);
                     }});
      all.push_back({name + " alone",
                     [=](const Layout& l, const std::uint64_t* words, auto digests, bool* out) {
                       verbs.contains(l, words, detail::KeySource(digests), prefetch, out);
                     },
                     [=](const Layout& l, std::uint64_t* words, auto digests, bool* was_new) {
                       return verbs.fill(l, words, detail::KeySource(digests), prefetch, was_new);
                     }});
    }
  }
  return all;
}

// Random ones, and those whose products, shifts and conversions sit at borders: few bits, all bits,
// and all values of the top bits of a pattern, which choose words and the bit 31 that no signed
// lane can hold.
std::vector<Digest> trying_digests() {
  std::vector<Digest> digests = DigestStream(1).take(2000);
  for (int bit = 0; bit < 64; ++bit) {
    digests.emplace_back(std::uint64_t{1} << bit);
    digests.emplace_back(~(std::uint64_t{1} << bit));
    digests.emplace_back(~std::uint64_t{0} << bit);
    digests.emplace_back((std::uint64_t{1} << bit) - 1);
  }
  for (std::uint64_t top = 0; top < 256; ++top) {
    digests.emplace_back(top << 56);
    digests.emplace_back(top << 24);
    digests.emplace_back(top << 24 | top << 56);
    digests.emplace_back(top << 24 | 0x00ffffff);
  }
  // Patterns whose product with a salt is small, or just below a power of two: multiples of
  // inverses.
  for (const std::uint32_t salt : kSalts) {
    std::uint32_t inverse = salt;  // right to three bits; each round doubles them
    for (int round = 0; round < 4; ++round) inverse *= 2 - salt * inverse;
    for (const std::uint32_t product : {0x00000001u, 0x7fffffffu, 0x80000000u, 0xffffffffu,
                                        0xf8000000u, 0xc0000000u, 0x3fffffffu}) {
      const std::uint64_t pattern = inverse * product;
      digests.emplace_back(pattern);
      digests.emplace_back(pattern << 32);
      digests.emplace_back(pattern << 32 | pattern);
    }
  }
  return digests;
}

// Inserting sets the layout's bits, no others, and reports a key as new if one of them was missing;
// looking up finds a key exactly if none is missing.
template <class Layout>
void expect_equal_to_layout(const Layout& layout, std::size_t blocks) {
  const std::vector<Digest> digests = trying_digests();
  const std::vector<Digest> absent = DigestStream(2).take(2000);
  std::vector<std::uint64_t> expected(blocks * Layout::kBlockWords);
  std::vector<bool> expected_new;
  const auto missing = [&](Digest digest) {
    const auto place = layout.place(digest);
    const auto masks = layout.masks(place.pattern);
    for (std::size_t word = 0; word < masks.size(); ++word) {
      if ((masks[word] & ~expected[place.block * Layout::kBlockWords + word]) != 0) return true;
    }
    return false;
  };
  for (const Digest digest : digests) {
    expected_new.push_back(missing(digest));
    const auto place = layout.place(digest);
    const auto masks = layout.masks(place.pattern);
    for (std::size_t word = 0; word < masks.size(); ++word) {
      expected[place.block * Layout::kBlockWords + word] |= masks[word];
    }
  }
  const auto expected_fresh =
      static_cast<std::uint64_t>(std::count(expected_new.begin(), expected_new.end(), true));

  for (const auto& path : paths(layout)) {
    AlignedWords memory(expected.size());
    const auto words = memory.words();
    Answers was_new(digests.size());
    EXPECT_EQ(path.insert(layout, words.data(), digests, was_new.span().data()), expected_fresh)
        << path.name;
    EXPECT_TRUE(std::equal(words.begin(), words.end(), expected.begin())) << path.name;
    EXPECT_TRUE(std::equal(expected_new.begin(), expected_new.end(), was_new.span().begin()))
        << path.name;
    EXPECT_EQ(path.insert(layout, words.data(), digests, nullptr), 0u) << path.name;
    AlignedWords unanswered(expected.size());
    EXPECT_EQ(path.insert(layout, unanswered.words().data(), digests, nullptr), expected_fresh)
        << path.name;
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), unanswered.words().begin()))
        << path.name;

    Answers found(digests.size());
    path.contains(layout, words.data(), digests, found.span().data());
    EXPECT_EQ(found.trues(), digests.size()) << path.name;
    Answers others(absent.size());
    path.contains(layout, words.data(), absent, others.span().data());
    for (std::size_t i = 0; i < absent.size(); ++i) {
      ASSERT_EQ(others[i], !missing(absent[i])) << path.name << ", " << absent[i].value;
    }
  }
}

// For each key: all of its bits suffice, none of them may be missing, and no other bit counts.
template <class Layout>
void expect_every_bit_to_count(const Layout& layout) {
  ASSERT_EQ(layout.place(Digest(~std::uint64_t{0})).block, 0u) << "wants a layout of one block";
  AlignedWords memory(Layout::kBlockWords);
  const auto words = memory.words();
  const auto all_paths = paths(layout);
  for (const Digest digest : trying_digests()) {
    const auto masks = layout.masks(layout.place(digest).pattern);
    const auto expect_all_paths = [&](bool expected, const char* state) {
      for (const auto& path : all_paths) {
        bool found = !expected;
        path.contains(layout, words.data(), std::span(&digest, 1), &found);
        ASSERT_EQ(found, expected) << path.name << ", " << digest.value << ", " << state;
      }
    };
    std::copy(masks.begin(), masks.end(), words.begin());
    expect_all_paths(true, "its bits alone");
    for (std::size_t word = 0; word < masks.size(); ++word) {
      for (std::uint64_t rest = masks[word]; rest != 0; rest &= rest - 1) {
        const std::uint64_t bit = rest & ~(rest - 1);
        words[word] = masks[word] & ~bit;
        expect_all_paths(false, "its bits but one");
        std::fill(words.begin(), words.end(), ~std::uint64_t{0});
        words[word] = ~bit;
        expect_all_paths(false, "all bits but one of its");
        std::copy(masks.begin(), masks.end(), words.begin());
      }
    }
    for (std::size_t word = 0; word < masks.size(); ++word) words[word] = ~masks[word];
    expect_all_paths(false, "all bits but its");
    std::fill(words.begin(), words.end(), ~std::uint64_t{0});
    expect_all_paths(true, "all bits");
  }
}

TEST(Kernels, EveryTargetAnswersLikeTheLayout) {
  for (const std::uint32_t slices : {4u, 8u, 16u}) {
    for (const std::uint64_t lines : {1u, 2u, 3u, 64u, 1000u}) {
      SCOPED_TRACE(::testing::Message() << lines << " lines, " << slices << " slices");
      expect_equal_to_layout(BlockedLayout{lines, slices}, lines);
    }
  }
  for (const std::uint64_t blocks : {1u, 2u, 3u, 64u, 1000u}) {
    SCOPED_TRACE(::testing::Message() << blocks << " blocks");
    expect_equal_to_layout(SplitBlockLayout{blocks}, blocks);
  }
}

TEST(Kernels, EveryTargetHeedsEveryBit) {
  for (const std::uint32_t slices : {4u, 8u, 16u}) {
    SCOPED_TRACE(::testing::Message() << slices << " slices");
    expect_every_bit_to_count(BlockedLayout{1, slices});
  }
  expect_every_bit_to_count(SplitBlockLayout{1});
}

// Batches run ahead of themselves by a window; sizes around it, and no touch beyond the end.
TEST(Kernels, EveryTargetTakesBatchesOfEverySize) {
  const BlockedLayout layout{50, 8};
  const std::vector<Digest> digests = DigestStream(3).take(100);
  for (const auto& path : paths(layout)) {
    for (std::size_t size = 0; size <= digests.size(); ++size) {
      AlignedWords memory(50 * 8);
      AlignedWords expected(50 * 8);
      const auto batch = std::span(digests).first(size);
      Answers was_new(digests.size());
      const std::uint64_t fresh =
          path.insert(layout, memory.words().data(), batch, was_new.span().data());
      for (std::size_t i = 0; i < size; ++i) {
        EXPECT_EQ(detail::insert(layout, expected.words().data(), batch[i]), was_new[i]);
      }
      EXPECT_EQ(was_new.trues(), fresh) << "and none beyond the batch";
      EXPECT_TRUE(
          std::equal(memory.words().begin(), memory.words().end(), expected.words().begin()));
      Answers found(digests.size());
      path.contains(layout, memory.words().data(), batch, found.span().data());
      EXPECT_EQ(found.trues(), size) << path.name;
    }
  }
}

// On memory that is only reserved, up to a quarter of a terabyte, of which some pages are touched.
template <class Layout>
void expect_keys_to_be_found(const Layout& layout) {
  const std::size_t size = (layout.last_block() + 1) * Layout::kBlockWords * sizeof(std::uint64_t);
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "this machine does not reserve " << size;
  ::madvise(memory, size, MADV_NOHUGEPAGE);  // a page for each touch, and a small one
  auto* const words = static_cast<std::uint64_t*>(memory);
  for (const auto& path : paths(layout)) {
    const auto digests = DigestStream(std::hash<std::string>{}(path.name)).take(100);
    path.insert(layout, words, digests, nullptr);
    for (const Digest digest : digests) {
      EXPECT_TRUE(detail::contains(layout, words, digest)) << path.name;
    }
    Answers found(digests.size());
    path.contains(layout, words, digests, found.span().data());
    EXPECT_EQ(found.trues(), digests.size()) << path.name;
  }
  ::munmap(memory, size);
}

// Batches pack a block's number into 32 bits, where that is enough.
TEST(Kernels, EveryTargetCountsBlocksBeyond32Bits) {
  constexpr std::uint64_t k32Bits = std::uint64_t{1} << 32;
  for (const std::uint32_t slices : {4u, 8u, 16u}) {
    for (const std::uint64_t lines : {k32Bits - 1, k32Bits, k32Bits + k32Bits / 7}) {
      expect_keys_to_be_found(BlockedLayout{lines, slices});
    }
  }
  expect_keys_to_be_found(SplitBlockLayout{k32Bits - 1});
}

// Every digest goes to the bin of its block's part, in order, from given digests and from keys.
template <class Layout>
void expect_digests_in_their_bins(const Layout& layout) {
  constexpr unsigned kShift = 3;
  const std::size_t parts = (layout.last_block() >> kShift) + 1;
  const std::vector<Digest> digests = trying_digests();
  std::vector<std::vector<Digest>> expected(parts);
  for (const Digest digest : digests) {
    expected[layout.place(digest).block >> kShift].push_back(digest);
  }
  const Hasher hasher;
  std::vector<Prehashed> keys;
  for (const Digest digest : digests) keys.push_back({digest});
  for (const detail::Kernels* kernels : detail::supported_kernels()) {
    for (const auto& source : {detail::KeySource(std::span<const Digest>(digests)),
                               detail::KeySource(hasher, std::span<const Prehashed>(keys))}) {
      std::vector<Digest> memory(parts * digests.size());
      std::vector<Digest*> ends(parts);
      for (std::size_t part = 0; part < parts; ++part) ends[part] = &memory[part * digests.size()];
      kernels->of(layout).distribute(layout, source, kShift, ends.data());
      for (std::size_t part = 0; part < parts; ++part) {
        Digest* const begin = &memory[part * digests.size()];
        EXPECT_TRUE(std::equal(begin, ends[part], expected[part].begin(), expected[part].end()))
            << kernels->name << ", part " << part;
      }
    }
  }
}

TEST(Kernels, EveryTargetDistributesDigestsToTheirBins) {
  expect_digests_in_their_bins(BlockedLayout{1000, 8});
  expect_digests_in_their_bins(SplitBlockLayout{1001});
}

TEST(Kernels, InlineMasksAreTheLayouts) {
  for (const Digest digest : trying_digests()) {
    for (const std::uint32_t slices : {4u, 8u, 16u}) {
      const BlockedLayout layout{1000, slices};
      const auto pattern = layout.place(digest).pattern;
      ASSERT_EQ(detail::masks(layout, pattern), layout.masks(pattern)) << digest.value;
    }
    const SplitBlockLayout layout{1000};
    const auto pattern = layout.place(digest).pattern;
    ASSERT_EQ(detail::masks(layout, pattern), layout.masks(pattern)) << digest.value;
  }
}

// A program may trap floating-point exceptions. We compute with integers, and a float that carries
// one must not raise any.
TEST(Kernels, RaiseNoFloatingPointException) {
  const auto digests = DigestStream(8).take(2000);
  testing::Answers answers(digests.size());
  const auto raised = [] { return std::fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT); };
  for (const std::uint32_t slices : {4u, 8u, 16u}) {
    BlockedBloom filter = BlockedBloom::create(BlockedParams{37, slices}).value();
    BlockedBloom batch = BlockedBloom::create(BlockedParams{37, slices}).value();
    const BlockedLayout layout = filter.params().layout();
    auto* const words = const_cast<std::uint64_t*>(batch.storage().words());
    std::feclearexcept(FE_ALL_EXCEPT);
    for (const Digest digest : digests) filter.insert(digest);
    for (const Digest digest : digests) ASSERT_TRUE(filter.contains(digest));
    EXPECT_EQ(raised(), 0) << slices;
    for (const detail::Kernels* kernels : detail::supported_kernels()) {
      const detail::KeySource source{std::span<const Digest>(digests)};
      kernels->blocked.insert(layout, words, source, true, nullptr);
      kernels->blocked.fill(layout, words, source, true, nullptr);
      kernels->blocked.contains(layout, words, source, true, answers.span().data());
      EXPECT_EQ(raised(), 0) << kernels->name << ' ' << slices;
    }
  }
  SplitBlockBloom split = SplitBlockBloom::create(SplitBlockParams{37}).value();
  std::feclearexcept(FE_ALL_EXCEPT);
  for (const Digest digest : digests) split.insert(digest);
  for (const Digest digest : digests) ASSERT_TRUE(split.contains(digest));
  EXPECT_EQ(raised(), 0);
}

TEST(Kernels, TheBaselineIsTheLastOfTheSupported) {
  const auto supported = detail::supported_kernels();
  ASSERT_FALSE(supported.empty());
  EXPECT_EQ(supported.back()->name, "baseline");
  std::vector<std::string_view> names;
  for (const detail::Kernels* kernels : supported) names.push_back(kernels->name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << "a name comes twice";
}

// Tells which target a fresh process chooses, and whether its batches set the frozen bits.
[[noreturn]] void report_target(const char* wanted) {
  ::setenv("PROBABLY_TARGET", wanted, 1);
  const std::string_view chosen = batch_target();  // which may complain first
  std::cerr << "in use: " << chosen << ".\n";
  BlockedBloom filter = BlockedBloom::create(BlockedParams{37, 8}).value();
  filter.insert(DigestStream(1).take(1000));
  std::exit(testing::fold(testing::words_of(filter)) == 0xa3b88b107b6660a3 ? 0 : 1);
}

// The choice is made once per process, so each forced target gets a process of its own.
class TargetDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(TargetDeathTest, TheEnvironmentForcesATarget) {
  for (const detail::Kernels* kernels : detail::supported_kernels()) {
    const std::string wanted(kernels->name);
    EXPECT_EXIT(report_target(wanted.c_str()), ::testing::ExitedWithCode(0),
                "in use: " + wanted + "\\.");
  }
}

TEST_F(TargetDeathTest, AnEmptyOrUnknownTargetLeavesTheBest) {
  const std::string best(detail::supported_kernels().front()->name);
  EXPECT_EXIT(report_target(""), ::testing::ExitedWithCode(0), "in use: " + best + "\\.");
  EXPECT_EXIT(report_target("abacus"), ::testing::ExitedWithCode(0),
              "PROBABLY_TARGET=abacus is not one of this machine's targets: .*; using " + best +
                  "\\.\nin use: " + best + "\\.");
}

}  // namespace
}  // namespace probably
