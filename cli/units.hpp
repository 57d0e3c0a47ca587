// Numbers as people write and read them: 10M, 64MiB, 0.1%, 1 in 10,000.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace probably::cli {

// "250", "10,000", "10_000", "1e9", "10M", "2.5 billion": k, M, G or B, and T are powers of ten.
// Throw Trouble that says what was wrong and what is accepted.
[[nodiscard]] std::uint64_t parse_count(std::string_view text);
// "64MiB", "64 MB", "1G": KiB, MiB, GiB, TiB are powers of 1024; kB, MB, GB, TB and bare letters of
// 1000.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text);
// "0.001", "0.1%", "1e-3", "1/1000", "1 in 10,000": between 0 and 1, without these.
[[nodiscard]] double parse_rate(std::string_view text);
// "20%", "0.2": a share that may be more than the whole.
[[nodiscard]] double parse_share(std::string_view text);
// "30s", "15min", "12h", "7d", "4w", "1y", as days.
[[nodiscard]] double parse_days(std::string_view text);

// 10,000,000
[[nodiscard]] std::string show_count(std::uint64_t count);
// The same, rounded to a whole number.
[[nodiscard]] std::string show_count(double count);
// 1 record, 2,000 records
[[nodiscard]] std::string show_number(std::uint64_t count, std::string_view thing);
// 19.7 MiB
[[nodiscard]] std::string show_bytes(std::uint64_t bytes);
// 0.1 % (1 in 1,000)
[[nodiscard]] std::string show_rate(double rate);
// 0.1 %, with three digits that count.
[[nodiscard]] std::string show_percent(double share);
// 1.3 s, 4 min 12 s, 3 h 5 min
[[nodiscard]] std::string show_seconds(double seconds);

}  // namespace probably::cli
