// The batch verbs, compiled once per vector target. Highway includes this file again for each of
// them.
//
// AVX-512 is left out: a line is two 256-bit loads, and a target that our tests cannot run is one
// that we do not ship.
#include "simd/kernels.hpp"

#define HWY_DISABLED_TARGETS (HWY_AVX3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <array>
#include <cstddef>

#include "probably/detail/probe.hpp"
#include "probably/storage.hpp"
#include "simd/line_ops-inl.hpp"
#include "simd/places-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace probably::detail::HWY_NAMESPACE {
namespace {

template <class Ops, class Layout>
void contains_with(const Layout& layout, const std::uint64_t* words, const KeySource& keys,
                   bool prefetch, bool* out) noexcept {
  for_each_place(layout, words, keys, prefetch,
                 [&](std::size_t i, const typename Layout::Place& place) HWY_ATTR {
                   out[i] = Ops::covers(words + place.block * Layout::kBlockWords, place.pattern);
                 });
}

template <class Ops, class Layout>
std::uint64_t insert_with(const Layout& layout, std::uint64_t* words, const KeySource& keys,
                          bool prefetch, bool* was_new) noexcept {
  std::uint64_t fresh = 0;
  for_each_place(layout, words, keys, prefetch,
                 [&](std::size_t i, const typename Layout::Place& place) HWY_ATTR {
                   const bool is_new = insert_masks(words + place.block * Layout::kBlockWords,
                                                    Ops::masks(place.pattern));
                   fresh += is_new;
                   if (was_new != nullptr) was_new[i] = is_new;
                 });
  return fresh;
}

template <class Ops, class Layout>
std::uint64_t fill_with(const Layout& layout, std::uint64_t* words, const KeySource& keys,
                        bool prefetch, bool* was_new) noexcept {
  std::uint64_t fresh = 0;
  for_each_place(layout, words, keys, prefetch,
                 [&](std::size_t i, const typename Layout::Place& place) HWY_ATTR {
                   std::uint64_t* const block = words + place.block * Layout::kBlockWords;
                   const bool is_new = !Ops::set(block, place.pattern);
                   fresh += is_new;
                   if (was_new != nullptr) was_new[i] = is_new;
                 });
  return fresh;
}

template <class Layout>
void distribute(const Layout& layout, const KeySource& keys, unsigned shift,
                Digest** ends) noexcept {
  const auto put = [ends](std::size_t part, Digest digest) {
    Digest* const end = ends[part]++;
    *end = digest;
    __builtin_prefetch(end + 2 * kCacheLineBytes / sizeof(Digest), 1);
  };
  with_places(layout, keys, [&](auto& places) HWY_ATTR {
    for (std::size_t first = 0; first < places.digests().whole(); first += kStep) {
      const auto step = places.take(first);
      for (std::size_t j = 0; j < kStep; ++j) put(step.block(j) >> shift, step.digest(j));
    }
    for (const Digest digest : places.digests().rest()) {
      put(layout.place(digest).block >> shift, digest);
    }
  });
}

// The kernels of a blocked layout: one per number of slices, chosen once per batch.
template <class Run>
HWY_INLINE auto with_slices(const BlockedLayout& layout, Run&& run) {
  if (layout.slices == 8) return run(BlockedOps<8>{});
  if (layout.slices == 16) return run(BlockedOps<16>{});
  return run(BlockedOps<4>{});
}

void contains_blocked(const BlockedLayout& layout, const std::uint64_t* words,
                      const KeySource& keys, bool prefetch, bool* out) noexcept {
  with_slices(layout,
              [&]<class Ops>(Ops) { contains_with<Ops>(layout, words, keys, prefetch, out); });
}

std::uint64_t insert_blocked(const BlockedLayout& layout, std::uint64_t* words,
                             const KeySource& keys, bool prefetch, bool* was_new) noexcept {
  return with_slices(layout, [&]<class Ops>(Ops) {
    return insert_with<Ops>(layout, words, keys, prefetch, was_new);
  });
}

std::uint64_t fill_blocked(const BlockedLayout& layout, std::uint64_t* words, const KeySource& keys,
                           bool prefetch, bool* was_new) noexcept {
  return with_slices(layout, [&]<class Ops>(Ops) {
    return fill_with<Ops>(layout, words, keys, prefetch, was_new);
  });
}

}  // namespace

extern const Kernels kKernels;
const Kernels kKernels = {
    .name = kName,
    .blocked = {contains_blocked, insert_blocked, fill_blocked, distribute<BlockedLayout>},
    .split_block = {contains_with<SplitBlockOps, SplitBlockLayout>,
                    insert_with<SplitBlockOps, SplitBlockLayout>,
                    fill_with<SplitBlockOps, SplitBlockLayout>, distribute<SplitBlockLayout>},
};

}  // namespace probably::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "probably/batch.hpp"

namespace probably::detail {
namespace {

// Fixed in size: nothing here may allocate, since lookups never do.
struct Supported {
  std::array<const Kernels*, 4> list{};
  std::size_t count = 0;

  // Best first. A target that the compiler's baseline contains is that baseline.
  Supported() noexcept {
#if !PROBABLY_TSAN && !defined(PROBABLY_FORCE_SCALAR)
#if HWY_TARGETS & HWY_AVX2
    add(HWY_AVX2, N_AVX2::kKernels);
#endif
#if HWY_TARGETS & HWY_SSE4
    add(HWY_SSE4, N_SSE4::kKernels);
#endif
#if HWY_TARGETS & HWY_SSSE3
    add(HWY_SSSE3, N_SSSE3::kKernels);
#endif
#endif
    if (count == 0 || list[count - 1] != &HWY_NAMESPACE::kKernels)
      list[count++] = &HWY_NAMESPACE::kKernels;
  }

  void add(std::int64_t target, const Kernels& kernels) noexcept {
    if ((hwy::SupportedTargets() & target) != 0) list[count++] = &kernels;
  }
};

const Kernels* choose_kernels() noexcept {
  const auto supported = supported_kernels();
  const char* wanted = std::getenv("PROBABLY_TARGET");
  if (wanted == nullptr || *wanted == '\0') return supported.front();
  for (const Kernels* candidate : supported) {
    if (candidate->name == wanted) return candidate;
  }
  std::fprintf(stderr,
               "probably: PROBABLY_TARGET=%s is not one of this machine's targets:", wanted);
  for (const Kernels* candidate : supported) std::fprintf(stderr, " %s", candidate->name.data());
  std::fprintf(stderr, "; using %s.\n", supported.front()->name.data());
  return supported.front();
}

}  // namespace

std::span<const Kernels* const> supported_kernels() noexcept {
  static const Supported supported;
  return {supported.list.data(), supported.count};
}

bool is_cached(std::uint64_t bytes) noexcept {
  static const long l2_bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  constexpr std::uint64_t kUnknown = 512 * 1024;
  // Half of it: keys and answers pass through the rest.
  return bytes <= (l2_bytes > 0 ? static_cast<std::uint64_t>(l2_bytes) : kUnknown) / 2;
}

const Kernels& kernels() noexcept {
  static const Kernels* const chosen = choose_kernels();
  return *chosen;
}

}  // namespace probably::detail

std::string_view probably::batch_target() noexcept { return detail::kernels().name; }

#endif  // HWY_ONCE
