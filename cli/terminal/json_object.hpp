// JSON for programs that read what we print.
//
//   JsonObject().text("kind", "blocked").count("bytes", 640).number("fpr", 0.01).str()
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "terminal/visible.hpp"

namespace probably::cli {

// Members of an object, in the order in which they are added.
class JsonObject {
 public:
  // What is JSON already.
  JsonObject& raw(std::string_view name, std::string_view json) {
    members_ += fmt::format("{}\"{}\": {}", members_.empty() ? "" : ", ", name, json);
    return *this;
  }
  JsonObject& text(std::string_view name, std::string_view value) {
    return raw(name, quoted(value));
  }
  JsonObject& count(std::string_view name, std::uint64_t value) {
    return raw(name, fmt::format("{}", value));
  }
  JsonObject& truth(std::string_view name, bool value) {
    return raw(name, value ? "true" : "false");
  }
  // JSON has no infinity.
  JsonObject& number(std::string_view name, double value) {
    return raw(name, std::isfinite(value) ? fmt::format("{:.9g}", value) : "null");
  }
  template <class T>
  JsonObject& maybe(std::string_view name, const std::optional<T>& value) {
    return raw(name, value ? fmt::format("{}", *value) : "null");
  }
  [[nodiscard]] std::string str() const { return fmt::format("{{{}}}", members_); }

 private:
  static std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : as_utf8(text)) {
      if (static_cast<unsigned char>(c) < 0x20) {
        out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        continue;
      }
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + "\"";
  }

  std::string members_;
};

template <class List, class AsJson>
std::string json_array(const List& list, AsJson as_json) {
  std::string elements;
  for (const auto& element : list) {
    elements += fmt::format("{}{}", elements.empty() ? "" : ", ", as_json(element));
  }
  return fmt::format("[{}]", elements);
}

}  // namespace probably::cli
