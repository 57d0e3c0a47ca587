#include "filters/filter_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "records/size_guess.hpp"
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

// So many bytes; fewer if there are no more, or if they cannot be decompressed.
Bytes first_bytes(ByteSource& source, std::size_t wanted) {
  Bytes bytes(wanted);
  std::size_t count = 0;
  while (count < wanted) {
    const auto some = source.read(std::span(bytes).subspan(count));
    if (!some || *some == 0) break;
    count += *some;
  }
  bytes.resize(count);
  return bytes;
}

// A file from its beginning, decompressed if its first bytes say that it is compressed. It is
// opened anew for each format that is tried: what is read then is little, and nothing of it is
// kept.
class Unpacked {
 public:
  explicit Unpacked(const std::string& path)
      : packing_(packing_of(path)), file_(expect(FileSource::open(path))) {
    if (packing_ == Packing::gzip) unpacked_ = std::make_unique<GzipSource>(file_);
    if (packing_ == Packing::zstd) unpacked_ = std::make_unique<ZstdSource>(file_);
  }
  [[nodiscard]] ByteSource& source() noexcept { return unpacked_ ? *unpacked_ : file_; }
  [[nodiscard]] Packing packing() const noexcept { return packing_; }

 private:
  static Packing packing_of(const std::string& path) {
    FileSource file = expect(FileSource::open(path));
    return packing_by_mark(first_bytes(file, kMostMarkBytes));
  }

  Packing packing_;
  FileSource file_;
  std::unique_ptr<ByteSource> unpacked_;
};

// Whose file it is, by its content. The formats that have no mark of their own come from the
// strictest on: each knows its length.
std::optional<StoredFilter> foreign_filter(const std::string& path) {
  const auto try_read = [&](auto read) {
    return read(Unpacked(path).source(), interop::ReadOptions{});
  };
  if (auto parquet = try_read(interop::read_parquet_filter)) {
    return StoredFilter{*std::move(parquet), Format::parquet};
  }
  if (auto go = try_read(interop::read_go)) return StoredFilter{*std::move(go), Format::go};
  if (auto json = try_read(interop::read_go_json)) {
    return StoredFilter{*std::move(json), Format::go_json};
  }
  if (auto guava = try_read(interop::read_guava)) {
    return std::visit(
        [](auto& filter) {
          return StoredFilter{std::move(filter), Format::guava};
        },
        *guava);
  }
  if (auto dcso = try_read(interop::read_dcso)) {
    StoredFilter stored{std::move(dcso->filter), Format::dcso};
    stored.dcso =
        DcsoExtras{dcso->planned_keys, dcso->planned_fpr, dcso->insertions, std::move(dcso->data)};
    // Whatever stands there.
    if (dcso->planned_fpr > 0 && dcso->planned_fpr < 1) stored.promised_fpr = dcso->planned_fpr;
    return stored;
  }
  return std::nullopt;
}

constexpr std::string_view kSnapshotMark = "\x89PRBL\r\n\x1a";
constexpr std::string_view kParquetMark = "PAR1";

bool begins_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}
bool begins_with(const std::string& path, std::string_view text) {
  return begins_with(first_bytes(Unpacked(path).source(), text.size()), text);
}

// "user_id in row groups 0 to 3"
std::string columns_with_filters(const std::string& path) {
  const auto filters = interop::list_parquet_filters(path);
  if (!filters) return fmt::format("its filters cannot be listed: {}", filters.error().message);
  std::string text;
  for (const auto& filter : *filters) {
    if (text.size() > 400) return text + ", ...";
    text += fmt::format("{}'{}' of row group {}", text.empty() ? "" : ", ", filter.column,
                        filter.row_group);
  }
  return text.empty() ? "this one has none" : fmt::format("here {}", text);
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

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  names.reserve(kFormats.size());
  for (const FormatName& format : kFormats) names.push_back(format.name);
  return names;
}

Format parse_format(std::string_view text) {
  const auto* const found = std::ranges::find(kFormats, text, &FormatName::name);
  if (found != kFormats.end()) return found->format;
  throw Trouble(
      fmt::format("'{}' is no format; there are: {}.", text, fmt::join(format_names(), " ")));
}

