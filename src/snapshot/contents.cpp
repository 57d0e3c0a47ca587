#include "snapshot/contents.hpp"

#include <chrono>

namespace probably::detail {
namespace {

std::uint64_t seconds_since_1970() noexcept {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

}  // namespace

Result<void> apply_options(const SaveOptions& options, Header& header) {
  if (options.promised_fpr != 0 && !is_promise(options.promised_fpr)) {
    return Error{ErrorCode::invalid_argument,
                 "SaveOptions::promised_fpr is no rate between 0 and 1."};
  }
  header.promised_fpr = options.promised_fpr;
  header.created = options.created.value_or(seconds_since_1970());
  if (options.sparse) header.encoding = Encoding::sparse;
  if (options.store_secret && header.secret_state == SecretState::withheld) {
    header.secret_state = SecretState::stored;
  }
  return {};
}

Result<Hasher> hasher_of(const Header& header, const std::optional<SecretKey>& secret,
                         const std::string& name) {
  const std::uint64_t seed = header.fingerprint;
  switch (header.algorithm) {
    case HashAlgorithm::xxh3:
      return Hasher::xxh3(seed);
    case HashAlgorithm::xxh64:
      return Hasher::xxh64(seed);
    case HashAlgorithm::murmur3:
      if (seed > std::numeric_limits<std::uint32_t>::max()) break;
      return Hasher::murmur3(static_cast<std::uint32_t>(seed));
    case HashAlgorithm::fnv1a:
      if (seed != 0) break;
      return Hasher::fnv1a();
    case HashAlgorithm::scheme:
      return corrupt(name, "its kind has no hash of its own");
    case HashAlgorithm::siphash24: {
      const bool is_stored = header.secret_state == SecretState::stored;
      if (!is_stored && !secret) {
        return Error{ErrorCode::secret,
                     name + " holds a keyed filter without its secret; give the secret."};
      }
      const Hasher stored = Hasher::keyed(is_stored ? header.secret : *secret);
      if (is_stored && stored.fingerprint() != header.fingerprint) {
        return corrupt(name, "its secret has another fingerprint than it says");
      }
      const Hasher given = secret ? Hasher::keyed(*secret) : stored;
      if (given.fingerprint() != header.fingerprint) {
        return Error{ErrorCode::secret, name + " was made with another secret than the one given."};
      }
      return given;
    }
  }
  return corrupt(name, "its hash algorithm has no such seed");
}

}  // namespace probably::detail
