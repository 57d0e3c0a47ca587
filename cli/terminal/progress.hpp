// What is going on, on a terminal: one line that is written over again and again.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace probably::cli {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  struct State {
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> total_bytes;
    std::optional<double> fill;  // of the filter
    std::optional<double> fpr;
  };

  // On a terminal, unless it shows records, too; or if the user insists; never if the user wants
  // quiet.
  Progress(bool is_quiet, bool insists, bool prints_records);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Whether it is time to show something new.
  [[nodiscard]] bool is_due() const noexcept;
  void show(const State& state);
  // Takes the line away, for whatever else goes to the terminal.
  void clear();
  [[nodiscard]] double seconds() const noexcept;

 private:
  bool is_shown_;
  bool is_terminal_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point last_ = started_;
  bool is_on_line_ = false;  // something stands there
};

// A line on standard error, for people: "probably: ...". What a terminal would obey is made
// visible.
void tell(std::string_view sentence);
// The same of something that may be wrong.
void warn(std::string_view sentence);

}  // namespace probably::cli
