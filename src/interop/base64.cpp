#include "interop/base64.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace probably::interop {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int value_of(char c) noexcept {
  if (c == '+') return 62;
  if (c == '/') return 63;
  const std::size_t place = kAlphabet.find(c);
  return place == std::string_view::npos ? -1 : static_cast<int>(place);
}

// Up to three bytes as four characters.
void append_group(std::span<const std::byte> bytes, std::string& out) {
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    group = group << 8 | (i < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i]) : 0);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    out += i <= bytes.size() ? kAlphabet[group >> (18 - 6 * i) & 63] : '=';
  }
}

}  // namespace

std::optional<std::vector<std::byte>> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool is_last = i + 4 == text.size();
    const std::size_t characters = is_last ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const int value = j < characters ? value_of(text[i + j]) : 0;
      if (value < 0) return std::nullopt;
      group = group << 6 | static_cast<std::uint32_t>(value);
    }
    for (std::size_t j = 0; j + 1 < characters; ++j) {
      bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * j)));
    }
    // One way to write each group.
    if (characters < 4 && (group & ((1u << (8 * (4 - characters))) - 1)) != 0) return std::nullopt;
  }
  return bytes;
}

Result<void> Base64Sink::write(std::span<const std::byte> bytes) {
  std::string out;
  while (!bytes.empty() && !pending_.empty()) {
    pending_.push_back(bytes.front());
    bytes = bytes.subspan(1);
    if (pending_.size() == 3) {
      append_group(pending_, out);
      pending_.clear();
    }
  }
  for (; bytes.size() >= 3; bytes = bytes.subspan(3)) append_group(bytes.first(3), out);
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  return sink_.write(std::as_bytes(std::span(out)));
}

Result<void> Base64Sink::finish() {
  std::string out;
  if (!pending_.empty()) append_group(pending_, out);
  pending_.clear();
  return sink_.write(std::as_bytes(std::span(out)));
}

}  // namespace probably::interop
