// How many records the input probably has, before it is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/records.hpp"

namespace probably::cli {

// How many keys a filter that grows is to have room for at first, if it may have to take a key of
// every record. Each link costs time later, and memory that is not used, but a wrong guess shall
// not cost much.
[[nodiscard]] std::uint64_t keys_at_first(const std::vector<std::string>& paths,
                                          const RecordFormat& format);

// By the length of the files and of their first records. None if there is a pipe or
// something compressed among them, or nothing.
[[nodiscard]] std::optional<std::uint64_t> guess_records(const std::vector<std::string>& paths,
                                                         const RecordFormat& format);

}  // namespace probably::cli
