// Snapshots of a large filter beside plain files of the same bytes: saving, opening, mapping; and
// how large deltas are.
//
//   suite_snapshots [quick]
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "measure.hpp"
#include "probably/probably.hpp"

namespace {

using Filter = probably::BlockedBloom;

constexpr int kRounds = 5;
constexpr std::size_t kPieceBytes = 64 << 10;

// A directory for the files, gone with the object.
class Directory {
 public:
  Directory() {
    std::string path = (std::filesystem::temp_directory_path() / "probably_XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
    path_ = path;
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Memory of this process that is there now, in bytes.
std::int64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:") {
      std::int64_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  }
  return 0;
}

template <class Run>
void measure(std::string_view operation, std::uint64_t bytes, Run&& run) {
  const std::int64_t before = resident_bytes();
  std::int64_t during = 0;
  const double ns = bench::time_ns(1, [&] { during = run(); });
  bench::Record("snapshot")
      .add("operation", operation)
      .add("bytes", bytes)
      .add("ms", ns / 1e6)
      .add("resident", during == 0 ? 0 : during - before)
      .print();
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

// What any program would do that replaces a file by these bytes and does not want to lose both.
void plain_write(std::span<const std::byte> bytes, const std::string& path) {
  const std::string temporary = path + ".new";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  while (!bytes.empty()) {
    const auto some = bytes.first(std::min(bytes.size(), kPieceBytes));
    const ssize_t written = ::write(file, some.data(), some.size());
    require(written > 0, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  require(::fsync(file) == 0, "cannot sync");
  ::close(file);
  require(::rename(temporary.c_str(), path.c_str()) == 0, "cannot rename");
}

// Into memory that is new, as an opened filter's is.
std::int64_t plain_read(const std::string& path, std::uint64_t bytes) {
  auto memory = probably::Storage::allocate(bytes).value();
  auto* const to = reinterpret_cast<char*>(memory.mutable_words());
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::size_t at = 0;
  for (ssize_t got = 1; got > 0; at += static_cast<std::size_t>(got)) {
    got = ::read(file, to + at, std::min<std::size_t>(kPieceBytes, bytes - at));
  }
  require(at == bytes, "cannot read");
  ::close(file);
  return resident_bytes();
}

void deltas(std::uint64_t keys) {
  Filter filter = Filter::create({.keys = keys, .fpr = bench::kFpr}).value();
  filter.insert_bulk(std::span<const std::uint64_t>(bench::make_keys(0, keys)));
  const Filter old = filter.clone();
  const probably::Mark mark(filter);
  filter.insert(std::span<const std::uint64_t>(bench::make_keys(keys, keys / 100)));
  const auto record = [&](std::string_view since, const auto& state) {
    probably::BufferSink sink;
    probably::save_delta(filter, state, sink).value();
    bench::Record("delta")
        .add("since", since)
        .add("keys", keys)
        .add("filter_bytes", filter.size_bytes())
        .add("delta_bytes", sink.bytes().size())
        .print();
  };
  record("an older snapshot", old);
  record("a mark", mark);
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "quick";
  const Directory directory;
  const std::string snapshot = directory.file("snapshot");
  const std::string plain = directory.file("plain");
  const std::uint64_t bytes = std::uint64_t{quick ? 64u : 1024u} << 20;
  {
    Filter filter =
        Filter::create(probably::BlockedParams{bytes / 64, 8}, {}, {.prefault = true}).value();
    // Half of the keys that it is for: bits everywhere.
    filter.insert_bulk(std::span<const std::uint64_t>(bench::make_keys(0, bytes * 8 / 20)));
    for (int round = 0; round < kRounds; ++round) {
      measure("plain write", bytes, [&] {
        plain_write(filter.bytes(), plain);
        return 0;
      });
      measure("save", bytes, [&] {
        probably::save(filter, snapshot).value();
        return 0;
      });
    }
  }
  const std::uint64_t known = bench::mix(0);
  for (int round = 0; round < kRounds; ++round) {
    measure("plain read", bytes, [&] { return plain_read(plain, bytes); });
    measure("open", bytes, [&] {
      const auto filter = probably::open<Filter>(snapshot).value();
      require(filter.contains(known), "a key is lost");
      return resident_bytes();
    });
    for (const auto verify : {probably::Verify::at_once, probably::Verify::later}) {
      const bool later = verify == probably::Verify::later;
      measure(later ? "map, verified later" : "map, verified at once", bytes, [&] {
        const auto filter = probably::map<Filter>(snapshot, {.verify = verify}).value();
        require(filter->contains(known), "a key is lost");
        return resident_bytes();
      });
    }
  }
  deltas(quick ? 100'000 : 10'000'000);
}
