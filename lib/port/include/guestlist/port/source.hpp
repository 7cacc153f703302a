#pragma once

// Where the keys that exist come from: a table's column, a file. A source answers for single keys
// (the truth that a filter approximates) and gives a consistent snapshot of all of them.
//
// Distinct objects: safe. Shared objects: every function of Source may be called from any thread; a
// Snapshot belongs to one thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/port/completion.hpp"

namespace guestlist {

class Snapshot {
 public:
  virtual ~Snapshot() = default;

  /// The number of keys, where the source knows it without reading them all.
  virtual std::optional<std::uint64_t> count() const = 0;
  /// Replaces `keys` by the next canonical keys, in bounded memory; leaves it empty at the end.
  /// Every key that was committed before the snapshot was opened comes at least once. Errors:
  /// `unavailable`, `corrupt`; the snapshot is over then, and nothing built from it is complete.
  virtual Result<void> next(std::vector<std::string>& keys) = 0;

 protected:
  Snapshot() = default;
  Snapshot(const Snapshot&) = default;
  Snapshot& operator=(const Snapshot&) = default;
};

class Source {
 public:
  virtual ~Source() = default;

  /// The value of a canonical key, or nothing where no such key is committed. The key needs to live
  /// during the call only. Errors: `unavailable`, `deadline_exceeded`, `overloaded`.
  virtual void load(std::string_view key, Deadline deadline,
                    Completion<std::optional<std::string>> done) = 0;
  virtual Result<std::unique_ptr<Snapshot>> snapshot() = 0;

 protected:
  Source() = default;
  Source(const Source&) = default;
  Source& operator=(const Source&) = default;
};

}  // namespace guestlist
