#include "probably/snapshot.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "count_bits.hpp"
#include "snapshot/contents.hpp"
#include "snapshot/file.hpp"

namespace probably {

using detail::Contents;
using detail::corrupt;
using detail::Encoding;
using detail::Extent;
using detail::FileSource;
using detail::Header;
using detail::SecretState;
using detail::Section;
using detail::SnapshotAccess;
using detail::text;

namespace {

Error other_kind(const std::string& name, Kind kind, Kind wanted) {
  return {ErrorCode::incompatible, name + " holds a filter of kind " +
                                       std::string(probably::name(kind)) + ", not " +
                                       std::string(probably::name(wanted)) + "."};
}

template <Filter F>
Result<F> open_kind(ByteSource& source, const Header& header, const OpenOptions& options) {
  const std::string name = source.name();
  const auto geometry = detail::geometry_of<F>(header, name);
  if (!geometry) return geometry.error();
  const auto hasher = detail::hasher_for<F>(header, options.secret, name);
  if (!hasher) return hasher.error();
  if (auto fits = detail::expect_size(source, header); !fits) return fits.error();
  if (header.filter_bytes() > options.max_bytes) {
    return detail::too_large(name, header.filter_bytes(), options.max_bytes);
  }

  std::vector<Storage> sections;
  for (const Section& section : header.sections) {
    auto storage = Storage::allocate(section.bytes, options.storage);
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
  return detail::assemble<F>(*geometry, header, *hasher, std::move(sections), options.storage);
}

// Checks what can be said before the bits are looked at.
template <Saveable F>
Result<void> expect_whole(const Header& header, const std::string& name) {
  if (header.extent == Extent::delta) {
    return Error{ErrorCode::unsupported,
                 name + " is a delta: apply_delta() adds it to a filter that has the rest."};
  }
  if constexpr (Filter<F>) {
    if (header.kind != kind_of<F>) return other_kind(name, header.kind, kind_of<F>);
  }
  return {};
}

// Calls work.operator()<G>() with the type of filter to be made.
template <Saveable F, class Work>
Result<F> make_kind(const Header& header, Work&& work) {
  if constexpr (Filter<F>) {
    return work.template operator()<F>();
  } else {
    return detail::with_kind(header.kind, [&]<class G>() -> Result<F> {
      auto filter = work.template operator()<G>();
      if (!filter) return filter.error();
      return F(*std::move(filter));
    });
  }
}

}  // namespace

// --- Saving --------------------------------------------------------------------------------------

template <Saveable F>
Result<void> save(const F& filter, ByteSink& sink, const SaveOptions& options) {
  Contents contents = detail::contents_of(filter);
  detail::apply_options(options, contents.header);
  return detail::write_snapshot(contents, sink);
}

template <Saveable F>
Result<void> save(const F& filter, const std::string& path, const SaveOptions& options) {
  return detail::replace_file(path, [&](ByteSink& sink) { return save(filter, sink, options); });
}

// --- Opening -------------------------------------------------------------------------------------

template <Saveable F>
Result<F> open(ByteSource& source, const OpenOptions& options) {
  const auto header = detail::read_header(source);
  if (!header) return header.error();
  if (auto whole = expect_whole<F>(*header, source.name()); !whole) return whole.error();
  return make_kind<F>(*header, [&]<class G>() { return open_kind<G>(source, *header, options); });
}

template <Saveable F>
Result<F> open(const std::string& path, const OpenOptions& options) {
  return detail::from_file(path, [&](ByteSource& source) { return open<F>(source, options); });
}

template <Saveable F>
Result<Mapped<F>> map(const std::string& path, const MapOptions& options) {
  const std::string name = "'" + path + "'";
  const auto no_map = [&name](const std::string& why) {
    return Error{ErrorCode::unsupported, name + " cannot be mapped: " + why + " Open it instead."};
  };
  if constexpr (std::endian::native != std::endian::little) {
    return no_map("this machine keeps the highest byte of a word first.");
  }
  if (path.find('\0') != std::string::npos) return detail::zero_in_path();
  auto file = Storage::map_file(path);
  if (!file) {
    // No snapshot has such a size.
    return file.error().code == ErrorCode::invalid_argument ? corrupt(name, "it is not complete")
                                                            : file.error();
  }
  const std::span words(file->words(), file->size_bytes() / sizeof(std::uint64_t));
  const auto bytes = std::as_bytes(words);
  if (bytes.size() < detail::kHeaderBytes) return corrupt(name, "it ends too early");
  detail::HeaderBytes header_bytes;
  std::ranges::copy(bytes.first(detail::kHeaderBytes), header_bytes.begin());
  const auto header = detail::decode(header_bytes, name);
  if (!header) return header.error();
  if (auto whole = expect_whole<F>(*header, name); !whole) return whole.error();
  if (header->encoding == Encoding::sparse) return no_map("its bits are compressed.");

  const std::uint64_t payload_end = detail::kHeaderBytes + header->payload_bytes();
  if (bytes.size() != payload_end + header->trailer_bytes()) {
    return corrupt(name, "it has " + text(std::uint64_t{bytes.size()}) + " bytes where " +
                             text(payload_end + header->trailer_bytes()) + " belong");
  }
  const auto trailer = detail::decode_trailer(bytes.subspan(payload_end), *header, name);
  if (!trailer) return trailer.error();
  std::vector<Storage> sections;
  std::vector<detail::MappedChunk> chunks;
  std::vector<detail::MappedSection> mapped_sections;
  std::uint64_t offset = detail::kHeaderBytes;
  for (const Section& section : header->sections) {
    sections.push_back(Storage::borrow(words.subspan(offset / 8, section.bytes / 8)));
    mapped_sections.push_back(
        {offset, section.bytes, section.padded_bytes(), trailer->set_bits[mapped_sections.size()]});
    const std::uint64_t end = offset + section.padded_bytes();
    for (; offset < end; offset += chunks.back().bytes) {
      chunks.push_back({offset, std::min<std::uint64_t>(header->chunk_bytes, end - offset),
                        trailer->checksums[chunks.size()]});
    }
  }
  auto filter = make_kind<F>(*header, [&]<class G>() -> Result<G> {
    const auto geometry = detail::geometry_of<G>(*header, name);
    if (!geometry) return geometry.error();
    const auto hasher = detail::hasher_for<G>(*header, options.secret, name);
    if (!hasher) return hasher.error();
    return detail::assemble<G>(*geometry, *header, *hasher, std::move(sections), {});
  });
  if (!filter) {
    return filter.error().code == ErrorCode::invalid_argument
               ? corrupt(name, filter.error().message)
               : filter.error();
  }
  auto mapped = SnapshotAccess::mapped<F>(*std::move(file), name, std::move(chunks),
                                          std::move(mapped_sections), *std::move(filter));
  if (options.verify == Verify::at_once) {
    if (auto valid = mapped.verify(); !valid) return valid.error();
  }
  return mapped;
}

template <Saveable F>
Result<void> Mapped<F>::verify_chunk(std::uint64_t chunk) const {
  const detail::MappedChunk& wanted = chunks_.at(chunk);
  const auto bytes = std::as_bytes(std::span(file_.words(), file_.size_bytes() / 8));
  if (detail::checksum(bytes.subspan(wanted.offset, wanted.bytes)) == wanted.checksum) return {};
  return corrupt(name_, "the checksum of chunk " + text(chunk + 1) + " of " + text(chunk_count()) +
                            " is wrong");
}

template <Saveable F>
Result<void> Mapped<F>::verify() const {
  for (std::uint64_t chunk = 0; chunk < chunk_count(); ++chunk) {
    if (auto valid = verify_chunk(chunk); !valid) return valid;
  }
  const std::span words(file_.words(), file_.size_bytes() / 8);
  for (const detail::MappedSection& section : sections_) {
    const auto padded = words.subspan(section.offset / 8, section.padded_bytes / 8);
    if (detail::count_bits(padded.first(section.bytes / 8)) != section.set_bits) {
      return corrupt(name_, "it has another number of set bits than it says");
    }
    if (detail::count_bits(padded.subspan(section.bytes / 8)) != 0) {
      return corrupt(name_, "the padding of a section is not zero");
    }
  }
  return {};
}

Result<SnapshotInfo> peek(const std::string& path) {
  auto source = FileSource::open(path);
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

  SnapshotInfo info;
  info.format_version = detail::kFormatVersion;
  info.kind = header->kind;
  info.is_delta = header->extent == Extent::delta;
  info.is_sparse = header->encoding == Encoding::sparse;
  info.algorithm = header->algorithm;
  info.fingerprint = header->fingerprint;
  info.has_secret = header->secret_state == SecretState::stored;
  info.created = header->created;
  info.filter_bytes = header->filter_bytes();
  info.file_bytes = source->size_bytes();
  detail::with_kind(header->kind, [&]<class F>() {
    const auto geometry = detail::geometry_of<F>(*header, source->name()).value();
    info.params = geometry.params;
    for (std::size_t i = 0; i < header->sections.size(); ++i) {
      SnapshotInfo::Section section{.bytes = header->sections[i].bytes,
                                    .set_bits = trailer->set_bits[i],
                                    .link = {},
                                    .insertions = header->sections[i].inserted};
      if (!geometry.links.empty()) section.link = geometry.links[i];
      info.sections.push_back(section);
    }
  });
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

// --- Instances -----------------------------------------------------------------------------------

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type.
#define PROBABLY_INSTANTIATE(F)                                                 \
  template Result<void> save(const F&, ByteSink&, const SaveOptions&);          \
  template Result<void> save(const F&, const std::string&, const SaveOptions&); \
  template Result<F> open(ByteSource&, const OpenOptions&);                     \
  template Result<F> open(const std::string&, const OpenOptions&);              \
  template class Mapped<F>;                                                     \
  template Result<Mapped<F>> map(const std::string&, const MapOptions&)

// NOLINTEND(bugprone-macro-parentheses)
PROBABLY_INSTANTIATE(Bloom);
PROBABLY_INSTANTIATE(BlockedBloom);
PROBABLY_INSTANTIATE(SplitBlockBloom);
PROBABLY_INSTANTIATE(ScalableBloom);
PROBABLY_INSTANTIATE(GoBloom);
PROBABLY_INSTANTIATE(Guava32Bloom);
PROBABLY_INSTANTIATE(Guava64Bloom);
PROBABLY_INSTANTIATE(DcsoBloom);
PROBABLY_INSTANTIATE(RedisBloom);
PROBABLY_INSTANTIATE(RedisChain);
PROBABLY_INSTANTIATE(AnyFilter);

}  // namespace probably
