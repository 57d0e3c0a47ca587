// Filters as the command line makes, opens and saves them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.hpp"
#include "probably/any_filter.hpp"
#include "probably/interop.hpp"
#include "probably/snapshot.hpp"
#include "records/packing.hpp"

namespace probably::cli {

// Whose file it is.
enum class Format : std::uint8_t { snapshot, go, go_json, guava, dcso, parquet };
[[nodiscard]] std::string_view name(Format format) noexcept;
[[nodiscard]] std::vector<std::string_view> format_names();
// Throws Trouble that names all of them.
[[nodiscard]] Format parse_format(std::string_view text);

// What a file of DCSO's bloom says beside the bits.
struct DcsoExtras {
  std::uint64_t planned_keys = 0;
  double planned_fpr = 0;
  std::uint64_t insertions = 0;
  std::vector<std::byte> data = {};
};

// A filter, and what its file says beside.
struct StoredFilter {
  AnyFilter filter;
  Format format = Format::snapshot;
  Packing packing = Packing::none;
  double promised_fpr = 0;  // 0: the file does not tell
  bool has_secret = false;  // in the file
  bool is_sparse = false;
  std::uint64_t saved = 0;  // seconds since 1970; 0: the file does not tell
  std::optional<DcsoExtras> dcso = std::nullopt;
};

// The rate that is promised if the user says nothing.
inline constexpr double kDefaultFpr = 0.001;

// The 16 bytes of a secret: as they are, or as 32 hexadecimal digits. Throws Trouble. None if there
// is no path.
[[nodiscard]] std::optional<SecretKey> read_secret(const std::string& path);

// An empty filter. If the user says no size, it grows, and starts with room for some of the input.
// Throws Trouble.
[[nodiscard]] StoredFilter make_filter(const NewFilterOptions& options, const InputOptions& input);
// Whether the file begins as a snapshot does that is not compressed. Throws Trouble.
[[nodiscard]] bool is_plain_snapshot(const std::string& path);
// Whatever software wrote the file, compressed with gzip or zstd or not. Throws Trouble.
[[nodiscard]] StoredFilter load_filter(const std::string& path, const std::string& secret_file);

// Throws Trouble if store_filter() cannot write it back to where it came from.
void expect_storable(const StoredFilter& stored, const std::string& path);

// Throws Trouble if a file cannot be written there, or if that would replace one of the inputs:
// before long work, and not after it.
void expect_writable(const std::string& path, const std::vector<std::string>& inputs = {});

struct StoreOptions {
  bool is_sparse = false;
  bool stores_secret = false;
};
// The rate beyond which it is full: the user's, else what the file promises.
[[nodiscard]] double promise_of(const StoredFilter& stored, std::optional<double> fpr) noexcept;

// In the format that it came in, in one step: the old file stays until the new one is whole.
// Throws Trouble.
void store_filter(const StoredFilter& stored, const std::string& path,
                  const StoreOptions& options = {});

}  // namespace probably::cli
