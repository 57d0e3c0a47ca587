// Result: a value, or an Error that says what to do.
//
// Whatever can fail because of the outside world (arguments, files, memory mappings) returns one.
// A failing operation changes nothing.
//
//   auto filter = probably::BlockedBloom::create({.keys = 1'000'000, .fpr = 0.01});
//   if (!filter) { std::cerr << filter.error().message << '\n'; return 1; }
//   filter->insert("key");
#pragma once

#include <cassert>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace probably {

// The numbers are stable: programs and files may store them. Append only.
enum class ErrorCode : std::uint8_t {
  invalid_argument = 1,  // an argument is outside its documented domain
  incompatible = 2,      // two filters differ in geometry or hasher
  io = 3,                // the operating system refused
  unsupported = 4,       // not possible on this machine, for this kind or in this version
  corrupt = 5,           // bytes that are not what was written
  secret = 6,            // a secret is needed, or another one
  too_large = 7,         // beyond a limit that the caller set
};

// The enumerator's name, and "unknown" for any other number.
[[nodiscard]] constexpr std::string_view name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::incompatible:
      return "incompatible";
    case ErrorCode::io:
      return "io";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::secret:
      return "secret";
    case ErrorCode::too_large:
      return "too_large";
  }
  return "unknown";
}

struct Error {
  ErrorCode code{};
  // A whole sentence for a person: the argument, its value, what is accepted.
  std::string message;
};

// Thrown by Result::value() when there is none.
class BadResult : public std::runtime_error {
 public:
  explicit BadResult(Error error) : std::runtime_error(error.message), error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  // Both implicit, so that a function may `return value;` and `return Error{...};`.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  // Requires: has_value().
  T& operator*() & noexcept { return *get(); }
  const T& operator*() const& noexcept { return *get(); }
  T&& operator*() && noexcept { return std::move(*get()); }
  T* operator->() noexcept { return get(); }
  const T* operator->() const noexcept { return get(); }

  // The value; throws BadResult with the error's message when there is none.
  T& value() & {
    throw_unless_value();
    return *get();
  }
  const T& value() const& {
    throw_unless_value();
    return *get();
  }
  T&& value() && {
    throw_unless_value();
    return std::move(*get());
  }

  // Requires: !has_value().
  [[nodiscard]] const Error& error() const noexcept {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  T* get() noexcept {
    assert(has_value());
    return std::get_if<0>(&state_);
  }
  const T* get() const noexcept {
    assert(has_value());
    return std::get_if<0>(&state_);
  }
  void throw_unless_value() const {
    if (!has_value()) throw BadResult(error());
  }

  std::variant<T, Error> state_;
};

// Success, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : state_(std::move(error)) {}

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  void value() const {
    if (!has_value()) throw BadResult(error());
  }
  [[nodiscard]] const Error& error() const noexcept {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<std::monostate, Error> state_;
};

}  // namespace probably
