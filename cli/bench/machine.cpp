#include "bench/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>
#include <thread>

namespace probably::cli {
namespace {

// The first line of a small file; none if it cannot be read.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// What follows "name" and a colon in a file of such lines.
std::string field(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(name) || colon == std::string::npos) continue;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return {};
}

// The number at the beginning, in units of 1024 if a K follows at once or as " kB".
std::optional<std::uint64_t> leading_bytes(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit.starts_with("K") || unit.starts_with(" kB")) return value << 10;
  if (unit.starts_with("M")) return value << 20;
  return value;
}

std::vector<Cache> caches_of_first_core() {
  std::vector<Cache> caches;
  for (int i = 0; i < 8; ++i) {
    const std::string directory = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
    const std::string type = first_line(directory + "type");
    const auto bytes = leading_bytes(first_line(directory + "size"));
    if (type.empty() || type == "Instruction" || !bytes) continue;
    caches.push_back(
        {fmt::format("L{}{}", first_line(directory + "level"), type == "Data" ? "d" : ""), *bytes});
  }
  return caches;
}

std::string cpu_name() {
  // x86 has the first, some others have one of the others.
  for (const char* const name : {"model name", "Model", "cpu model", "Hardware"}) {
    if (std::string model = field("/proc/cpuinfo", name); !model.empty()) return model;
  }
  return "unknown processor";
}

}  // namespace

Machine this_machine() {
  return {cpu_name(), std::max(1u, std::thread::hardware_concurrency()), caches_of_first_core()};
}

std::optional<std::uint64_t> available_memory() {
  std::optional<std::uint64_t> available = leading_bytes(field("/proc/meminfo", "MemAvailable"));
  const auto limit = leading_bytes(first_line("/sys/fs/cgroup/memory.max"));
  const auto used = leading_bytes(first_line("/sys/fs/cgroup/memory.current"));
  if (limit && used) {
    const std::uint64_t left = *limit > *used ? *limit - *used : 0;
    available = std::min(available.value_or(left), left);
  }
  return available;
}

}  // namespace probably::cli
