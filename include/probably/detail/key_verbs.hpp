// The verbs of a filter for keys and for many of them, made of its verbs for one digest.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "probably/batch.hpp"
#include "probably/detail/require.hpp"
#include "probably/detail/target.hpp"
#include "probably/digest.hpp"

namespace probably::detail {

// What is neither a key nor many. Overloads that take it are deleted, for the compiler's message.
template <class T, class Digest>
concept NotAKey = !Key<T> && !Batch<T> && !std::convertible_to<const T&, std::span<const Digest>>;

// Filter is a class that derives from this one, has keys hashed by an H, and has
//   hasher(), insert(Digest), contains(Digest)
//   contains_each(const KeySource&, bool* out), and insert_each(const KeySource&, bool* was_new)
//   and insert_alone_each, where was_new may be null
template <class Filter, class H>
class KeyVerbs {
  using Digest = typename H::Digest;
  using KeySource = BasicKeySource<H>;

 public:
  template <Key K>
  PROBABLY_INLINE bool insert(const K& key) noexcept {
    return self().insert(self().hasher()(key));
  }
  template <Key K>
  [[nodiscard]] PROBABLY_INLINE bool contains(const K& key) const noexcept {
    return self().contains(self().hasher()(key));
  }

  // Compilers print these lines when a type is no key; docs/hashing.md has more.
  template <NotAKey<Digest> T>
  bool insert(const T&) = delete;  // write probably_digest() for T, or give std::span(keys)
  template <NotAKey<Digest> T>
  bool contains(const T&) const = delete;  // write probably_digest() for T, or give spans

  // Same answers as one call per digest, but the cache misses overlap.
  // Requires, checked in all builds: out.size() == digests.size(), was_new.size() likewise.
  void contains(std::span<const Digest> digests, std::span<bool> out) const noexcept {
    contains_many(KeySource(digests), out);
  }
  // The same for insertion, in order; returns how many keys were new.
  std::uint64_t insert(std::span<const Digest> digests) noexcept {
    return self().insert_each(KeySource(digests), nullptr);
  }
  std::uint64_t insert(std::span<const Digest> digests, std::span<bool> was_new) noexcept {
    return insert_many(KeySource(digests), was_new);
  }

  // The same for spans of keys and packed strings, for example contains(std::span(names), answers).
  template <Batch B>
  PROBABLY_INLINE void contains(const B& keys, std::span<bool> out) const noexcept {
    contains_many(KeySource(self().hasher(), keys), out);
  }
  template <Batch B>
  PROBABLY_INLINE std::uint64_t insert(const B& keys) noexcept {
    return self().insert_each(KeySource(self().hasher(), keys), nullptr);
  }
  template <Batch B>
  PROBABLY_INLINE std::uint64_t insert(const B& keys, std::span<bool> was_new) noexcept {
    return insert_many(KeySource(self().hasher(), keys), was_new);
  }

  // As insert, while no other call on this filter may run: blocked, split_block and scalable
  // filters then need no atomic operations, and take new keys several times as fast.
  std::uint64_t insert_alone(std::span<const Digest> digests) noexcept {
    return self().insert_alone_each(KeySource(digests), nullptr);
  }
  std::uint64_t insert_alone(std::span<const Digest> digests, std::span<bool> was_new) noexcept {
    return insert_alone_many(KeySource(digests), was_new);
  }
  template <Batch B>
  PROBABLY_INLINE std::uint64_t insert_alone(const B& keys) noexcept {
    return self().insert_alone_each(KeySource(self().hasher(), keys), nullptr);
  }
  template <Batch B>
  PROBABLY_INLINE std::uint64_t insert_alone(const B& keys, std::span<bool> was_new) noexcept {
    return insert_alone_many(KeySource(self().hasher(), keys), was_new);
  }

 private:
  [[nodiscard]] PROBABLY_INLINE Filter& self() noexcept { return static_cast<Filter&>(*this); }
  [[nodiscard]] PROBABLY_INLINE const Filter& self() const noexcept {
    return static_cast<const Filter&>(*this);
  }

  void contains_many(const KeySource& keys, std::span<bool> out) const noexcept {
    require(out.size() == keys.size(), "contains: there must be an answer for each key.");
    self().contains_each(keys, out.data());
  }
  std::uint64_t insert_many(const KeySource& keys, std::span<bool> was_new) noexcept {
    require(was_new.size() == keys.size(), "insert: there must be an answer for each key.");
    return self().insert_each(keys, was_new.data());
  }
  std::uint64_t insert_alone_many(const KeySource& keys, std::span<bool> was_new) noexcept {
    require(was_new.size() == keys.size(), "insert_alone: there must be an answer for each key.");
    return self().insert_alone_each(keys, was_new.data());
  }
};

}  // namespace probably::detail
