// The golden files are read and written again, byte for byte.
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "support/mapping.hpp"

namespace probably {
namespace {

using testing::Golden;
using testing::golden_files;
using testing::golden_keys;
using testing::golden_path;
using testing::golden_secret;
using testing::is_mapped;
using testing::read_bytes;

std::vector<std::byte> saved(const AnyFilter& filter, const SaveOptions& options) {
  BufferSink sink;
  save(filter, sink, options).value();
  return sink.bytes();
}

// Makes the files anew when PROBABLY_WRITE_GOLDEN is set: for a new file, never for an old one.
TEST(Golden, FilesAreWrittenAsEver) {
  for (const Golden& golden : golden_files()) {
    SCOPED_TRACE(golden.file);
    const auto bytes = saved(golden.make(), golden.options);
    if (std::getenv("PROBABLY_WRITE_GOLDEN") != nullptr) {
      std::ofstream(golden_path(golden.file), std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    }
    EXPECT_TRUE(bytes == read_bytes(golden_path(golden.file)));
  }
}

TEST(Golden, FilesAreReadAndWrittenAgain) {
  for (const Golden& golden : golden_files()) {
    SCOPED_TRACE(golden.file);
    const auto filter = open(golden_path(golden.file), {.secret = golden_secret()});
    // The secret is not asked for where there is none.
    ASSERT_TRUE(filter) << filter.error().message;
    EXPECT_TRUE(*filter == golden.make());
    EXPECT_TRUE(saved(*filter, golden.options) == read_bytes(golden_path(golden.file)));
  }
}

TEST(Golden, FilesHoldTheirKeys) {
  for (const Golden& golden : golden_files()) {
    if (golden.file == "example.probably" || golden.file == "sparse_empty.probably") continue;
    SCOPED_TRACE(golden.file);
    const auto filter = open(golden_path(golden.file), {.secret = golden_secret()}).value();
    for (const std::string& key : golden_keys(100)) EXPECT_TRUE(filter.contains(key)) << key;
    EXPECT_TRUE(filter.contains(-42));
  }
}

TEST(Golden, FilesAreMapped) {
  for (const Golden& golden : golden_files()) {
    SCOPED_TRACE(golden.file);
    const auto mapped = map(golden_path(golden.file), {.secret = golden_secret()});
    if (golden.options.sparse) {
      ASSERT_FALSE(mapped);
      EXPECT_EQ(mapped.error().code, ErrorCode::unsupported);
    } else if (is_mapped(mapped)) {
      EXPECT_TRUE(**mapped == golden.make());
    }
  }
}

TEST(Golden, ThereIsAFileOfEveryKind) {
  std::vector<bool> seen(kKindCount + 1);
  for (const Golden& golden : golden_files()) {
    seen[static_cast<std::size_t>(golden.make().kind())] = true;
  }
  for (std::size_t kind = 1; kind <= kKindCount; ++kind) EXPECT_TRUE(seen[kind]) << kind;
}

}  // namespace
}  // namespace probably
