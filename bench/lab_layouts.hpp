// The candidates for the layout of `blocked`: how a digest becomes bits of one line.
//
// A candidate has a name, a size, a shape for the rate's formula, and either
//   mask(spot)    its bits in vectors of 256 bits, or
//   marks(spot)   its bits as a short list of words and masks,
// from which insert_plain and insert_atomic follow, and its own test(line, spot).
#pragma once

#include <array>
#include <atomic>
#include <bit>

#include "lab_lanes.hpp"
#include "lab_rates.hpp"

namespace lab {

inline constexpr Salts kSalts = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
inline constexpr Salts kFourSaltsTwice = {kSalts[0], kSalts[1], kSalts[2], kSalts[3],
                                          kSalts[0], kSalts[1], kSalts[2], kSalts[3]};
inline constexpr u32 kTop = 0x80000000;

// The odd number next to 2^32 / golden ratio; it sets the second pattern apart from the first. The
// more blocks there are, the more bits the two have in common; with 2^32 blocks they are equal.
inline constexpr u32 kApart = 0x9e3779b1;

// Where a key lives: its block and two 32-bit patterns that say which bits of the block.
struct Spot {
  u64 block;
  u32 x, y;
};

// One wide multiplication gives the block (high half) and the first pattern (top of the low half).
// The second pattern comes from the low half of the digest itself: the low bits of the product
// would be zeros whenever the number of blocks is a power of two.
inline Spot locate(u64 digest, u64 blocks) {
  const auto product = static_cast<u128>(digest) * blocks;
  return {static_cast<u64>(product >> 64), static_cast<u32>(static_cast<u64>(product) >> 32),
          static_cast<u32>(digest)};
}

// A key's bits in a block of N * 256 bits.
template <int N>
using Mask = std::array<Lanes, N>;

// Parquet's split block: 256 bits, eight 32-bit words, one bit in each.
struct SplitBlock {
  static constexpr const char* kName = "split block (256 bits), k=8";
  static constexpr u32 kWords = 4;
  static constexpr Shape kShape{.groups = 8, .words = 1, .parts = 1, .cells = 32, .throws = 1};
  static Mask<1> mask(Spot s) { return {(Lanes::products(s.x, kSalts) >> 27).bit()}; }
  static bool test(const u64* line, Spot s) { return covers(Lanes::load(line), mask(s)[0]); }
};

// k slices of 512/k bits, a bit in each. Slice i owns the 32-bit words i + k*q of the line; the top
// bits of its product are q, the next five are the bit. This function is the specification.
template <u32 K>
void specify_slices(Spot s, u32 (&line)[16]) {
  constexpr u32 kWordBits = std::bit_width(16 / K) - 1;
  for (u32 i = 0; i < K; ++i) {
    const u32 product = (i < 8 ? s.x : s.y * kApart) * kSalts[i % 8];
    const u32 q = static_cast<u32>(u64{product} >> (32 - kWordBits));
    line[i + K * q] |= u32{1} << (product >> (27 - kWordBits) & 31);
  }
}

struct SixteenSlices {
  static constexpr const char* kName = "16 slices of 32 bits, k=16";
  static constexpr u32 kWords = 8, kSlices = 16;
  static constexpr Shape kShape{.groups = 16, .words = 1, .parts = 1, .cells = 32, .throws = 1};
  static Mask<2> mask(Spot s) {
    return {(Lanes::products(s.x, kSalts) >> 27).bit(),
            (Lanes::products(s.y * kApart, kSalts) >> 27).bit()};
  }
  static bool test(const u64* line, Spot s) {
    const Mask<2> m = mask(s);
    const bool low = covers(Lanes::load(line), m[0]);
    const bool high = covers(Lanes::load(line + 4), m[1]);
    return low & high;  // No branch: at 10.1 bits per key one low half in six would mislead it.
  }
};

// What becomes of it in large filters when the second pattern is not set apart.
struct SixteenSlicesNaive {
  static constexpr const char* kName = "k=16, second pattern as it is";
  static constexpr u32 kWords = 8;
  static constexpr Shape kShape = SixteenSlices::kShape;
  static constexpr u32 kUndo = 0x0e8b2f51;  // kApart * kUndo == 1
  static Mask<2> mask(Spot s) { return SixteenSlices::mask({s.block, s.x, s.y * kUndo}); }
  static bool test(const u64* line, Spot s) {
    return SixteenSlices::test(line, {s.block, s.x, s.y * kUndo});
  }
};

// The top bit of a product chooses the half of the line; the chosen half is blended before the
// test, so that a lookup costs one blend more than a split block.
struct EightSlices {
  static constexpr const char* kName = "8 slices of 64 bits, k=8";
  static constexpr u32 kWords = 8, kSlices = 8;
  static constexpr Shape kShape{.groups = 8, .words = 1, .parts = 1, .cells = 64, .throws = 1};
  static Mask<2> mask(Spot s) {
    const Lanes p = Lanes::products(s.x, kSalts);
    const Lanes bits = (p << 1 >> 27).bit();
    return {without(bits, p.sign()), bits & p.sign()};
  }
  static bool test(const u64* line, Spot s) {
    const Lanes p = Lanes::products(s.x, kSalts);
    return covers(choose(p, Lanes::load(line), Lanes::load(line + 4)), (p << 1 >> 27).bit());
  }
};

// Four products, held twice: the top bit chooses the half of the line, the next one the quarter.
struct FourSlices {
  static constexpr const char* kName = "4 slices of 128 bits, k=4";
  static constexpr u32 kWords = 8, kSlices = 4;
  static constexpr Shape kShape{.groups = 4, .words = 1, .parts = 1, .cells = 128, .throws = 1};
  static Lanes quarter_bits(Lanes p) {
    const Lanes mine = ((p << 1) ^ constant({kTop, kTop, kTop, kTop, 0, 0, 0, 0})).sign();
    return (p << 2 >> 27).bit() & mine;
  }
  static Mask<2> mask(Spot s) {
    const Lanes p = Lanes::products(s.x, kFourSaltsTwice);
    const Lanes bits = quarter_bits(p);
    return {without(bits, p.sign()), bits & p.sign()};
  }
  static bool test(const u64* line, Spot s) {
    const Lanes p = Lanes::products(s.x, kFourSaltsTwice);
    return covers(choose(p, Lanes::load(line), Lanes::load(line + 4)), quarter_bits(p));
  }
};

// Four pairs of 64-bit words: a key picks one of each pair and sets a bit in each of its halves.
struct FourWords {
  static constexpr const char* kName = "4 words of 2x32 bits, k=8";
  static constexpr u32 kWords = 8;
  static constexpr Shape kShape{.groups = 4, .words = 2, .parts = 2, .cells = 32, .throws = 1};
  static Mask<2> mask(Spot s) {
    const Lanes p = Lanes::products(s.x, kSalts);
    const Lanes bits = (p << 1 >> 27).bit();
    const Lanes upper = p.odd().sign();
    return {without(bits, upper), bits & upper};
  }
  static bool test(const u64* line, Spot s) {
    const Lanes p = Lanes::products(s.x, kSalts);
    return covers(choose(p.odd(), Lanes::load(line), Lanes::load(line + 4)), (p << 1 >> 27).bit());
  }
};

// Four pairs of 64-bit words, two bits anywhere in the chosen word of each pair.
struct FourWordsAnyBits {
  static constexpr const char* kName = "4 words, 2 of 64 bits, k=8";
  static constexpr u32 kWords = 8;
  static constexpr Shape kShape{.groups = 4, .words = 2, .parts = 1, .cells = 64, .throws = 2};
  // One bit in each 64-bit word, at the place that the top six bits of its lanes name.
  static Lanes word_bits(Lanes p) {
    const Lanes mine = (p ^ constant({kTop, 0, kTop, 0, kTop, 0, kTop, 0})).sign();
    return (p << 1 >> 27).bit() & mine;
  }
  static Mask<2> mask(Spot s) {
    const Lanes p = Lanes::products(s.x, kSalts);
    const Lanes bits = word_bits(p.even()) | word_bits(p.odd() << 1);
    const Lanes upper = p.odd().sign();
    return {without(bits, upper), bits & upper};
  }
  static bool test(const u64* line, Spot s) {
    const Lanes p = Lanes::products(s.x, kSalts);
    const Lanes bits = word_bits(p.even()) | word_bits(p.odd() << 1);
    return covers(choose(p.odd(), Lanes::load(line), Lanes::load(line + 4)), bits);
  }
};

struct Mark {
  u32 word;
  u64 mask;
};

// The same bits as FourSlices, without vectors and without branches.
struct FourSlicesScalar {
  static constexpr const char* kName = "4 slices, scalar, k=4";
  static constexpr u32 kWords = 8;
  static constexpr Shape kShape = FourSlices::kShape;
  static std::array<Mark, 4> marks(Spot s) {
    const auto mark = [x = s.x](u32 i) {
      const u32 product = x * kSalts[i];
      return Mark{i / 2 + 2 * (product >> 30), u64{1} << ((product >> 25 & 31) + 32 * (i % 2))};
    };
    return {mark(0), mark(1), mark(2), mark(3)};
  }
  static bool test(const u64* line, Spot s) {
    const auto bit = [line, x = s.x](u32 i) {
      const u32 product = x * kSalts[i];
      return line[i / 2 + 2 * (product >> 30)] >> ((product >> 25 & 31) + 32 * (i % 2)) & 1;
    };
    return (bit(0) & bit(1) & bit(2) & bit(3)) != 0;
  }
};

// Two of eight words, three bits in each.
struct TwoWords {
  static constexpr const char* kName = "2 words, 3 of 64 bits, k=6";
  static constexpr u32 kWords = 8;
  static constexpr Shape kShape{.groups = 2, .words = 4, .parts = 1, .cells = 64, .throws = 3};
  static std::array<Mark, 2> marks(Spot s) {
    const auto mark = [x = s.x](u32 first, u64 salt) {
      const u64 h = x * salt;
      const auto bit = [h](int shift) { return u64{1} << (h >> shift & 63); };
      return Mark{first + static_cast<u32>(h >> 62), bit(56) | bit(50) | bit(44)};
    };
    return {mark(0, 0xd1342543de82ef95U), mark(4, 0x9e3779b97f4a7c15U)};
  }
  static bool test(const u64* line, Spot s) {
    const auto [first, second] = marks(s);
    return ((first.mask & ~line[first.word]) | (second.mask & ~line[second.word])) == 0;
  }
};

template <class Layout>
concept Vectorised = requires(Spot s) {
  Layout::mask(s);
};

template <class Layout>
void insert_plain(u64* line, Spot s) {
  if constexpr (Vectorised<Layout>) {
    for (const Lanes& part : Layout::mask(s)) {
      (Lanes::load(line) | part).store(line);
      line += 4;
    }
  } else {
    for (const Mark& m : Layout::marks(s)) line[m.word] |= m.mask;
  }
}

// ORs the missing bits into the words that `incomplete` lists, in ascending order, and tells
// whether the last of these ORs changed its word: at most one of the threads that insert a key is
// told so.
template <class MarkAt>
bool complete(u64* line, u32 incomplete, MarkAt&& mark_at) {
  if (incomplete == 0) return false;
  for (; (incomplete & (incomplete - 1)) != 0; incomplete &= incomplete - 1) {
    const Mark m = mark_at(static_cast<u32>(std::countr_zero(incomplete)));
    std::atomic_ref<u64>(line[m.word]).fetch_or(m.mask, std::memory_order_release);
  }
  const Mark m = mark_at(static_cast<u32>(std::countr_zero(incomplete)));
  const u64 old = std::atomic_ref<u64>(line[m.word]).fetch_or(m.mask, std::memory_order_release);
  return (old & m.mask) != m.mask;
}

// The vectors read the line at once, beside writers: bits only ever go from 0 to 1, so a torn read
// is a state between old and new and at worst repeats an OR. A vector load acquires on x86.
template <class Layout>
bool insert_atomic(u64* line, Spot s) {
  u32 incomplete = 0;
  if constexpr (Vectorised<Layout>) {
    alignas(32) u64 missing[Layout::kWords];
    u32 at = 0;
    for (const Lanes& part : Layout::mask(s)) {
      const Lanes lanes = without(part, Lanes::load(line + at));
      lanes.store(missing + at);
      incomplete |= lanes.nonzero_words() << at;
      at += 4;
    }
    return complete(line, incomplete, [&](u32 i) { return Mark{i, missing[i]}; });
  } else {
    const auto marks = Layout::marks(s);
    for (u32 i = 0; i < marks.size(); ++i) {
      const std::atomic_ref<u64> word(line[marks[i].word]);
      const u64 missing = marks[i].mask & ~word.load(std::memory_order_acquire);
      incomplete |= static_cast<u32>(missing != 0) << i;
    }
    return complete(line, incomplete, [&](u32 i) { return marks[i]; });
  }
}

}  // namespace lab
