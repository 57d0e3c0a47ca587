// Thrift's compact protocol, as far as the footer of a Parquet file and the header of its filters
// need it. Hostile bytes end in failed() and zeros, never in much memory, deep recursion or a long
// time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "probably/io.hpp"

namespace probably::interop {

class ThriftReader {
 public:
  enum class Type : std::uint8_t {
    stop = 0,
    boolean_true = 1,
    boolean_false = 2,
    i8 = 3,
    i16 = 4,
    i32 = 5,
    i64 = 6,
    f64 = 7,
    binary = 8,
    list = 9,
    set = 10,
    map = 11,
    structure = 12,
  };
  struct Field {
    std::int64_t id;
    Type type;
  };
  struct List {
    std::uint64_t size;
    Type type;
  };

  // Fails if it would have to read more bytes than that.
  ThriftReader(ByteSource& source, std::uint64_t max_bytes) noexcept
      : source_(source), bytes_left_(max_bytes) {}

  // Whether anything read so far was not there or not Thrift. From then on there are only zeros,
  // and every structure ends.
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  // Why: the source's own error, or that the source is corrupt in this way.
  [[nodiscard]] Error error(const std::string& how) const;
  void fail() noexcept { failed_ = true; }

  // Calls use(field) for each field of a structure. Whatever use() does not read it has to skip().
  template <class Use>
  void structure(Use&& use) {
    if (++depth_ > kMaxDepth) fail();
    std::int64_t id = 0;
    for (Field field = next_field(id); field.type != Type::stop; field = next_field(id)) use(field);
    --depth_;
  }
  // Calls use(type) for each element.
  template <class Use>
  void list(Use&& use) {
    const List head = list_head();
    for (std::uint64_t i = 0; i < head.size && !failed_; ++i) use(head.type);
  }

  [[nodiscard]] std::int64_t integer();
  [[nodiscard]] std::string binary(std::size_t max_bytes);
  void skip(Type type);

 private:
  static constexpr int kMaxDepth = 32;
  static constexpr std::int64_t kMaxFieldId = 32767;

  [[nodiscard]] std::uint8_t byte();
  [[nodiscard]] std::uint64_t varint();
  // Fills the room, or fails.
  void read(std::span<std::byte> room);
  void skip_bytes(std::uint64_t count);
  void skip_element(Type type);
  Field next_field(std::int64_t& last_id);
  List list_head();

  ByteSource& source_;
  std::uint64_t bytes_left_;
  bool failed_ = false;
  std::optional<Error> source_error_;
  int depth_ = 0;
};

}  // namespace probably::interop
