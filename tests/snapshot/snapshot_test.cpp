// Snapshots of every kind: saved, opened, mapped, peeked at; and what is refused.
#include "probably/snapshot.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "support/filters.hpp"
#include "support/golden.hpp"
#include "support/mapping.hpp"
#include "support/streams.hpp"
#include "support/temporary_directory.hpp"
#include "support/temporary_file.hpp"

namespace probably {
namespace {

using testing::contains_all;
using testing::DigestStream;
using testing::golden_secret;
using testing::is_mapped;
using testing::map_error;
using testing::read_bytes;
using testing::sample_params;
using testing::TemporaryDirectory;
using testing::TemporaryFile;

namespace fs = std::filesystem;

template <class F>
F filled(const typename F::Params& params, std::size_t keys, const Hasher& hasher = {}) {
  F filter = F::create(params, hasher).value();
  filter.insert(DigestStream(1).take(keys));
  return filter;
}

template <class F>
std::vector<std::byte> bytes_of(const F& filter, SaveOptions options = {}) {
  options.created = 1;
  BufferSink sink;
  save(filter, sink, options).value();
  return sink.bytes();
}

template <class F>
Result<F> open_bytes(std::span<const std::byte> bytes, const OpenOptions& options = {}) {
  BufferSource source(bytes);
  return open<F>(source, options);
}

ErrorCode code_of(const auto& result) { return result ? ErrorCode{} : result.error().code; }

BlockedBloom small_filter() { return filled<BlockedBloom>({3, 8}, 100); }

template <class F>
class Snapshots : public ::testing::Test {};
TYPED_TEST_SUITE(Snapshots, testing::AllFilterTypes, testing::KindName);

TYPED_TEST(Snapshots, GiveTheSameFilterAgain) {
  for (const auto& params : sample_params<TypeParam>()) {
    for (const std::size_t keys : {0u, 1u, 1000u}) {
      const auto filter = filled<TypeParam>(params, keys);
      for (const bool sparse : {false, true}) {
        const auto again = open_bytes<TypeParam>(bytes_of(filter, {.sparse = sparse}));
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_TRUE(*again == filter);
        EXPECT_TRUE(contains_all(*again, DigestStream(1).take(keys)));
      }
    }
  }
}

TYPED_TEST(Snapshots, OfOneFilterAreTheSameBytes) {
  const auto filter = filled<TypeParam>(sample_params<TypeParam>().back(), 1000);
  EXPECT_TRUE(bytes_of(filter) == bytes_of(filter.clone()));
  EXPECT_TRUE(bytes_of(filter) == bytes_of(AnyFilter(filter.clone())));
  EXPECT_TRUE(bytes_of(filter) == bytes_of(open_bytes<TypeParam>(bytes_of(filter)).value()));
}

TYPED_TEST(Snapshots, InFilesAreOpenedAndMapped) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("filter");
  const auto filter = filled<TypeParam>(sample_params<TypeParam>().back(), 2000);
  ASSERT_TRUE(save(filter, path));
  EXPECT_EQ(directory.file_count(), 1u);
  EXPECT_TRUE(verify(path));
  EXPECT_TRUE(open<TypeParam>(path).value() == filter);
  EXPECT_TRUE(open(path).value() == AnyFilter(filter.clone()));
  for (const Verify when : {Verify::at_once, Verify::later}) {
    const auto mapped = map<TypeParam>(path, {.verify = when});
    if (!is_mapped(mapped)) continue;
    EXPECT_TRUE(**mapped == filter);
    EXPECT_TRUE(mapped->verify());
    EXPECT_TRUE(contains_all(**mapped, DigestStream(1).take(2000)));
  }
}

TYPED_TEST(Snapshots, PassThroughStreams) {
  const auto filter = filled<TypeParam>(sample_params<TypeParam>().back(), 1000);
  std::stringstream stream;
  StreamSink sink(stream);
  ASSERT_TRUE(save(filter, sink));
  ASSERT_TRUE(save(filter, sink, {.sparse = true}));
  stream << "what follows";
  StreamSource source(stream);
  EXPECT_TRUE(open<TypeParam>(source).value() == filter);
  EXPECT_TRUE(open<TypeParam>(source).value() == filter);
  std::string rest;
  std::getline(stream, rest);
  EXPECT_EQ(rest, "what follows");
}

TYPED_TEST(Snapshots, GoOnTakingKeys) {
  auto filter = filled<TypeParam>(sample_params<TypeParam>().back(), 500);
  auto again = open_bytes<TypeParam>(bytes_of(filter)).value();
  const auto more = DigestStream(2).take(500);
  filter.insert(more);
  again.insert(more);
  EXPECT_TRUE(again == filter);
}

TYPED_TEST(Snapshots, TellWhatTheyHold) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("filter");
  const auto filter = filled<TypeParam>(sample_params<TypeParam>().back(), 2000, Hasher::xxh3(9));
  for (const bool sparse : {false, true}) {
    ASSERT_TRUE(save(filter, path, {.sparse = sparse, .created = 77, .promised_fpr = 0.03}));
    const auto info = peek(path);
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_EQ(info->format_version, 1);
    EXPECT_EQ(info->kind, kind_of<TypeParam>);
    EXPECT_EQ(info->is_sparse, sparse);
    EXPECT_FALSE(info->is_delta);
    EXPECT_FALSE(info->has_secret);
    EXPECT_EQ(info->algorithm, HashAlgorithm::xxh3);
    EXPECT_EQ(info->fingerprint, 9u);
    EXPECT_EQ(info->created, 77u);
    EXPECT_EQ(info->promised_fpr, 0.03);
    EXPECT_EQ(info->file_bytes, fs::file_size(path));
    EXPECT_EQ(info->filter_bytes, filter.size_bytes());
    EXPECT_EQ(std::get<typename TypeParam::Params>(info->params), filter.params());
    std::uint64_t bits = 0;
    for (const auto& section : info->sections) bits += section.set_bits;
    EXPECT_NEAR(static_cast<double>(bits) / (8.0 * static_cast<double>(filter.size_bytes())),
                filter.fill_ratio(), 0.01);
  }
}

