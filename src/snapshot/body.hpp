// The body of a snapshot, chunk by chunk: what follows the header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "probably/io.hpp"
#include "snapshot/format.hpp"

namespace probably::detail {

// A filter's bits, and what a header says of them.
struct Contents {
  Header header;
  std::vector<const std::uint64_t*> words;  // of each section
};

// Called with a copy of some words of a section, before they are written: clears the bits that need
// not be.
using ForgetKnown =
    std::function<void(std::size_t section, std::uint64_t first_word, std::span<std::uint64_t>)>;
// Called with words that were read and verified.
using TakeWords = std::function<void(std::size_t section, std::uint64_t first_word,
                                     std::span<const std::uint64_t>)>;

// Header, payload and trailer. Others may set bits in the words meanwhile.
Result<void> write_snapshot(const Contents& contents, ByteSink& sink,
                            const ForgetKnown& forget_known = {});

// Fills `room`, or fails with corrupt because the source ends before.
Result<void> read_all(ByteSource& source, std::span<std::byte> room);
// Fails with corrupt unless the source is at its end.
Result<void> expect_end(ByteSource& source);
Result<Header> read_header(ByteSource& source);
// Fails with corrupt if the source says that it has not enough bytes for what the header claims:
// memory is asked for after this.
Result<void> expect_size(const ByteSource& source, const Header& header);
// Payload and trailer. Fails with corrupt unless everything is as it was written; words that came
// before that was seen have been handed out.
Result<void> read_body(ByteSource& source, const Header& header, const TakeWords& take);

struct Trailer {
  std::vector<std::uint64_t> set_bits;   // of each section
  std::vector<std::uint64_t> checksums;  // of each chunk
};
// Fails with corrupt unless its own checksum is right.
// Requires: bytes.size() == header.trailer_bytes().
Result<Trailer> decode_trailer(std::span<const std::byte> bytes, const Header& header,
                               const std::string& name);

}  // namespace probably::detail
