// Which part of a record is its key: all of it, a field, or a value of a JSON object.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace probably::cli {

// Bytes of keys that do not stand in their records as they are.
using KeyRoom = std::deque<std::string>;

class KeySelector {
 public:
  // The whole record.
  KeySelector() = default;
  // The field number `number`, counted from 1, of those that a delimiter separates. With `quoted`,
  // as in CSV: a field may stand in double quotes, and two of them inside stand for one.
  static KeySelector field(std::size_t number, char delimiter, bool quoted);
  // What a JSON pointer (RFC 6901) leads to: of a string its characters, of anything else its text.
  // Throws Trouble if it is no pointer.
  static KeySelector json(std::string_view pointer);

  [[nodiscard]] bool is_whole() const noexcept {
    return std::holds_alternative<std::monostate>(how_);
  }
  // None if the record has no such field. The key is valid as long as record and room are.
  [[nodiscard]] std::optional<std::string_view> key_of(std::string_view record,
                                                       KeyRoom& room) const;

 private:
  struct Field {
    std::size_t number;
    char delimiter;
    bool quoted;
  };
  using Pointer = std::vector<std::string>;

  std::variant<std::monostate, Field, Pointer> how_;
};

}  // namespace probably::cli
