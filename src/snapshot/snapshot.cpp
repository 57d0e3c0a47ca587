#include "probably/snapshot.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "count_bits.hpp"
#include "snapshot/contents.hpp"
#include "snapshot/file.hpp"

namespace probably {

using detail::Encoding;
using detail::Extent;
using detail::Header;
using detail::InputFile;
using detail::SecretState;
using detail::Section;

namespace {

Error other_kind(const std::string& name, Kind kind, Kind wanted) {
  return {ErrorCode::incompatible, name + " holds a filter of kind " +
                                       std::string(probably::name(kind)) + ", not " +
                                       std::string(probably::name(wanted)) + "."};
}

// Checks what can be said before the bits are looked at.
Result<void> expect_whole(const Header& header, std::optional<Kind> wanted,
                          const std::string& name) {
  if (header.extent == Extent::delta) {
    return Error{ErrorCode::unsupported,
                 name + " is a delta: apply_delta() adds it to a filter that has the rest."};
  }
  if (wanted && header.kind != *wanted) return other_kind(name, header.kind, *wanted);
  return {};
}

Result<std::vector<Storage>> read_sections(ByteSource& source, const Header& header,
                                           const StorageOptions& options) {
  std::vector<Storage> sections;
  for (const Section& section : header.sections) {
    auto storage = Storage::allocate(section.bytes, options);
    if (!storage) return storage.error();
    sections.push_back(*std::move(storage));
  }
  // Chunks without a set bit are not handed out, so their pages stay untouched.
  auto body = detail::read_body(
      source, header,
      [&](std::size_t section, std::uint64_t first_word, std::span<const std::uint64_t> words) {
        std::ranges::copy(words, sections[section].mutable_words() + first_word);
      });
  if (!body) return body.error();
  return sections;
}

// The filter that the header tells of, over the memory that get_sections() gives, which is called
// when everything else is known to be right.
template <class GetSections>
Result<AnyFilter> make_filter(const Header& header, const std::optional<SecretKey>& secret,
                              const std::string& name, const StorageOptions& options,
                              GetSections&& get_sections) {
  return with_kind(header.kind, [&]<class F>() -> Result<AnyFilter> {
    const auto geometry = detail::geometry_of<F>(header, name);
    if (!geometry) return geometry.error();
    const auto hasher = detail::hasher_for<F>(header, secret, name);
    if (!hasher) return hasher.error();
    Result<std::vector<Storage>> sections = get_sections();
    if (!sections) return sections.error();
    auto filter = detail::assemble<F>(*geometry, header, *hasher, *std::move(sections), options);
    if (!filter) return filter.error();
    return AnyFilter(*std::move(filter));
  });
}

}  // namespace

namespace detail {

// --- Saving --------------------------------------------------------------------------------------

Result<void> save(ConstFilterPointer filter, ByteSink& sink, const SaveOptions& options) {
  Contents contents = contents_of(filter);
  if (auto valid = apply_options(options, contents.header); !valid) return valid;
  if (contents.header.has_drawn_secret && contents.header.secret_state == SecretState::withheld) {
    return Error{
        ErrorCode::secret,
        "Hasher::keyed() drew this filter's secret, which nobody else has to open it with: "
        "store it with SaveOptions::store_secret, or make the filter with "
        "Hasher::keyed(random_secret()) and keep that."};
  }
  return write_snapshot(contents, sink);
}

Result<void> save(ConstFilterPointer filter, const std::string& path, const SaveOptions& options) {
  return replace_file(path, [&](ByteSink& sink) { return save(filter, sink, options); });
}

// --- Opening -------------------------------------------------------------------------------------

Result<AnyFilter> open(std::optional<Kind> wanted, ByteSource& source, const OpenOptions& options) {
  const auto header = read_header(source);
  if (!header) return header.error();
  const std::string name = source.name();
  if (auto whole = expect_whole(*header, wanted, name); !whole) return whole.error();
  return make_filter(*header, options.secret, name, options.storage,
                     [&]() -> Result<std::vector<Storage>> {
                       if (auto fits = expect_size(source, *header); !fits) return fits.error();
                       if (header->filter_bytes() > options.max_bytes) {
                         return too_large(name, header->filter_bytes(), options.max_bytes);
                       }
                       return read_sections(source, *header, options.storage);
                     });
}

Result<AnyFilter> open(std::optional<Kind> wanted, const std::string& path,
                       const OpenOptions& options) {
  return from_file(path, [&](ByteSource& source) { return open(wanted, source, options); });
}

// --- Mapping -------------------------------------------------------------------------------------

Result<std::pair<MappedFile, AnyFilter>> map(std::optional<Kind> wanted, const std::string& path,
                                             const MapOptions& options) {
  const std::string name = "'" + path + "'";
  const auto no_map = [&name](const std::string& why) {
    return Error{ErrorCode::unsupported, name + " cannot be mapped: " + why + " Open it instead."};
  };
  if constexpr (std::endian::native != std::endian::little) {
    return no_map("this machine keeps the highest byte of a word first.");
  }
  if (path.find('\0') != std::string::npos) return zero_in_path();
  auto file = Storage::map_file(path);
  if (!file && file.error().code != ErrorCode::invalid_argument) return file.error();
  if (!file) {
    // No snapshot has such a size: reading it tells what is wrong.
    const auto valid = probably::verify(path);
    return valid ? corrupt(name, "it has no whole number of words") : valid.error();
  }
  const std::span words(file->words(), file->size_bytes() / sizeof(std::uint64_t));
  const auto bytes = std::as_bytes(words);
  if (bytes.size() < kHeaderBytes) return too_short(bytes, name);
  HeaderBytes header_bytes;
  std::ranges::copy(bytes.first(kHeaderBytes), header_bytes.begin());
  const auto header = decode(header_bytes, name);
  if (!header) return header.error();
  if (auto whole = expect_whole(*header, wanted, name); !whole) return whole.error();
  if (header->encoding == Encoding::sparse) return no_map("its bits are compressed.");

  const std::uint64_t payload_end = kHeaderBytes + header->payload_bytes();
  if (bytes.size() != payload_end + header->trailer_bytes()) {
    return corrupt(name, "it has " + text(std::uint64_t{bytes.size()}) + " bytes where " +
                             text(payload_end + header->trailer_bytes()) + " belong");
  }
  const auto trailer = decode_trailer(bytes.subspan(payload_end), *header, name);
  if (!trailer) return trailer.error();
  std::vector<Storage> sections;
  MappedFile mapped{*std::move(file), name, {}, {}};
  std::uint64_t offset = kHeaderBytes;
  for (const Section& section : header->sections) {
    sections.push_back(Storage::borrow(words.subspan(offset / 8, section.bytes / 8)));
    mapped.sections.push_back(
        {offset, section.bytes, section.padded_bytes(), trailer->set_bits[mapped.sections.size()]});
    const std::uint64_t end = offset + section.padded_bytes();
    for (; offset < end; offset += mapped.chunks.back().bytes) {
      mapped.chunks.push_back({offset, std::min<std::uint64_t>(header->chunk_bytes, end - offset),
                               trailer->checksums[mapped.chunks.size()]});
    }
  }
  auto filter = make_filter(*header, options.secret, name, {},
                            [&]() -> Result<std::vector<Storage>> { return std::move(sections); });
  if (!filter) {
    return filter.error().code == ErrorCode::invalid_argument
               ? corrupt(name, filter.error().message)
               : filter.error();
  }
  if (options.verify == Verify::at_once) {
    if (auto valid = mapped.verify(); !valid) return valid.error();
  }
  return std::pair(std::move(mapped), *std::move(filter));
}

Result<void> MappedFile::verify_chunk(std::uint64_t chunk) const {
  const Chunk& wanted = chunks.at(chunk);
  const auto bytes = std::as_bytes(std::span(storage.words(), storage.size_bytes() / 8));
  if (checksum(bytes.subspan(wanted.offset, wanted.bytes)) == wanted.checksum) return {};
  return corrupt(name, "the checksum of chunk " + text(chunk + 1) + " of " +
                           text(std::uint64_t{chunks.size()}) + " is wrong");
}

Result<void> MappedFile::verify() const {
  for (std::uint64_t chunk = 0; chunk < chunks.size(); ++chunk) {
    if (auto valid = verify_chunk(chunk); !valid) return valid;
  }
  const std::span words(storage.words(), storage.size_bytes() / 8);
  for (const Section& section : sections) {
    const auto padded = words.subspan(section.offset / 8, section.padded_bytes / 8);
    if (count_bits(padded.first(section.bytes / 8)) != section.set_bits) {
      return corrupt(name, "it has another number of set bits than it says");
    }
    if (count_bits(padded.subspan(section.bytes / 8)) != 0) {
      return corrupt(name, "the padding of a section is not zero");
    }
  }
  return {};
}

}  // namespace detail

// --- Looking -------------------------------------------------------------------------------------

namespace {

// What the header says.
SnapshotInfo info_of(const detail::Header& header, const std::string& name) {
  SnapshotInfo info;
  info.format_version = detail::kFormatVersion;
  info.kind = header.kind;
  info.is_delta = header.extent == Extent::delta;
  info.is_sparse = header.encoding == Encoding::sparse;
  info.algorithm = header.algorithm;
  info.fingerprint = header.fingerprint;
  info.has_secret = header.secret_state == SecretState::stored;
  info.created = header.created;
  info.promised_fpr = header.promised_fpr;
  info.filter_bytes = header.filter_bytes();
  with_kind(header.kind, [&]<class F>() {
    const auto geometry = detail::geometry_of<F>(header, name).value();
    info.params = geometry.params;
    for (std::size_t i = 0; i < header.sections.size(); ++i) {
      SnapshotInfo::Section section{.bytes = header.sections[i].bytes,
                                    .set_bits = 0,
                                    .link = {},
                                    .insertions = header.sections[i].inserted};
      if (!geometry.links.empty()) section.link = geometry.links[i];
      info.sections.push_back(section);
    }
  });
  return info;
}

}  // namespace

Result<SnapshotInfo> peek(ByteSource& source) {
  const auto header = detail::read_header(source);
  if (!header) return header.error();
  if (auto valid = detail::check_header(*header, source.name()); !valid) return valid.error();
  return info_of(*header, source.name());
}

Result<SnapshotInfo> peek(const std::string& path) {
  auto source = InputFile::open(path);
  if (!source) return source.error();
  const auto header = detail::read_header(*source);
  if (!header) return header.error();
  if (auto valid = detail::check_header(*header, source->name()); !valid) return valid.error();
  if (auto fits = detail::expect_size(*source, *header); !fits) return fits.error();
  if (header->encoding == Encoding::plain) {
    source->seek(detail::kHeaderBytes + header->payload_bytes() + header->trailer_bytes());
    if (auto ended = detail::expect_end(*source); !ended) return ended.error();
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(header->trailer_bytes()));
  source->seek(source->size_bytes() - bytes.size());
  if (auto got = detail::read_all(*source, bytes); !got) return got.error();
  const auto trailer = detail::decode_trailer(bytes, *header, source->name());
  if (!trailer) return trailer.error();
  SnapshotInfo info = info_of(*header, source->name());
  info.file_bytes = source->size_bytes();
  for (std::size_t i = 0; i < info.sections.size(); ++i) {
    info.sections[i].set_bits = trailer->set_bits[i];
  }
  return info;
}

Result<void> verify(ByteSource& source) {
  const auto header = detail::read_header(source);
  if (!header) return header.error();
  if (auto valid = detail::check_header(*header, source.name()); !valid) return valid;
  return detail::read_body(source, *header, [](auto&&...) {});
}

Result<void> verify(const std::string& path) {
  return detail::from_file(path, [](ByteSource& source) { return verify(source); });
}

}  // namespace probably
