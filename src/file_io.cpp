#include <utility>

#include "probably/io.hpp"
#include "snapshot/file.hpp"

namespace probably {

struct FileSource::State {
  detail::InputFile file;
};

FileSource::FileSource(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
FileSource::FileSource(FileSource&& other) noexcept = default;
FileSource::~FileSource() = default;

Result<FileSource> FileSource::open(const std::string& path) {
  auto file = detail::InputFile::open(path);
  if (!file) return file.error();
  return FileSource(std::make_unique<State>(State{*std::move(file)}));
}

Result<std::size_t> FileSource::read(std::span<std::byte> room) { return state_->file.read(room); }
std::optional<std::uint64_t> FileSource::bytes_left() const { return state_->file.bytes_left(); }
std::string FileSource::name() const { return state_->file.name(); }

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