std::optional<SecretKey> read_secret(const std::string& path) {
  if (path.empty()) return std::nullopt;
  // One byte more than the longest that is a secret, with its line end.
  FileSource file = expect(FileSource::open(path));
  const Bytes bytes = first_bytes(file, 35);
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

StoredFilter make_filter(const NewFilterOptions& options, const InputOptions& input) {
  const auto secret = read_secret(options.secret_file);
  if (secret && (options.seed || options.hash)) {
    throw Trouble("--secret chooses the hash: leave out --seed and --hash.");
  }
  if (options.keys && *options.keys == 0) throw Trouble("--keys 0 makes no filter.");
  const std::uint64_t seed = options.seed.value_or(0);
  const Hasher hasher = secret                                 ? Hasher::keyed(*secret)
                        : options.hash == HashAlgorithm::xxh64 ? Hasher::xxh64(seed)
                                                               : Hasher::xxh3(seed);
  const bool has_size = options.keys.has_value() || options.bytes.has_value();
  const Kind kind = options.kind.value_or(has_size ? Kind::blocked : Kind::scalable);
  Plan plan{.keys = options.keys.value_or(0), .fpr = options.fpr.value_or(0)};
  plan.size_bytes = options.bytes.value_or(0);
  if (!options.fpr && !(options.keys && options.bytes)) plan.fpr = kDefaultFpr;
  if (!has_size) {
    plan.keys = keys_at_first(input.files, {.end = input.ends_with_zero ? '\0' : '\n'});
  }
  return expect(with_kind(kind, [&]<class F>() -> Result<StoredFilter> {
    constexpr bool kHashesAsWeWish = std::same_as<typename F::Hasher, Hasher>;
    if (!kHashesAsWeWish && (secret || options.seed || options.hash)) {
      return Error{
          ErrorCode::unsupported,
          fmt::format(
              "A filter of kind {} hashes in its own way: leave out --secret, --seed and --hash.",
              probably::name(kind))};
    }
    if constexpr (!Growable<F>) {
      if (!has_size) {
        return Error{
            ErrorCode::invalid_argument,
            fmt::format("A filter of kind {} does not grow: say with --keys or --memory how "
                        "large it shall be.",
                        probably::name(kind))};
      }
    }
    auto filter = [&] {
      if constexpr (kHashesAsWeWish) return F::create(plan, hasher);
      if constexpr (!kHashesAsWeWish) return F::create(plan);
    }();
    if (!filter) return filter.error();
    StoredFilter made{*std::move(filter)};
    made.promised_fpr = plan.fpr;
    if constexpr (!Growable<F>) {
      if (plan.fpr == 0)
        made.promised_fpr = made.filter.template get_if<F>()->params().fpr(plan.keys);
    }
    return made;
  }));
}

bool is_plain_snapshot(const std::string& path) {
  FileSource file = expect(FileSource::open(path));
  return begins_with(first_bytes(file, kSnapshotMark.size()), kSnapshotMark);
}

StoredFilter load_filter(const std::string& path, const std::string& secret_file) {
  OpenOptions options;
  options.secret = read_secret(secret_file);
  Unpacked file(path);
  auto opened =
      file.packing() == Packing::none ? open(path, options) : open(file.source(), options);
  if (opened) {
    StoredFilter stored{*std::move(opened)};
    stored.packing = file.packing();
    const SnapshotInfo info = expect(peek(Unpacked(path).source()));
    stored.has_secret = info.has_secret;
    stored.is_sparse = info.is_sparse;
    stored.promised_fpr = info.promised_fpr;
    stored.saved = info.created;
    stored.filter.visit([&]<class F>(const F& filter) {
      if constexpr (Growable<F>) stored.promised_fpr = filter.params().fpr;
    });
    return stored;
  }
  // What is no snapshot may be another's file.
  if (opened.error().code != ErrorCode::corrupt || begins_with(path, kSnapshotMark)) {
    throw Trouble(opened.error().message);
  }
  if (begins_with(path, kParquetMark)) {
    throw Trouble(
        fmt::format("'{}' is a Parquet file, which may have a filter for each column and row "
                    "group, {}: take one "
                    "out with probably convert --column NAME --row-group NUMBER.",
                    path, columns_with_filters(path)));
  }
  if (auto foreign = foreign_filter(path)) {
    foreign->packing = file.packing();
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
      how.sparse = options.is_sparse || stored.is_sparse;
      how.store_secret = options.stores_secret || stored.has_secret;
      how.promised_fpr = stored.promised_fpr;
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
      if (stored.filter.kind() == Kind::split_block &&
          stored.filter.hash_algorithm() != HashAlgorithm::xxh64) {
        return Error{ErrorCode::unsupported,
                     "Parquet's filters hash with xxh64: build it with --kind split_block --hash "
                     "xxh64."};
      }
      return expected(&interop::write_parquet_filter);
    case Format::dcso: {
      const DcsoBloom* const filter = stored.filter.get_if<DcsoBloom>();
      if (filter == nullptr)
        return expected(static_cast<Result<void> (*)(const DcsoBloom&, ByteSink&)>(nullptr));
      interop::DcsoFile file{filter->clone()};
      file.planned_fpr = stored.promised_fpr;
      if (stored.dcso) {
        file.planned_keys = stored.dcso->planned_keys;
        file.planned_fpr = stored.dcso->planned_fpr;
        file.insertions = stored.dcso->insertions;
        file.data = stored.dcso->data;
      }
      return interop::write_dcso(file, sink);
    }
  }
  return {};
}

}  // namespace

double promise_of(const StoredFilter& stored, std::optional<double> fpr) noexcept {
  return fpr.value_or(stored.promised_fpr != 0 ? stored.promised_fpr : kDefaultFpr);
}

void expect_storable(const StoredFilter& stored, const std::string& path) {
  const bool is_packed_snapshot =
      stored.format == Format::snapshot && stored.packing != Packing::none;
  if (is_packed_snapshot || stored.packing == Packing::zstd) {
    throw Trouble(
        fmt::format("'{0}' is compressed and can only be read: unpack it first, with probably "
                    "convert {0} FILE.",
                    path));
  }
}

void expect_writable(const std::string& path, const std::vector<std::string>& inputs) {
  std::error_code error;
  for (const std::string& input : inputs) {
    if (std::filesystem::equivalent(path, input, error)) {
      throw Trouble(fmt::format("Cannot write '{}': it is one of the inputs.", path));
    }
  }
  // What store_filter() will do first; without more, nothing remains of it.
  expect(FileSink::create(path));
}

void store_filter(const StoredFilter& stored, const std::string& path,
                  const StoreOptions& options) {
  // A new file with a secret in it is for nobody else.
  const bool holds_secret = options.stores_secret || stored.has_secret;
  const mode_t mask = ::umask(0);
  ::umask(holds_secret ? mask | 077 : mask);
  FileSink file = expect(FileSink::create(path));
  ::umask(mask);
  if (stored.packing == Packing::gzip) {
    GzipSink gzip(file);
    expect(write_filter(stored, gzip, options));
    expect(gzip.finish());
  } else {
    expect(write_filter(stored, file, options));
  }
  expect(file.finish());
}

}  // namespace probably::cli
