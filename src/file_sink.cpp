#include <utility>

#include "probably/io.hpp"
#include "snapshot/file.hpp"

namespace probably {

struct FileSink::State {
  detail::ReplacementFile file;
};

FileSink::FileSink(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
FileSink::FileSink(FileSink&& other) noexcept = default;
FileSink::~FileSink() = default;

Result<FileSink> FileSink::create(const std::string& path) {
  auto file = detail::ReplacementFile::create(path);
  if (!file) return file.error();
  return FileSink(std::make_unique<State>(State{*std::move(file)}));
}

Result<void> FileSink::write(std::span<const std::byte> bytes) { return state_->file.write(bytes); }

Result<void> FileSink::finish() { return state_->file.commit(); }

}  // namespace probably
