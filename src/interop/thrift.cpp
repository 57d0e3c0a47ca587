#include "interop/thrift.hpp"

#include <algorithm>
#include <span>

#include "snapshot/format.hpp"

namespace probably::interop {

Error ThriftReader::error(const std::string& how) const {
  return source_error_ ? *source_error_ : detail::corrupt(source_.name(), how);
}

void ThriftReader::read(std::span<std::byte> room) {
  if (room.size() > bytes_left_) fail();
  while (!room.empty() && !failed_) {
    const auto count = source_.read(room);
    if (!count) source_error_ = count.error();
    if (!count || *count == 0) return fail();
    room = room.subspan(*count);
    bytes_left_ -= *count;
  }
}

std::uint8_t ThriftReader::byte() {
  std::byte one{};
  read(std::span(&one, 1));
  return failed_ ? 0 : std::to_integer<std::uint8_t>(one);
}

std::uint64_t ThriftReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t next = byte();
    value |= std::uint64_t{next & 0x7fu} << shift;
    if (next < 0x80) return value;
  }
  fail();
  return 0;
}

std::int64_t ThriftReader::integer() {
  const std::uint64_t zigzag = varint();
  return static_cast<std::int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
}

std::string ThriftReader::binary(std::size_t max_bytes) {
  const std::uint64_t size = varint();
  if (size > max_bytes) fail();
  std::string text;
  for (std::uint64_t i = 0; i < size && !failed_; ++i) text += static_cast<char>(byte());
  return text;
}

void ThriftReader::skip_bytes(std::uint64_t count) {
  std::array<std::byte, 256> room;
  while (count != 0 && !failed_) {
    const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(count, room.size()));
    read(std::span(room).first(some));
    count -= some;
  }
}

ThriftReader::Field ThriftReader::next_field(std::int64_t& last_id) {
  const std::uint8_t head = byte();
  if (failed_ || head == 0) return {0, Type::stop};
  if ((head & 0xf) > static_cast<std::uint8_t>(Type::structure)) fail();
  // A difference to the field before, or the number itself.
  last_id = head >> 4 != 0 ? last_id + (head >> 4) : integer();
  if (last_id < 0 || last_id > kMaxFieldId) fail();
  return {last_id, failed_ ? Type::stop : static_cast<Type>(head & 0xf)};
}

ThriftReader::List ThriftReader::list_head() {
  const std::uint8_t head = byte();
  const std::uint64_t size = head >> 4 == 0xf ? varint() : head >> 4;
  if ((head & 0xf) > static_cast<std::uint8_t>(Type::structure)) fail();
  return {failed_ ? 0 : size, static_cast<Type>(head & 0xf)};
}

void ThriftReader::skip_element(Type type) {
  // A field of a structure has a truth value in its head; an element has a byte for it.
  if (type == Type::boolean_true || type == Type::boolean_false) return skip_bytes(1);
  skip(type);
}

void ThriftReader::skip(Type type) {
  if (failed_) return;
  switch (type) {
    case Type::stop:
      fail();
      return;
    case Type::boolean_true:
    case Type::boolean_false:
      return;
    case Type::i8:
      skip_bytes(1);
      return;
    case Type::i16:
    case Type::i32:
    case Type::i64:
      static_cast<void>(varint());
      return;
    case Type::f64:
      skip_bytes(8);
      return;
    case Type::binary:
      skip_bytes(varint());
      return;
    case Type::list:
    case Type::set:
      if (++depth_ > kMaxDepth) fail();
      list([this](Type element) { skip_element(element); });
      --depth_;
      return;
    case Type::map: {
      if (++depth_ > kMaxDepth) fail();
      const std::uint64_t size = varint();
      const std::uint8_t types = size == 0 ? 0 : byte();
      for (std::uint64_t i = 0; i < size && !failed_; ++i) {
        skip_element(static_cast<Type>(types >> 4));
        skip_element(static_cast<Type>(types & 0xf));
      }
      --depth_;
      return;
    }
    case Type::structure:
      structure([this](Field field) { skip(field.type); });
      return;
  }
  fail();
}

}  // namespace probably::interop
