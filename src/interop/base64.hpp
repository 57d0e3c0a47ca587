// Base64 for URLs, with padding (RFC 4648); the other alphabet is read, too.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "probably/io.hpp"

namespace probably::interop {

// None if the text is not base64.
[[nodiscard]] std::optional<std::vector<std::byte>> decode_base64(std::string_view text);

// Encodes what is written to it.
class Base64Sink final : public ByteSink {
 public:
  explicit Base64Sink(ByteSink& sink) noexcept : sink_(sink) {}
  Result<void> write(std::span<const std::byte> bytes) override;
  // Writes what is left, with padding.
  Result<void> finish();

 private:
  ByteSink& sink_;
  std::vector<std::byte> pending_;  // up to two
};

}  // namespace probably::interop
