// Any bytes as a snapshot: refused by everybody, or by nobody, and then a filter that can be asked
// and is saved and opened again.
#include "fuzz/snapshot_file.hpp"
#include "probably/snapshot.hpp"

namespace {

using namespace probably;
using fuzz::Bytes;
using fuzz::require;

// For `secret state` 1; a file that holds a secret holds another, as a rule.
constexpr SecretKey kSecret{};

// Whether this is a reason to refuse even a snapshot in which everything is right.
bool may_refuse_valid(const Error& error, const detail::Header& header) {
  return error.code == ErrorCode::too_large || error.code == ErrorCode::secret ||
         (error.code == ErrorCode::unsupported && header.extent == detail::Extent::delta);
}

void check_filter(const AnyFilter& filter, std::span<const std::byte> bytes,
                  const detail::Header& header) {
  static_cast<void>(filter.contains("a key"));
  require(filter.estimated_fpr() >= 0 && filter.estimated_fpr() <= 1);

  BufferSink sink;
  const bool is_sparse = header.encoding == detail::Encoding::sparse;
  const bool has_secret = header.secret_state == detail::SecretState::stored;
  require(save(filter, sink,
               {.store_secret = has_secret, .sparse = is_sparse, .created = header.created})
              .has_value());
  if (!is_sparse && header.chunk_bytes == detail::kChunkBytes) {
    // There is no other way to write it.
    require(sink.bytes().size() == bytes.size() &&
            std::memcmp(sink.bytes().data(), bytes.data(), bytes.size()) == 0);
  } else {
    BufferSource again(sink.bytes());
    require(open(again, {.secret = kSecret}).value() == filter);
  }
}

void check_file(const Bytes& bytes, const detail::Header& header, bool is_valid,
                const Result<AnyFilter>& opened) {
  const fuzz::MemoryFile file(bytes);
  const auto info = peek(file.path());
  // Whoever reads header and trailer alone may miss what is wrong elsewhere.
  require(info.has_value() || !is_valid);
  const auto mapped = map(file.path(), {.secret = kSecret});
  if (header.encoding == detail::Encoding::sparse || header.extent == detail::Extent::delta) {
    require(!mapped);
  } else if (opened) {
    require(mapped && **mapped == *opened);
  } else {
    require(!mapped || opened.error().code == ErrorCode::too_large);
  }
  if (!opened) return;
  require(info->kind == opened->kind() && info->algorithm == opened->hash_algorithm());
  require(info->filter_bytes == opened->size_bytes() && info->file_bytes == bytes.size());
}

void check(const Bytes& bytes, const detail::Header& header) {
  const OpenOptions options{.secret = kSecret, .max_bytes = fuzz::kLimitBytes};
  const std::uint64_t most = fuzz::most_memory(bytes, header);
  const auto open_from = [&](ByteSource& source) {
    return fuzz::within(most, [&] { return open(source, options); });
  };
  const auto verify_from = [&](ByteSource&& source) {
    return fuzz::within(most, [&] { return verify(source); }).has_value();
  };

  BufferSource buffer(bytes);
  const auto opened = open_from(buffer);
  fuzz::PiecewiseSource stream(bytes);
  const auto streamed = open_from(stream);
  require(opened.has_value() == streamed.has_value());
  const bool is_valid = verify_from(BufferSource(bytes));
  require(verify_from(fuzz::PiecewiseSource(bytes)) == is_valid);
  if (opened) {
    require(is_valid && *opened == *streamed);
    check_filter(*opened, std::span(bytes).first(bytes.size() - *buffer.bytes_left()), header);
  } else {
    fuzz::require_sentence(opened.error());
    require(!is_valid || may_refuse_valid(opened.error(), header));
  }
  // Behind the end of a snapshot nothing follows in a file.
  if (opened && *buffer.bytes_left() != 0) {
    const fuzz::MemoryFile file(bytes);
    require(!open(file.path(), options) && !verify(file.path()));
  } else {
    check_file(bytes, header, is_valid, opened);
  }
}

void refuse(const Bytes& bytes) {
  BufferSource source(bytes);
  require(!open(source));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::for_each_snapshot(fuzz::as_input(data, size), check, refuse);
  return 0;
}
