// One value out of a line of JSON, without building the rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/keys.hpp"

namespace probably::cli {

// What the steps lead to, names of members and numbers of elements: of a string its characters, of
// anything else its text as it stands. None if there is no such value, or if what comes before its
// end is no JSON.
[[nodiscard]] std::optional<std::string_view> find_in_json(std::string_view text,
                                                           const std::vector<std::string>& steps,
                                                           KeyRoom& room);

}  // namespace probably::cli
