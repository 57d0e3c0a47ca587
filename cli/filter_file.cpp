#include "filter_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <utility>

#include "trouble.hpp"

namespace probably::cli {
namespace {

using Bytes = std::vector<std::byte>;

struct FormatName {
  Format format;
  std::string_view name;
};
constexpr std::array kFormats{
    FormatName{Format::snapshot, "probably"}, FormatName{Format::go, "go"},
    FormatName{Format::go_json, "go-json"},   FormatName{Format::guava, "guava"},
    FormatName{Format::dcso, "dcso"},         FormatName{Format::parquet, "parquet"}};

bool begins_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Bytes bytes;
  StreamSource source(file);
  std::array<std::byte, 65536> room;
  for (;;) {
    const auto count = source.read(room);
    if (!count) throw Trouble(fmt::format("Cannot read '{}'.", path));
    if (*count == 0) return bytes;
    bytes.insert(bytes.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*count));
  }
}

template <class Source>
Bytes decompressed(std::span<const std::byte> bytes, const std::string& path) {
  BufferSource compressed(bytes, "'" + path + "'");
  Source source(compressed);
  Bytes out;
  std::array<std::byte, 65536> room;
  for (;;) {
    const std::size_t count = expect(source.read(room));
    if (count == 0) return out;
    out.insert(out.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

// Tries the formats that have no mark of their own, from the strictest on: each knows its length.
std::optional<StoredFilter> foreign_filter(const Bytes& bytes) {
  const auto try_read = [&](auto read) {
    BufferSource source(bytes);
    return read(source, interop::ReadOptions{});
  };
  if (auto parquet = try_read(interop::read_parquet_filter)) {
    return StoredFilter{*std::move(parquet), Format::parquet, false, false, std::nullopt};
  }
  if (auto go = try_read(interop::read_go)) {
    return StoredFilter{*std::move(go), Format::go, false, false, std::nullopt};
  }
  if (auto json = try_read(interop::read_go_json)) {
    return StoredFilter{*std::move(json), Format::go_json, false, false, std::nullopt};
  }
  if (auto guava = try_read(interop::read_guava)) {
    return std::visit(
        [](auto& filter) {
          return StoredFilter{std::move(filter), Format::guava, false, false, std::nullopt};
        },
        *guava);
  }
  if (auto dcso = try_read(interop::read_dcso)) {
    StoredFilter stored{dcso->filter.clone(), Format::dcso, false, false, std::nullopt};
    stored.dcso = *std::move(dcso);
    return stored;
  }
  return std::nullopt;
}

std::optional<SecretKey> from_hexadecimal(std::string_view text) {
  SecretKey secret{};
  if (text.size() != 2 * secret.size()) return std::nullopt;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    unsigned value = 0;
    const char* const digits = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(digits, digits + 2, value, 16);
    if (error != std::errc{} || end != digits + 2) return std::nullopt;
    secret[i] = static_cast<std::byte>(value);
  }
  return secret;
}

}  // namespace

std::string_view name(Format format) noexcept {
  return std::ranges::find(kFormats, format, &FormatName::format)->name;
}

Format parse_format(std::string_view text) {
  const auto* const found = std::ranges::find(kFormats, text, &FormatName::name);
  if (found != kFormats.end()) return found->format;
  std::string all;
  for (const FormatName& format : kFormats) all += fmt::format(" {}", format.name);
  throw Trouble(fmt::format("'{}' is no format; there are:{}.", text, all));
}

std::optional<SecretKey> read_secret(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const Bytes bytes = read_file(path);
  SecretKey secret{};
  if (bytes.size() == secret.size()) {
    std::ranges::copy(bytes, secret.begin());
    return secret;
  }
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (const auto decoded = from_hexadecimal(text)) return decoded;
  throw Trouble(
      fmt::format("'{}' holds no secret: that is 16 bytes, or 32 hexadecimal digits. To make one: "
                  "head -c 16 /dev/urandom > FILE",
                  path));
}

AnyFilter make_filter(const NewFilterOptions& options) {
  const auto secret = read_secret(options.secret_file);
  if (secret && options.seed) throw Trouble("--secret and --seed exclude each other.");
  const Hasher hasher = secret ? Hasher::keyed(*secret) : Hasher::xxh3(options.seed.value_or(0));
  Plan plan{.keys = options.keys.value_or(0), .fpr = options.fpr.value_or(0)};
  plan.size_bytes = options.bytes.value_or(0);
  if (options.keys && *options.keys == 0) throw Trouble("--keys 0 makes no filter.");
  const bool has_size = options.keys.has_value() || options.bytes.has_value();
  if (!options.fpr && !(options.keys && options.bytes)) plan.fpr = kDefaultFpr;
  const Kind kind = options.kind.value_or(has_size ? Kind::blocked : Kind::scalable);
  std::optional<Result<AnyFilter>> made;
  const auto make = [&]<class F>(std::type_identity<F>) {
    if (kind_of<F> != kind) return;
    const auto create = [&]() -> Result<AnyFilter> {
      if constexpr (std::same_as<typename F::Hasher, Hasher>) {
        auto filter = F::create(plan, hasher);
        if (!filter) return filter.error();
        return AnyFilter(*std::move(filter));
      } else {
        if (secret || options.seed) {
          return Error{ErrorCode::unsupported,
                       fmt::format("A filter of kind {} has neither secret nor seed.",
                                   probably::name(kind))};
        }
        auto filter = F::create(plan);
        if (!filter) return filter.error();
        return AnyFilter(*std::move(filter));
      }
    };
    made = create();
  };
  [&]<class... F>(std::type_identity<std::tuple<F...>>) {
    (make(std::type_identity<F>{}), ...);
  }(std::type_identity<AllFilters>{});
  return expect(std::move(made).value());
}

StoredFilter load_filter(const std::string& path, const std::string& secret_file) {
  const auto secret = read_secret(secret_file);
  OpenOptions options;
  options.secret = secret;
  auto opened = open(path, options);
  if (opened) {
    const auto info = peek(path);
    return {*std::move(opened), Format::snapshot, false, info && info->has_secret, std::nullopt};
  }
  // What is no snapshot may be another's file.
  if (opened.error().code != ErrorCode::corrupt) throw Trouble(opened.error().message);
  Bytes bytes = read_file(path);
  if (begins_with(bytes, "\x89PRBL\r\n\x1a")) throw Trouble(opened.error().message);
  const bool is_gzip = begins_with(bytes, "\x1f\x8b");
  if (is_gzip) bytes = decompressed<GzipSource>(bytes, path);
  if (begins_with(bytes, "\x28\xb5\x2f\xfd")) bytes = decompressed<ZstdSource>(bytes, path);
  BufferSource source(bytes, "'" + path + "'");
  if (auto snapshot = open(source, options)) {
    return {*std::move(snapshot), Format::snapshot, is_gzip, false, std::nullopt};
  }
  if (begins_with(bytes, "PAR1")) {
    throw Trouble(fmt::format(
        "'{}' is a Parquet file, which has a filter for each column and row group: take one out "
        "with probably convert --column NAME --row-group NUMBER.",
        path));
  }
  if (auto foreign = foreign_filter(bytes)) {
    foreign->was_gzip = is_gzip;
    return *std::move(foreign);
  }
  throw Trouble(fmt::format(
      "'{}' holds no filter: it is no snapshot of probably, and none of the files of Go's "
      "bits-and-blooms, Guava, DCSO bloom or Parquet.",
      path));
}

namespace {

Result<void> write_filter(const StoredFilter& stored, ByteSink& sink, const StoreOptions& options) {
  const auto expected = [&]<class F>(Result<void> (*write)(const F&, ByteSink&)) -> Result<void> {
    const F* const filter = stored.filter.get_if<F>();
    if (filter != nullptr) return write(*filter, sink);
    return Error{ErrorCode::unsupported,
                 fmt::format("A filter of kind {} cannot be written in the format {}: only the "
                             "software's own kind can, since each hashes keys in its own way.",
                             probably::name(stored.filter.kind()), name(stored.format))};
  };
  switch (stored.format) {
    case Format::snapshot: {
      SaveOptions how;
      how.sparse = options.is_sparse;
      how.store_secret = options.stores_secret || stored.has_secret;
      return save(stored.filter, sink, how);
    }
    case Format::go:
      return expected(&interop::write_go);
    case Format::go_json:
      return expected(&interop::write_go_json);
    case Format::guava:
      if (const auto* const older = stored.filter.get_if<Guava32Bloom>()) {
        return interop::write_guava(*older, sink);
      }
      return expected(
          static_cast<Result<void> (*)(const Guava64Bloom&, ByteSink&)>(&interop::write_guava));
    case Format::parquet:
      return expected(&interop::write_parquet_filter);
    case Format::dcso: {
      const DcsoBloom* const filter = stored.filter.get_if<DcsoBloom>();
      if (filter == nullptr)
        return expected(static_cast<Result<void> (*)(const DcsoBloom&, ByteSink&)>(nullptr));
      interop::DcsoFile file{filter->clone()};
      if (stored.dcso) {
        file.planned_keys = stored.dcso->planned_keys;
        file.planned_fpr = stored.dcso->planned_fpr;
        file.data = stored.dcso->data;
      }
      return interop::write_dcso(file, sink);
    }
  }
  return {};
}

}  // namespace

void store_filter(const StoredFilter& stored, const std::string& path,
                  const StoreOptions& options) {
  FileSink file = expect(FileSink::create(path));
  if (stored.was_gzip) {
    GzipSink gzip(file);
    expect(write_filter(stored, gzip, options));
    expect(gzip.finish());
  } else {
    expect(write_filter(stored, file, options));
  }
  expect(file.finish());
}

}  // namespace probably::cli
