#pragma once

// What happens to the keys of a source after a snapshot of it, as it happens.
//
// Nothing is missed by whoever follows first and reads later:
//
//   follow        every commit from this moment on comes through the feed
//   snapshot      opened after that: every commit before it, and every key that a feed of this
//                 source gave before (one whose commit is in the log and not visible yet is waited
//                 for)
//   next          until the feed has reached the source's end as it was after the snapshot's end
//
// and then goes on with `next`. What is added may come twice, out of order, and for a transaction
// that is rolled back later: a set of keys that exist loses nothing by that. What is followed again
// from a position that was reached comes again from there.
//
// Distinct objects: safe. Shared objects: a ChangeFeed belongs to one thread; every function of
// FollowedSource may be called from any thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guestlist/base/clock.hpp"
#include "guestlist/port/finding.hpp"
#include "guestlist/port/source.hpp"
#include "guestlist/port/source_position.hpp"

namespace guestlist {

struct Changes {
  /// Canonical keys of rows that were inserted, or that got this key.
  std::vector<std::string> keys = {};
  /// Rows that are gone, or have another key now. They drive rebuilds, and are not to be exact.
  std::uint64_t removed = 0;
  /// Whoever follows from here misses nothing that did not come yet.
  SourcePosition position = {};
  /// Everything that was committed before this moment has come. Nothing where that is not known.
  std::optional<TimePoint> as_of = std::nullopt;
};

struct FeedLag {
  /// The source's log between what was acknowledged and its end. What the source keeps for us.
  std::uint64_t retained_bytes = 0;
  /// Between what has come and the log's end.
  std::uint64_t behind_bytes = 0;
};

class ChangeFeed {
 public:
  virtual ~ChangeFeed() = default;

  /// Replaces `changes` by what came since the last call, in bounded portions. Waits where nothing
  /// did, at most until the deadline; no keys then, and perhaps a later position. Keeps the source
  /// content only while it is called: once a second at least. Errors: `unavailable`: the connection
  /// is lost, follow again from the position reached; `not_found`: the source cannot give the
  /// changes from there any more, or vouch for them: follow from now and read a snapshot. The feed
  /// is over then.
  virtual Result<void> next(Changes& changes, Deadline deadline) = 0;

  /// Says that all changes up to `position` are in everything that verdicts are taken from, and
  /// will be there after a restart: the source need not keep them any longer, and a commit that
  /// waits for us may become visible. Does not wait for an answer. Errors: as `next`.
  virtual Result<void> acknowledge(const SourcePosition& position) = 0;

  virtual FeedLag lag() const = 0;

 protected:
  ChangeFeed() = default;
  ChangeFeed(const ChangeFeed&) = default;
  ChangeFeed& operator=(const ChangeFeed&) = default;
};

class FollowedSource : public Source {
 public:
  /// From `position`, or from now. Makes what the source needs to keep its changes for us (a
  /// replication slot, a table with triggers). Errors: `not_found` where the changes from
  /// `position` are gone or of another source; `overloaded` where somebody else follows in our
  /// place: try again later; `invalid_argument` where this source cannot be followed, with what to
  /// do; `unavailable`.
  virtual Result<std::unique_ptr<ChangeFeed>> follow(
      const std::optional<SourcePosition>& position) = 0;
  /// The end of what is committed: a feed whose position is not before it has given all of that.
  /// Errors: `unavailable`, `deadline_exceeded`.
  virtual Result<SourcePosition> end(Deadline deadline) = 0;
  /// Looks at whether the source can be followed, and whether it can be hurt by it. Changes
  /// nothing.
  virtual std::vector<Finding> examine(Deadline deadline) = 0;
  /// Removes what following left in the source. Errors: `unavailable`; `overloaded` where somebody
  /// follows.
  virtual Result<void> forget() = 0;
};

}  // namespace guestlist
