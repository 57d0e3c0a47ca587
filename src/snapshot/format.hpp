// The header and the shape of a snapshot, as docs/format.md says. Nothing here knows a filter's
// type, and nothing here allocates by what a file claims.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "probably/digest.hpp"
#include "probably/kinds.hpp"
#include "probably/result.hpp"

namespace probably::detail {

inline constexpr std::uint16_t kFormatVersion = 1;
inline constexpr std::uint64_t kPageBytes = 4096;
inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::uint32_t kChunkBytes = 64
                                             << 10;  // what is written; readers take what is legal
inline constexpr std::uint32_t kMaxSections = 64;

enum class Encoding : std::uint8_t { plain = 0, sparse = 1 };
enum class Extent : std::uint8_t { whole = 0, delta = 1 };
enum class SecretState : std::uint8_t { none = 0, withheld = 1, stored = 2 };

using HeaderBytes = std::array<std::byte, kHeaderBytes>;

// One array of bits: the filter's, or that of one of its links.
struct Section {
  std::uint64_t bytes = 0;
  // Of a link; zeros elsewhere.
  std::uint64_t lines = 0;
  std::uint64_t slices = 0;
  std::uint64_t inserted = 0;

  [[nodiscard]] std::uint64_t padded_bytes() const noexcept {
    return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  }
  friend bool operator==(const Section&, const Section&) = default;
};

struct Header {
  Kind kind{};
  Encoding encoding = Encoding::plain;
  Extent extent = Extent::whole;
  HashAlgorithm algorithm{};
  SecretState secret_state = SecretState::none;
  std::uint64_t created = 0;
  std::uint64_t fingerprint = 0;  // the hasher's: its seed, or the fingerprint of its secret
  SecretKey secret{};             // written only if stored
  bool has_drawn_secret = false;  // that nobody knows; not written
  std::array<std::uint64_t, 3> params{};
  std::uint32_t chunk_bytes = kChunkBytes;
  double promised_fpr = 0;  // 0: not told
  std::vector<Section> sections;

  // Chunks never reach over the end of a section.
  [[nodiscard]] std::uint64_t chunk_count(const Section& section) const noexcept {
    return (section.padded_bytes() + chunk_bytes - 1) / chunk_bytes;
  }
  [[nodiscard]] std::uint64_t chunk_count() const noexcept;
  // Of all sections, with what pads them to whole pages: also the stored size, if plain.
  [[nodiscard]] std::uint64_t payload_bytes() const noexcept;
  // Set bits of each section, checksums of the chunks, checksum of these.
  [[nodiscard]] std::uint64_t trailer_bytes() const noexcept {
    return 8 * (sections.size() + chunk_count() + 1);
  }
  // Of the filter: what loading it takes.
  [[nodiscard]] std::uint64_t filter_bytes() const noexcept;
  // Those bits of a section's last word that keys can set.
  [[nodiscard]] std::uint64_t last_word_bits() const noexcept;
};

// Whether it is a rate that a filter may have been promised.
[[nodiscard]] bool is_promise(double fpr) noexcept;

[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

[[nodiscard]] HeaderBytes encode(const Header& header) noexcept;
// Refuses what this version does not know, and whatever contradicts itself. `name` is for messages.
[[nodiscard]] Result<Header> decode(const HeaderBytes& bytes, const std::string& name);

// What is to be said of a file that ends within its header.
[[nodiscard]] Error too_short(std::span<const std::byte> bytes, const std::string& name);
[[nodiscard]] Error too_large(const std::string& name, std::uint64_t bytes, std::uint64_t limit);
// "'a.probably' is corrupt: the checksum of its header is wrong."
[[nodiscard]] Error corrupt(const std::string& name, const std::string& what);

}  // namespace probably::detail
