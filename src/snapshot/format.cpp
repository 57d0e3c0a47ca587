#include "snapshot/format.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "endian.hpp"
#include "text.hpp"

namespace probably::detail {
namespace {

// As PNG's: the first byte is no text, and the line ends break when somebody transfers the file as
// text.
constexpr std::array<unsigned char, 8> kMagic = {0x89, 'P', 'R', 'B', 'L', '\r', '\n', 0x1a};

// Where the fields are; docs/format.md has the table.
namespace at {
constexpr std::size_t kVersion = 8;
constexpr std::size_t kKind = 10;
constexpr std::size_t kEncoding = 11;
constexpr std::size_t kExtent = 12;
constexpr std::size_t kAlgorithm = 13;
constexpr std::size_t kSecretState = 14;
constexpr std::size_t kReservedByte = 15;
constexpr std::size_t kCreated = 16;
constexpr std::size_t kFingerprint = 24;
constexpr std::size_t kSecret = 32;
constexpr std::size_t kParams = 48;
constexpr std::size_t kChunkBytes = 72;
constexpr std::size_t kSectionCount = 76;
constexpr std::size_t kPayloadBytes = 80;
constexpr std::size_t kPromisedFpr = 88;
constexpr std::size_t kSections = 96;
constexpr std::size_t kSectionBytes = 32;
constexpr std::size_t kChecksum = kHeaderBytes - 8;
}  // namespace at

static_assert(at::kSections + kMaxSections * at::kSectionBytes <= at::kChecksum);

constexpr std::uint32_t kMinChunkBytes = 4096;
constexpr std::uint32_t kMaxChunkBytes = 1 << 20;
// No file is larger, and sums of sections cannot overflow.
constexpr std::uint64_t kMaxSectionBytes = std::uint64_t{1} << 57;

bool all_zero(std::span<const std::byte> bytes) noexcept {
  // The first is, and each of the others equals the one before it.
  return bytes.empty() || (bytes.front() == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

Error unknown(const std::string& name, const std::string& what, unsigned value,
              const std::string& known) {
  return {ErrorCode::unsupported, name + " has " + what + " " + text(value) + "; this version of " +
                                      "probably knows " + known + ". A newer one may open it."};
}

// As far as there are bytes.
bool begins_like_magic(std::span<const std::byte> bytes) {
  return std::ranges::equal(bytes.first(std::min(bytes.size(), kMagic.size())),
                            std::span(kMagic).first(std::min(bytes.size(), kMagic.size())),
                            [](std::byte a, unsigned char b) { return a == std::byte{b}; });
}

Error no_snapshot(const std::string& name) {
  return corrupt(name,
                 "it is no snapshot of a filter, for it begins with other bytes (files of other "
                 "software are read by interop.hpp)");
}

}  // namespace

std::uint64_t Header::chunk_count() const noexcept {
  std::uint64_t sum = 0;
  for (const Section& section : sections) sum += chunk_count(section);
  return sum;
}

std::uint64_t Header::payload_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Section& section : sections) sum += section.padded_bytes();
  return sum;
}

std::uint64_t Header::filter_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Section& section : sections) sum += section.bytes;
  return sum;
}

std::uint64_t Header::last_word_bits() const noexcept {
  const bool counts_bits = kind != Kind::blocked && kind != Kind::split_block &&
                           kind != Kind::scalable && kind != Kind::redis_chain;
  const std::uint64_t used = counts_bits ? params[0] % 64 : 0;
  return used == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << used) - 1;
}

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

bool is_promise(double fpr) noexcept { return fpr > 0 && fpr < 1; }

HeaderBytes encode(const Header& header) noexcept {
  HeaderBytes bytes{};
  const auto put = [&bytes](std::size_t place, auto value) {
    store_little_endian(bytes.data() + place, value);
  };
  std::ranges::transform(kMagic, bytes.begin(), [](unsigned char c) { return std::byte{c}; });
  put(at::kVersion, kFormatVersion);
  put(at::kKind, static_cast<std::uint8_t>(header.kind));
  put(at::kEncoding, static_cast<std::uint8_t>(header.encoding));
  put(at::kExtent, static_cast<std::uint8_t>(header.extent));
  put(at::kAlgorithm, static_cast<std::uint8_t>(header.algorithm));
  put(at::kSecretState, static_cast<std::uint8_t>(header.secret_state));
  put(at::kCreated, header.created);
  put(at::kFingerprint, header.fingerprint);
  if (header.secret_state == SecretState::stored) {
    std::ranges::copy(header.secret, bytes.begin() + at::kSecret);
  }
  for (std::size_t i = 0; i < header.params.size(); ++i) {
    put(at::kParams + 8 * i, header.params[i]);
  }
  put(at::kChunkBytes, header.chunk_bytes);
  put(at::kSectionCount, static_cast<std::uint32_t>(header.sections.size()));
  put(at::kPayloadBytes, header.payload_bytes());
  put(at::kPromisedFpr, std::bit_cast<std::uint64_t>(header.promised_fpr));
  for (std::size_t i = 0; i < header.sections.size(); ++i) {
    const std::size_t place = at::kSections + at::kSectionBytes * i;
    put(place, header.sections[i].bytes);
    put(place + 8, header.sections[i].lines);
    put(place + 16, header.sections[i].slices);
    put(place + 24, header.sections[i].inserted);
  }
  put(at::kChecksum, checksum(std::span(bytes).first(at::kChecksum)));
  return bytes;
}

