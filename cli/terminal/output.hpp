// Standard output: buffered, and nothing is lost in silence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace probably::cli {

class Output {
 public:
  // To standard output.
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Throw Trouble if the bytes cannot be written.
  void write(std::string_view text);
  // Hands everything to the system.
  void flush();
  // The same, and asks whether it has arrived.
  void finish();

 private:
  std::vector<char> buffer_;
};

// Writes all of it to a descriptor. Throws Trouble that calls it by this name.
void write_all(int file, std::string_view text, const std::string& name);

}  // namespace probably::cli