TEST(Snapshots, PromiseOnlyRates) {
  for (const double wrong : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    BufferSink sink;
    const auto saved = save(small_filter(), sink, {.promised_fpr = wrong});
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(sink.bytes().empty());
  }
}

// --- Files ---------------------------------------------------------------------------------------

TEST(SnapshotFiles, ReplaceOlderOnes) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("filter");
  ASSERT_TRUE(save(small_filter(), path));
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  const auto newer = filled<BlockedBloom>({9, 8}, 300);
  ASSERT_TRUE(save(newer, path));
  EXPECT_TRUE(open<BlockedBloom>(path).value() == newer);
  EXPECT_EQ(directory.file_count(), 1u);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0640u);
}

TEST(SnapshotFiles, FollowLinks) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("filter");
  const std::string link = directory.file("link");
  ASSERT_TRUE(save(small_filter(), path));
  fs::create_symlink("filter", link);
  const auto newer = filled<BlockedBloom>({9, 8}, 300);
  ASSERT_TRUE(save(newer, link));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(open<BlockedBloom>(path).value() == newer);
}

TEST(SnapshotFiles, DoNotReplaceLinksThatLeadNowhere) {
  const TemporaryDirectory directory;
  fs::create_symlink("nowhere", directory.file("link"));
  EXPECT_EQ(code_of(save(small_filter(), directory.file("link"))), ErrorCode::io);
  EXPECT_TRUE(fs::is_symlink(directory.file("link")));
  EXPECT_EQ(directory.file_count(), 1u);
}

TEST(SnapshotFiles, MayHaveLongNames) {
  const TemporaryDirectory directory;
  const std::string path = directory.file(std::string(255, 'n'));
  ASSERT_TRUE(save(small_filter(), path));
  EXPECT_TRUE(open(path));
}

TEST(SnapshotFiles, AreNotWrittenWhereNoneCanBe) {
  const TemporaryDirectory directory;
  EXPECT_EQ(code_of(save(small_filter(), directory.file("missing/filter"))), ErrorCode::io);
  EXPECT_EQ(code_of(save(small_filter(), directory.file(""))), ErrorCode::io);
  EXPECT_EQ(code_of(save(small_filter(), "/dev/null")), ErrorCode::io);
  EXPECT_EQ(code_of(save(small_filter(), std::string("a\0b", 3))), ErrorCode::invalid_argument);
  EXPECT_EQ(directory.file_count(), 0u);
}

