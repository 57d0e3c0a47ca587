// bits-and-blooms/bloom v3: u64 m, u64 k, then the bitset: u64 bits, and the words. All of it
// highest byte first. JSON has m and k as numbers, and the bitset in base64url.
#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>

#include "interop/base64.hpp"
#include "interop/bits.hpp"

namespace probably::interop {
namespace {

constexpr Order kOrder = Order::highest_first;

// The bitset and what it makes, once m and k are known.
Result<GoBloom> read_bitset(ByteSource& source, std::uint64_t bits, std::uint64_t hashes,
                            const ReadOptions& options) {
  if (auto valid = check_geometry(source.name(), bits, hashes); !valid) return valid.error();
  const auto length = read_integer<std::uint64_t>(source, kOrder);
  if (!length) return length.error();
  if (*length < bits) {
    return corrupt(source.name(), "its bitset has " + text(*length) + " bits of " + text(bits));
  }
  const std::uint64_t stored_words = *length / 64 + (*length % 64 != 0 ? 1 : 0);
  auto storage = read_words(source, bits, stored_words, kOrder, options);
  if (!storage) return storage.error();
  if (auto ended = expect_end(source); !ended) return ended.error();
  return GoBloom::adopt({bits, static_cast<std::uint32_t>(hashes)}, {}, *std::move(storage));
}

Result<void> write_bitset(const GoBloom& filter, ByteSink& sink) {
  if (auto done = write_integer(filter.params().bits, sink, kOrder); !done) return done;
  return write_words(words_of(filter), sink, kOrder);
}

// Just enough JSON for one flat object of numbers and strings.
class FlatJson {
 public:
  explicit FlatJson(std::string_view text) noexcept : rest_(text) {}

  // Calls number(key, value) and string(key, value) for the members, until one returns false.
  // Returns whether this is an object of such members and none was refused.
  template <class OnNumber, class OnString>
  bool parse(OnNumber&& number, OnString&& string) {
    if (!take('{')) return false;
    if (!take('}')) {
      do {
        std::string_view key;
        if (!take_string(key) || !take(':')) return false;
        std::string_view value;
        if (take_string(value)) {
          if (!string(key, value)) return false;
        } else {
          std::uint64_t parsed = 0;
          if (!take_number(parsed) || !number(key, parsed)) return false;
        }
      } while (take(','));
      if (!take('}')) return false;
    }
    skip_spaces();
    return rest_.empty();
  }

 private:
  void skip_spaces() noexcept {
    const std::size_t begin = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(begin == std::string_view::npos ? rest_.size() : begin);
  }
  bool take(char wanted) noexcept {
    skip_spaces();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Without escapes: neither keys nor base64 need any.
  bool take_string(std::string_view& out) noexcept {
    skip_spaces();
    if (rest_.empty() || rest_.front() != '"') return false;
    const std::size_t end = rest_.find('"', 1);
    if (end == std::string_view::npos) return false;
    out = rest_.substr(1, end - 1);
    if (out.find('\\') != std::string_view::npos) return false;
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool take_number(std::uint64_t& out) noexcept {
    skip_spaces();
    const char* const end = rest_.data() + rest_.size();
    const auto [next, error] = std::from_chars(rest_.data(), end, out);
    if (error != std::errc{}) return false;
    rest_.remove_prefix(static_cast<std::size_t>(next - rest_.data()));
    return true;
  }

  std::string_view rest_;
};

}  // namespace

Result<GoBloom> read_go(ByteSource& source, const ReadOptions& options) {
  const auto bits = read_integer<std::uint64_t>(source, kOrder);
  if (!bits) return bits.error();
  const auto hashes = read_integer<std::uint64_t>(source, kOrder);
  if (!hashes) return hashes.error();
  return read_bitset(source, *bits, *hashes, options);
}

Result<void> write_go(const GoBloom& filter, ByteSink& sink) {
  if (auto done = write_integer(filter.params().bits, sink, kOrder); !done) return done;
  if (auto done = write_integer(std::uint64_t{filter.params().hashes}, sink, kOrder); !done) {
    return done;
  }
  return write_bitset(filter, sink);
}

Result<GoBloom> read_go_json(ByteSource& source, const ReadOptions& options) {
  // Base64 takes four characters for three bytes.
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const auto bytes_of_text = read_to_end(source, std::min(options.max_bytes, most / 2) * 2);
  if (!bytes_of_text) return bytes_of_text.error();
  const std::string_view text(reinterpret_cast<const char*>(bytes_of_text->data()),
                              bytes_of_text->size());
  std::uint64_t bits = 0;
  std::uint64_t hashes = 0;
  std::string_view bitset;
  const bool is_json = FlatJson(text).parse(
      [&](std::string_view key, std::uint64_t value) {
        if (key == "m") bits = value;
        if (key == "k") hashes = value;
        return key == "m" || key == "k";
      },
      [&](std::string_view key, std::string_view value) {
        bitset = value;
        return key == "b";
      });
  if (!is_json) return corrupt(source.name(), R"(it is not JSON of the form {"m":1,"k":1,"b":""})");
  const auto decoded = decode_base64(bitset);
  if (!decoded) return corrupt(source.name(), "its bitset is not base64");
  BufferSource bytes(*decoded, source.name());
  return read_bitset(bytes, bits, hashes, options);
}

Result<void> write_go_json(const GoBloom& filter, ByteSink& sink) {
  const auto write = [&sink](std::string_view text) {
    return sink.write(std::as_bytes(std::span(text)));
  };
  if (auto done = write("{\"m\":" + text(filter.params().bits) +
                        ",\"k\":" + text(filter.params().hashes) + ",\"b\":\"");
      !done) {
    return done;
  }
  Base64Sink encoded(sink);
  if (auto done = write_bitset(filter, encoded); !done) return done;
  if (auto done = encoded.finish(); !done) return done;
  return write("\"}");
}

}  // namespace probably::interop