Error too_short(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.empty()) return corrupt(name, "it is empty");
  return begins_like_magic(bytes) ? corrupt(name, "it ends too early") : no_snapshot(name);
}

Result<Header> decode(const HeaderBytes& bytes, const std::string& name) {
  const auto byte = [&bytes](std::size_t place) { return std::to_integer<unsigned>(bytes[place]); };
  const auto word = [&bytes](std::size_t place) {
    return load_little_endian<std::uint64_t>(bytes.data() + place);
  };
  const auto half = [&bytes](std::size_t place) {
    return load_little_endian<std::uint32_t>(bytes.data() + place);
  };

  if (!begins_like_magic(bytes)) return no_snapshot(name);
  // Before the checksum: a later version may keep it elsewhere.
  if (const auto version = load_little_endian<std::uint16_t>(bytes.data() + at::kVersion);
      version != kFormatVersion) {
    return unknown(name, "format version", version, "version 1");
  }
  if (word(at::kChecksum) != checksum(std::span(bytes).first(at::kChecksum))) {
    return corrupt(name, "the checksum of its header is wrong");
  }

  // From here on, whatever is wrong was written so.
  Header header;
  if (byte(at::kKind) < 1 || byte(at::kKind) > kKindCount) {
    return unknown(name, "kind", byte(at::kKind), "kinds 1 to " + text(kKindCount));
  }
  if (byte(at::kEncoding) > 1) {
    return unknown(name, "encoding", byte(at::kEncoding), "encodings 0 and 1");
  }
  if (byte(at::kExtent) > 1) return unknown(name, "extent", byte(at::kExtent), "0 and 1");
  if (byte(at::kAlgorithm) < 1 || byte(at::kAlgorithm) > kHashAlgorithmCount) {
    return unknown(name, "hash algorithm", byte(at::kAlgorithm),
                   "algorithms 1 to " + text(kHashAlgorithmCount));
  }
  if (byte(at::kSecretState) > 2) {
    return unknown(name, "secret state", byte(at::kSecretState), "0, 1 and 2");
  }
  header.kind = static_cast<Kind>(byte(at::kKind));
  header.encoding = static_cast<Encoding>(byte(at::kEncoding));
  header.extent = static_cast<Extent>(byte(at::kExtent));
  header.algorithm = static_cast<HashAlgorithm>(byte(at::kAlgorithm));
  header.secret_state = static_cast<SecretState>(byte(at::kSecretState));
  header.created = word(at::kCreated);
  header.fingerprint = word(at::kFingerprint);
  std::copy_n(bytes.begin() + at::kSecret, header.secret.size(), header.secret.begin());
  for (std::size_t i = 0; i < header.params.size(); ++i) {
    header.params[i] = word(at::kParams + 8 * i);
  }
  header.chunk_bytes = half(at::kChunkBytes);
  header.promised_fpr = std::bit_cast<double>(word(at::kPromisedFpr));
  const std::uint32_t section_count = half(at::kSectionCount);

  // Not a number fails, too; and minus zero is none of ours.
  if (word(at::kPromisedFpr) != 0 && !is_promise(header.promised_fpr)) {
    return corrupt(name, "no filter can have been promised the rate that it tells");
  }
  if (header.extent == Extent::delta && header.encoding != Encoding::sparse) {
    return corrupt(name, "a delta has to be sparse");
  }
  const bool is_keyed = header.algorithm == HashAlgorithm::siphash24;
  if (is_keyed != (header.secret_state != SecretState::none)) {
    return corrupt(name, "a secret belongs to the keyed hash, and to no other");
  }
  if (header.secret_state != SecretState::stored &&
      !all_zero(std::as_bytes(std::span(header.secret)))) {
    return corrupt(name, "it holds a secret that it says it does not hold");
  }
  if (!std::has_single_bit(header.chunk_bytes) || header.chunk_bytes < kMinChunkBytes ||
      header.chunk_bytes > kMaxChunkBytes) {
    return corrupt(name, "its chunks have " + text(header.chunk_bytes) + " bytes");
  }
  if (section_count < 1 || section_count > kMaxSections) {
    return corrupt(name, "it has " + text(section_count) + " sections");
  }
  for (std::size_t i = 0; i < section_count; ++i) {
    const std::size_t place = at::kSections + at::kSectionBytes * i;
    const Section section{word(place), word(place + 8), word(place + 16), word(place + 24)};
    if (section.bytes == 0 || section.bytes % 8 != 0 || section.bytes > kMaxSectionBytes) {
      return corrupt(name, "a section has " + text(section.bytes) + " bytes");
    }
    header.sections.push_back(section);
  }
  if (header.payload_bytes() != word(at::kPayloadBytes)) {
    return corrupt(name, "the sizes of its sections do not add up");
  }
  const std::size_t used = at::kSections + at::kSectionBytes * section_count;
  if (byte(at::kReservedByte) != 0 ||
      !all_zero(std::span(bytes).subspan(used, at::kChecksum - used))) {
    return Error{ErrorCode::unsupported,
                 name +
                     " uses fields that this version of probably does not know. A newer one may "
                     "open it."};
  }
  return header;
}

Error too_large(const std::string& name, std::uint64_t bytes, std::uint64_t limit) {
  return {ErrorCode::too_large,
          name + " holds a filter of " + text(bytes) + " bytes; the limit is " + text(limit) + "."};
}

Error corrupt(const std::string& name, const std::string& what) {
  const bool is_sentence = !what.empty() && what.back() == '.';
  return {ErrorCode::corrupt, name + " is corrupt: " + what + (is_sentence ? "" : ".")};
}

}  // namespace probably::detail