TEST(SnapshotFiles, ThatAreMissingOrNoFilesAreRefused) {
  const TemporaryDirectory directory;
  for (const std::string& path :
       {directory.file("missing"), directory.file(""), std::string("/dev/null")}) {
    EXPECT_EQ(code_of(open(path)), ErrorCode::io) << path;
    EXPECT_EQ(code_of(map(path)), map_error(ErrorCode::io)) << path;
    EXPECT_EQ(code_of(peek(path)), ErrorCode::io) << path;
    EXPECT_EQ(code_of(verify(path)), ErrorCode::io) << path;
  }
}

TEST(SnapshotFiles, MayNotGoOn) {
  auto bytes = bytes_of(small_filter());
  bytes.resize(bytes.size() + 8);
  const TemporaryFile file(bytes);
  EXPECT_EQ(code_of(open(file.path())), ErrorCode::corrupt);
  EXPECT_EQ(code_of(map(file.path())), map_error(ErrorCode::corrupt));
  EXPECT_EQ(code_of(peek(file.path())), ErrorCode::corrupt);
  EXPECT_EQ(code_of(verify(file.path())), ErrorCode::corrupt);
  // A buffer may: it is like a stream.
  EXPECT_TRUE(open_bytes<BlockedBloom>(bytes));
}

TEST(SnapshotFiles, AreSourcesAndSinks) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("filter");
  const auto filter = small_filter();
  {
    auto sink = FileSink::create(path).value();
    ASSERT_TRUE(save(filter, sink));
    EXPECT_FALSE(fs::exists(path)) << "not before it is complete";
    ASSERT_TRUE(sink.finish());
  }
  auto source = FileSource::open(path).value();
  EXPECT_EQ(source.bytes_left(), fs::file_size(path));
  EXPECT_EQ(source.name(), "'" + path + "'");
  EXPECT_TRUE(open<BlockedBloom>(source).value() == filter);
  EXPECT_EQ(source.bytes_left(), 0u);
  {
    auto given_up = FileSink::create(path).value();
    ASSERT_TRUE(given_up.write(std::as_bytes(std::span("no filter"))));
  }
  EXPECT_EQ(directory.file_count(), 1u);
  EXPECT_TRUE(open<BlockedBloom>(path).value() == filter);
  EXPECT_EQ(code_of(FileSource::open(directory.file("missing"))), ErrorCode::io);
  EXPECT_EQ(code_of(FileSink::create(directory.file("missing/filter"))), ErrorCode::io);
}

TEST(SnapshotFiles, StayMappedWhenTheyAreReplaced) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("filter");
  const auto filter = small_filter();
  ASSERT_TRUE(save(filter, path));
  const auto mapped = map<BlockedBloom>(path);
  if (!is_mapped(mapped)) return;
  ASSERT_TRUE(save(filled<BlockedBloom>({9, 8}, 300), path));
  EXPECT_TRUE(**mapped == filter);
  EXPECT_TRUE(mapped->verify());
}

// --- Refusals ------------------------------------------------------------------------------------

TEST(SnapshotRefusals, AnotherKind) {
  const auto bytes = bytes_of(small_filter());
  EXPECT_EQ(code_of(open_bytes<Bloom>(bytes)), ErrorCode::incompatible);
  const TemporaryFile file(bytes);
  EXPECT_EQ(code_of(map<Bloom>(file.path())), map_error(ErrorCode::incompatible));
}

TEST(SnapshotRefusals, MoreMemoryThanAllowed) {
  const auto bytes = bytes_of(small_filter());
  const OpenOptions enough{.max_bytes = 192};
  const OpenOptions too_little{.max_bytes = 191};
  EXPECT_TRUE(open_bytes<BlockedBloom>(bytes, enough));
  EXPECT_EQ(code_of(open_bytes<BlockedBloom>(bytes, too_little)), ErrorCode::too_large);
}

