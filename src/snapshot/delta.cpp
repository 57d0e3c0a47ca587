#include <algorithm>

#include "count_bits.hpp"
#include "probably/detail/atomic.hpp"
#include "probably/snapshot.hpp"
#include "snapshot/contents.hpp"
#include "snapshot/file.hpp"

namespace probably {

using detail::ConstFilterPointer;
using detail::Contents;
using detail::Encoding;
using detail::Extent;
using detail::FilterPointer;
using detail::Header;
using detail::Section;
using detail::SnapshotAccess;

namespace {

constexpr std::size_t kLineWords = kCacheLineBytes / sizeof(std::uint64_t);

// Whether bits mean the same in both, as far as both have them. `theirs_name` begins a sentence.
Result<void> expect_same(const Header& mine, const Header& theirs, const std::string& theirs_name) {
  const auto differs = [&](const std::string& how) {
    return Error{ErrorCode::incompatible, theirs_name + how + "."};
  };
  if (mine.kind != theirs.kind) {
    return differs(" is of a filter of kind " + std::string(name(theirs.kind)) + ", and this is " +
                   std::string(name(mine.kind)));
  }
  if (mine.params != theirs.params) return differs(" is of a filter with other params");
  if (mine.algorithm != theirs.algorithm || mine.fingerprint != theirs.fingerprint) {
    return differs(" is of a filter with another hasher");
  }
  for (std::size_t i = 0; i < std::min(mine.sections.size(), theirs.sections.size()); ++i) {
    const Section& a = mine.sections[i];
    const Section& b = theirs.sections[i];
    if (a.bytes != b.bytes || a.lines != b.lines || a.slices != b.slices) {
      return differs(" is of a filter whose links differ");
    }
  }
  return {};
}

// Line by line, the last of which may be shorter: one number of set bits each.
template <class Work>
void for_each_line(std::span<const std::uint64_t> words, Work&& work) {
  for (std::size_t line = 0; line * kLineWords < words.size(); ++line) {
    const std::size_t begin = line * kLineWords;
    const auto some = words.subspan(begin, std::min(kLineWords, words.size() - begin));
    work(line, static_cast<std::uint16_t>(detail::count_bits(some)));
  }
}

Result<void> write_delta(Contents contents, const Header& since, const std::string& since_name,
                         const SaveOptions& options, ByteSink& sink,
                         const detail::ForgetKnown& forget_known) {
  if (auto same = expect_same(contents.header, since, since_name); !same) return same;
  if (auto valid = detail::apply_options(options, contents.header); !valid) return valid;
  contents.header.encoding = Encoding::sparse;
  contents.header.extent = Extent::delta;
  return detail::write_snapshot(contents, sink, forget_known);
}

// Passes bytes on and keeps them.
class RecordingSource final : public ByteSource {
 public:
  explicit RecordingSource(ByteSource& source) noexcept : source_(source) {}
  Result<std::size_t> read(std::span<std::byte> room) override {
    auto count = source_.read(room);
    if (count)
      bytes_.insert(bytes_.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count));
    return count;
  }
  [[nodiscard]] std::optional<std::uint64_t> bytes_left() const override {
    return source_.bytes_left();
  }
  [[nodiscard]] std::string name() const override { return source_.name(); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  ByteSource& source_;
  std::vector<std::byte> bytes_;
};

// Reads it all once, so that whatever is wrong is found before anything changes.
Result<Header> expect_valid(ConstFilterPointer filter, ByteSource& source,
                            const ApplyOptions& options) {
  auto header = detail::read_header(source);
  if (!header) return header;
  if (auto valid = detail::check_header(*header, source.name()); !valid) return valid.error();
  const Header mine = detail::contents_of(filter).header;
  if (auto same = expect_same(mine, *header, source.name()); !same) return same.error();
  if (header->filter_bytes() > options.max_bytes) {
    return detail::too_large(source.name(), header->filter_bytes(), options.max_bytes);
  }
  if (auto read = detail::read_body(source, *header, [](auto&&...) {}); !read) return read.error();
  return header;
}

using Sections = std::vector<std::uint64_t*>;

// Where the bits of each section go to.
template <class P>
Result<Sections> make_room(BitFilter<P>& filter, const Header&, const std::string&) {
  return Sections{SnapshotAccess::words_of(filter)};
}
template <class P>
Result<Sections> make_room(ScalableFilter<P>& filter, const Header& header,
                           const std::string& name) {
  const auto geometry = detail::geometry_of<ScalableFilter<P>>(header, name);
  if (!geometry) return geometry.error();
  if (auto reached = SnapshotAccess::reach(filter, std::span(geometry->links)); !reached) {
    return reached.error();
  }
  Sections sections;
  for (std::uint32_t i = 0; i < header.sections.size(); ++i) {
    sections.push_back(SnapshotAccess::words_of(filter, i));
  }
  return sections;
}

// Brings up to date what a filter knows of its bits.
template <class P>
void recount(BitFilter<P>&, const Header&) {}
template <class P>
void recount(ScalableFilter<P>& filter, const Header& header) {
  for (std::uint32_t i = 0; i < header.sections.size(); ++i) SnapshotAccess::recount(filter, i);
}

// Reads what was found to be valid, again from the start: header, which is known, and the rest.
Result<void> add(FilterPointer filter, const Header& header, ByteSource& source) {
  detail::HeaderBytes known;
  if (auto got = detail::read_all(source, known); !got) return got;
  const auto sections =
      std::visit([&](auto* inside) { return make_room(*inside, header, source.name()); }, filter);
  if (!sections) return sections.error();
  auto done = detail::read_body(
      source, header, [&](std::size_t section, std::uint64_t first_word, auto words) {
        detail::add_bits((*sections)[section] + first_word, words.data(), words.size());
      });
  std::visit([&](auto* inside) { recount(*inside, header); }, filter);
  return done;
}

ConstFilterPointer to_const(FilterPointer filter) {
  return std::visit([](auto* inside) { return detail::pointer_to(std::as_const(*inside)); },
                    filter);
}

}  // namespace

struct Mark::State {
  Header header;
  std::vector<std::vector<std::uint16_t>> line_bits;  // of each section
};

Mark::Mark(ConstFilterPointer filter) {
  auto state = std::make_shared<State>();
  const Contents contents = detail::contents_of(filter);
  state->header = contents.header;
  for (std::size_t i = 0; i < contents.words.size(); ++i) {
    const std::span words(contents.words[i], contents.header.sections[i].bytes / 8);
    auto& lines = state->line_bits.emplace_back();
    lines.reserve(words.size() / kLineWords + 1);
    for_each_line(words, [&](std::size_t, std::uint16_t bits) { lines.push_back(bits); });
  }
  state_ = std::move(state);
}

namespace detail {

Result<void> save_delta(ConstFilterPointer filter, ConstFilterPointer since, ByteSink& sink,
                        const SaveOptions& options) {
  const Contents old = contents_of(since);
  return write_delta(
      contents_of(filter), old.header, "The older filter", options, sink,
      [&old](std::size_t section, std::uint64_t first_word, std::span<std::uint64_t> words) {
        if (section >= old.words.size()) return;
        const std::uint64_t* const known = old.words[section] + first_word;
        for (std::size_t i = 0; i < words.size(); ++i) words[i] &= ~load_relaxed(known[i]);
      });
}

Result<void> save_delta(ConstFilterPointer filter, const Mark& since, ByteSink& sink,
                        const SaveOptions& options) {
  const auto& state = SnapshotAccess::state_of(since);
  bool has_lost_bits = false;
  auto written = write_delta(
      contents_of(filter), state.header, "The mark", options, sink,
      [&](std::size_t section, std::uint64_t first_word, std::span<std::uint64_t> words) {
        if (section >= state.line_bits.size()) return;
        const std::uint16_t* const known =
            state.line_bits[section].data() + first_word / kLineWords;
        for_each_line(words, [&](std::size_t line, std::uint16_t bits) {
          has_lost_bits |= bits < known[line];
          if (bits != known[line]) return;
          const std::size_t begin = line * kLineWords;
          std::ranges::fill(words.subspan(begin, std::min(kLineWords, words.size() - begin)), 0);
        });
      });
  if (written && has_lost_bits) {
    return Error{ErrorCode::invalid_argument,
                 "The mark has bits that the filter lacks: it was taken of another filter, or "
                 "before clear()."};
  }
  return written;
}

Result<void> save_delta(ConstFilterPointer filter, ConstFilterPointer since,
                        const std::string& path, const SaveOptions& options) {
  return replace_file(path,
                      [&](ByteSink& sink) { return save_delta(filter, since, sink, options); });
}

Result<void> save_delta(ConstFilterPointer filter, const Mark& since, const std::string& path,
                        const SaveOptions& options) {
  return replace_file(path,
                      [&](ByteSink& sink) { return save_delta(filter, since, sink, options); });
}

Result<void> apply_delta(FilterPointer filter, ByteSource& source, const ApplyOptions& options) {
  RecordingSource recorded(source);
  const auto header = expect_valid(to_const(filter), recorded, options);
  if (!header) return header.error();
  BufferSource again(recorded.bytes());
  return add(filter, *header, again);
}

Result<void> apply_delta(FilterPointer filter, const std::string& path,
                         const ApplyOptions& options) {
  return from_file(path, [&](InputFile& source) -> Result<void> {
    const auto header = expect_valid(to_const(filter), source, options);
    if (!header) return header.error();
    if (auto ended = expect_end(source); !ended) return ended;
    source.seek(0);
    return add(filter, *header, source);
  });
}

}  // namespace detail
}  // namespace probably
