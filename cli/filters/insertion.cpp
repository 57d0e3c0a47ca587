#include "filters/insertion.hpp"

#include <fmt/format.h>

#include "units.hpp"

namespace probably::cli {

Insertion::Insertion(AnyFilter& filter, const InputOptions& options, const InsertionRules& rules,
                     const StopFlag& stop)
    : filter_(filter),
      options_(options),
      stop_(stop),
      reader_(options),
      input_(options.files, reader_.format(), stop, rules.sizes),
      watch_(filter, rules.fpr, rules.is_strict),
      progress_(options.is_quiet, options.shows_progress, rules.prints_records) {
  pipeline_.source([this](Batch& batch) { return input_.next(batch.block); });
  pipeline_.on_failure([this] { input_.stop(); });
  pipeline_.in_parallel([this](Batch& batch) { reader_.prepare(batch, filter_); });
  pipeline_.in_order([this](Batch& batch) { insert(batch); });
}

void Insertion::insert(Batch& batch) {
  const std::uint64_t fresh = filter_.insert_alone(batch.digests, batch.answers.span());
  records_ += batch.records.size();
  fresh_ += fresh;
  keyless_ += reader_.keyless(batch);
  if (const auto warning = watch_.add(fresh)) {
    progress_.clear();
    if (!options_.is_quiet) warn(*warning);
  }
  if (!progress_.is_due()) return;
  progress_.show(
      {records_, input_.bytes_read(), input_.total_bytes(), watch_.fill(), watch_.fpr()});
}

void Insertion::run() {
  pipeline_.run(thread_count(options_.threads));
  progress_.clear();
}

std::string Insertion::summary() const {
  std::string text =
      summary_of(records_, fresh_, keyless_, progress_.seconds(), stop_, "probably repeated");
  if (watch_.is_full()) {
    text += fmt::format(" The filter is overfull: of new keys it now takes {} for known.",
                        show_rate(watch_.fpr().value_or(1)));
  }
  return text;
}

std::string summary_of(std::uint64_t records, std::uint64_t fresh, std::uint64_t keyless,
                       double seconds, bool is_interrupted, std::string_view repeated) {
  std::string text =
      fmt::format("{}{} in {}: {} first seen, {} {}", is_interrupted ? "interrupted after " : "",
                  show_number(records, "record"), show_seconds(seconds), show_count(fresh),
                  show_count(records - fresh - keyless), repeated);
  if (keyless != 0) text += fmt::format(", {} without the key", show_count(keyless));
  return text + ".";
}

}  // namespace probably::cli