TEST(SnapshotRefusals, NoOrAnotherSecret) {
  const auto filter = filled<BlockedBloom>({3, 8}, 100, Hasher::keyed(golden_secret()));
  SecretKey other = golden_secret();
  other[3] ^= std::byte{1};
  const OpenOptions with_secret{.secret = golden_secret()};
  const OpenOptions with_other{.secret = other};

  const auto without = bytes_of(filter);
  EXPECT_EQ(code_of(open_bytes<BlockedBloom>(without)), ErrorCode::secret);
  EXPECT_EQ(code_of(open_bytes<BlockedBloom>(without, with_other)), ErrorCode::secret);
  EXPECT_TRUE(open_bytes<BlockedBloom>(without, with_secret).value() == filter);
  const auto secret = golden_secret();
  const auto holds_secret = [&secret](const std::vector<std::byte>& bytes) {
    return std::search(bytes.begin(), bytes.end(), secret.begin(), secret.end()) != bytes.end();
  };
  EXPECT_FALSE(holds_secret(without));

  const auto stored = bytes_of(filter, {.store_secret = true});
  EXPECT_TRUE(holds_secret(stored));
  EXPECT_TRUE(open_bytes<BlockedBloom>(stored).value() == filter);
  EXPECT_TRUE(open_bytes<BlockedBloom>(stored, with_secret).value() == filter);
  EXPECT_EQ(code_of(open_bytes<BlockedBloom>(stored, with_other)), ErrorCode::secret);

  const TemporaryFile file(without);
  EXPECT_EQ(code_of(map<BlockedBloom>(file.path())), map_error(ErrorCode::secret));
  is_mapped(map<BlockedBloom>(file.path(), {.secret = golden_secret()}));
  // Neither needs the secret.
  EXPECT_TRUE(peek(file.path()));
  EXPECT_TRUE(verify(file.path()));
}

// Nobody could ever open it.
TEST(SnapshotRefusals, ASecretThatNobodyKnows) {
  auto filter = filled<BlockedBloom>({3, 8}, 100, Hasher::keyed());
  BufferSink sink;
  EXPECT_EQ(code_of(save(filter, sink)), ErrorCode::secret);
  EXPECT_EQ(code_of(save(filter.clone(), sink)), ErrorCode::secret);
  EXPECT_TRUE(sink.bytes().empty());
  EXPECT_TRUE(open_bytes<BlockedBloom>(bytes_of(filter, {.store_secret = true})).value() == filter);
  const SecretKey secret = random_secret();
  EXPECT_NE(secret, random_secret());
  filter = filled<BlockedBloom>({3, 8}, 100, Hasher::keyed(secret));
  EXPECT_TRUE(open_bytes<BlockedBloom>(bytes_of(filter), {.secret = secret}).value() == filter);
}

// Whoever takes another's file for a snapshot is told so, and not that it is damaged.
TEST(SnapshotRefusals, FilesOfOthers) {
  const auto expect_said = [](std::size_t size, std::string_view words) {
    std::vector<std::byte> bytes(size, std::byte{'x'});
    const TemporaryFile file(bytes);
    for (const Error& error : {open(file.path()).error(), verify(file.path()).error(),
                               peek(file.path()).error(), open_bytes<Bloom>(bytes).error()}) {
      EXPECT_EQ(error.code, ErrorCode::corrupt);
      EXPECT_NE(error.message.find(words), std::string::npos) << error.message;
    }
    const auto mapped = map(file.path());
    EXPECT_EQ(code_of(mapped), map_error(ErrorCode::corrupt));
    if constexpr (testing::kCanMap) {
      EXPECT_NE(mapped.error().message.find(words), std::string::npos) << mapped.error().message;
    }
  };
  expect_said(0, "is empty");
  for (const std::size_t size : {1u, 7u, 8u, 1000u, 1001u, 4096u, 9000u}) {
    expect_said(size, "no snapshot of a filter");
  }
}

TEST(SnapshotRefusals, ASinkThatFails) {
  class Full final : public ByteSink {
   public:
    explicit Full(std::size_t room) : room_(room) {}
    Result<void> write(std::span<const std::byte> bytes) override {
      if (bytes.size() > room_) return Error{ErrorCode::io, "full"};
      room_ -= bytes.size();
      return {};
    }

   private:
    std::size_t room_;
  };
  const std::size_t size = bytes_of(small_filter()).size();
  for (const std::size_t room : {std::size_t{0}, std::size_t{4096}, size - 1}) {
    Full sink(room);
    EXPECT_EQ(code_of(save(small_filter(), sink)), ErrorCode::io);
  }
  std::ostringstream stream;
  stream.setstate(std::ios::badbit);
  StreamSink sink(stream);
  EXPECT_EQ(code_of(save(small_filter(), sink)), ErrorCode::io);
}

}  // namespace
}  // namespace probably
