#pragma once

// A cache of values by key, as the guard uses it: in this process, or shared by several. A cache
// may lose anything at any time.
//
// Distinct objects: safe. Shared objects: every function may be called from any thread.

#include <optional>
#include <string>
#include <string_view>

#include "guestlist/port/completion.hpp"

namespace guestlist {

class ValueCache {
 public:
  virtual ~ValueCache() = default;

  /// Nothing where the key is not cached or its time is over. The key needs to live during the call
  /// only, here and below.
  virtual void get(std::string_view key, Deadline deadline,
                   Completion<std::optional<std::string>> done) = 0;
  /// Before the source is asked for what will be put: a `put` that follows is refused if an
  /// `erase`, by whatever process, came in between. A cache of one process needs nothing.
  virtual void lease(std::string_view key, Deadline deadline, Completion<void> done);
  /// Requires: time_to_live > 0. A shared cache keeps only what was put under a lease that holds;
  /// that it did not is no error.
  virtual void put(std::string_view key, std::string_view value, Duration time_to_live,
                   Deadline deadline, Completion<void> done) = 0;
  /// After success no later `get` returns a value that was put before.
  virtual void erase(std::string_view key, Deadline deadline, Completion<void> done) = 0;

 protected:
  ValueCache() = default;
  ValueCache(const ValueCache&) = default;
  ValueCache& operator=(const ValueCache&) = default;
};

inline void ValueCache::lease(std::string_view /*key*/, Deadline /*deadline*/,
                              Completion<void> done) {
  done({});
}

}  // namespace guestlist
