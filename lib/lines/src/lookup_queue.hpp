#pragma once

// Lookups of a LinesSource, which wait for one thread that reads the file where it changed.
//
// Distinct objects: safe. Shared objects: safe.

#include <condition_variable>
#include <deque>

#include "lines_state.hpp"

namespace guestlist::lines {

class LookupQueue {
 public:
  explicit LookupQueue(std::shared_ptr<LinesState> state) : state_(std::move(state)) {}

  void add(std::string_view key, Deadline deadline, Completion<std::optional<std::string>> done);
  /// Answers until `stop`, and then what waits still.
  void work();
  void stop();

 private:
  struct Lookup {
    std::string key;
    Deadline deadline;
    Completion<std::optional<std::string>> done;
  };
  Result<std::optional<std::string>> answer(const Lookup& lookup);

  const std::shared_ptr<LinesState> state_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Lookup> waiting_;
  bool stopping_ = false;
};

}  // namespace guestlist::lines
