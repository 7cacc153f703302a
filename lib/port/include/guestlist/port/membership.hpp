#pragma once

// A set of keys that exist, as the guard asks it: in this process, in a file, or shared through a
// server.
//
// Distinct objects: safe. Shared objects: every function may be called from any thread.

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "guestlist/base/verdict.hpp"
#include "guestlist/port/completion.hpp"

namespace guestlist {

class Membership {
 public:
  /// One verdict a key, in the order asked. The span is valid during the call only.
  using Verdicts = std::function<void(std::span<const Verdict>)>;

  virtual ~Membership() = default;

  /// Never fails: what goes wrong is `unknown` with its reason, for each key it concerns. `absent`
  /// is said only of a complete generation. The keys need to live during the call only.
  virtual void check(std::span<const std::string_view> keys, Deadline deadline, Verdicts done) = 0;

  /// Puts keys on the list, also on that of a generation that is being built. Idempotent. When
  /// `done` reports success, no later check calls one of them absent. Nothing is ever created by
  /// adding. Errors: `not_found` where there is no filter to add to; `unavailable`,
  /// `deadline_exceeded`: the keys may or may not have been added, and the caller must not go on as
  /// if they were.
  virtual void add(std::span<const std::string_view> keys, Deadline deadline,
                   Completion<void> done) = 0;

  /// Announces a write: while the token lives, a rebuild that begins later does not read its
  /// source. Take it before `add` and let it go after the commit. Without it a key could be added
  /// to the old generation only, and be committed after the new one has read its source.
  virtual std::shared_ptr<const void> begin_write() = 0;

 protected:
  Membership() = default;
  Membership(const Membership&) = default;
  Membership& operator=(const Membership&) = default;
};

}  // namespace guestlist
