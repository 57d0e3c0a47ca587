// The strings of a JSON file of test vectors. No escapes, no numbers: the vectors have none.
#pragma once

#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace probably::testing {

// The whole of a file in tests/data.
inline std::string read_test_data(const std::string& file_name) {
  const std::string path = std::string(PROBABLY_TEST_DATA_DIR) + "/" + file_name;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The strings of the first list in `json`, also those inside its lists and objects, in their order.
inline std::vector<std::string> strings_of_first_list(std::string_view json) {
  std::vector<std::string> strings;
  int depth = 0;
  for (std::size_t i = json.find('['); i < json.size(); ++i) {
    if (json[i] == '[') ++depth;
    if (json[i] == ']' && --depth == 0) return strings;
    if (json[i] == '"') {
      const std::size_t end = json.find('"', i + 1);
      strings.emplace_back(json.substr(i + 1, end - i - 1));
      i = end;
    }
  }
  throw std::runtime_error("no list, or one without end");
}

// The strings of the list that is the member `member` of an object.
inline std::vector<std::string> strings_of_list(std::string_view json, const std::string& member) {
  const std::size_t start = json.find('"' + member + '"');
  if (start == std::string_view::npos) throw std::runtime_error("no member " + member);
  return strings_of_first_list(json.substr(start));
}

// Requires: an even number of hexadecimal digits.
inline std::string bytes_from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

}  // namespace probably::testing
