#include "records/exact.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "probably/digest.hpp"
#include "probably/scalable.hpp"
#include "trouble.hpp"

namespace probably::cli {
namespace {

// Of the suspects, so that few others are looked up.
constexpr double kSuspectsFpr = 0.01;

// A seed that nobody can know, for nobody shall choose keys that meet in the table.
Hasher unpredictable_hasher() {
  const SecretKey secret = random_secret();
  std::uint64_t seed = 0;
  std::memcpy(&seed, secret.data(), sizeof seed);
  return Hasher::xxh3(seed);
}

AnyFilter empty_suspects(std::uint64_t keys) {
  return expect(ScalableBloom::create({.keys = keys, .fpr = kSuspectsFpr}, unpredictable_hasher()));
}

}  // namespace

// --- FirstPlaces ---------------------------------------------------------------------------------

std::size_t FirstPlaces::slots_for(std::uint64_t keys) {
  return static_cast<std::size_t>(keys + keys / 3 + 64);
}

FirstPlaces::FirstPlaces(std::uint64_t keys) : slots_(slots_for(keys)) {}

void FirstPlaces::put(std::vector<Slot>& slots, std::uint64_t digest, std::uint64_t place) {
  std::size_t at = home(digest, slots.size());
  while (slots[at] != 0) at = at + 1 == slots.size() ? 0 : at + 1;
  slots[at] = tag(digest) | (place + 1);
}

template <class IsSame, class DigestAt>
bool FirstPlaces::find_or_put(std::uint64_t digest, std::uint64_t place, IsSame&& is_same,
                              DigestAt&& digest_at) {
  std::size_t at = home(digest, slots_.size());
  for (; slots_[at] != 0; at = at + 1 == slots_.size() ? 0 : at + 1) {
    if (((slots_[at] ^ tag(digest)) & ~kPlaceMask) == 0 && is_same(place_in(slots_[at])))
      return true;
  }
  slots_[at] = tag(digest) | (place + 1);
  // A fifth stays free, or searches become long.
  if (++used_ > slots_.size() / 5 * 4) {
    std::vector<Slot> larger(slots_.size() * 2);
    for (const Slot slot : slots_) {
      if (slot != 0) put(larger, digest_at(place_in(slot)), place_in(slot));
    }
    slots_ = std::move(larger);
  }
  return false;
}

std::uint64_t FirstPlaces::first_guess(std::uint64_t digest, std::uint64_t otherwise) const {
  const Slot slot = slots_[home(digest, slots_.size())];
  return slot == 0 ? otherwise : place_in(slot);
}

// --- ExactCheck ----------------------------------------------------------------------------------

ExactCheck::ExactCheck(const MappedFiles& files, const RecordReader& reader, std::uint64_t suspects)
    : files_(files), reader_(reader), suspects_(empty_suspects(suspects)) {
  if (files_.size() > FirstPlaces::kMaxPlace) {
    throw Trouble("--exact-check takes input of up to 1 TiB.");
  }
}

void ExactCheck::suspect(const Batch& batch) {
  const auto keys = reader_.keys(batch);
  suspected_.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!batch.answers[i]) suspected_.push_back(keys[i]);
  }
  suspects_.hash(std::span<const std::string_view>(suspected_), digests_);
  answers_.resize(suspected_.size());
  suspected_keys_ += suspects_.insert_alone(digests_, answers_.span());
}

void ExactCheck::begin_second() { places_ = FirstPlaces(suspected_keys_); }

void ExactCheck::prepare(Batch& batch) const {
  reader_.prepare(batch, suspects_);
  suspects_.contains(batch.digests, batch.answers.span());
}

std::string_view ExactCheck::key_at(std::uint64_t place) const {
  key_room_.clear();
  const auto key = reader_.first_key(files_.from(place), key_room_);
  if (!key) throw Trouble("The input changed while it was read. The output is not complete.");
  return *key;
}

std::uint64_t ExactCheck::settle(Batch& batch) {
  const auto digests = batch.digests.of<Digest>();
  const auto keys = reader_.keys(batch);
  const auto answers = batch.answers.span();
  const auto hasher = suspects_.get_if<ScalableBloom>()->hasher();
  const auto digest_at = [&](std::uint64_t place) { return hasher(key_at(place)).value; };
  // Both the slots and the places of the input are far away: they are asked for ahead of their use.
  constexpr std::size_t kSlotsAhead = 24;
  constexpr std::size_t kPlacesAhead = 12;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + kSlotsAhead < keys.size() && answers[i + kSlotsAhead]) {
      places_.prefetch(digests[i + kSlotsAhead].value);
    }
    if (i + kPlacesAhead < keys.size() && answers[i + kPlacesAhead]) {
      __builtin_prefetch(
          files_.from(places_.first_guess(digests[i + kPlacesAhead].value, 0)).data());
    }
    if (!answers[i]) {
      answers[i] = true;
      continue;
    }
    const std::string_view key = keys[i];
    const char* const record = reader_.record_of_key(batch, i).data();
    const std::uint64_t place =
        batch.block.begin + static_cast<std::uint64_t>(record - batch.block.bytes.data());
    const auto is_same = [&](std::uint64_t other) {
      key_room_.clear();
      return reader_.is_first_key(key, files_.from(other), key_room_);
    };
    answers[i] = !places_.find_or_put(digests[i].value, place, is_same, digest_at);
  }
  return static_cast<std::uint64_t>(std::count(answers.begin(), answers.end(), true));
}

}  // namespace probably::cli
