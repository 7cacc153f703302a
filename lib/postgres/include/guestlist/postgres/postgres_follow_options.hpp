#pragma once

// How the changes of a table are followed.

#include <chrono>
#include <cstdint>
#include <string>

#include "guestlist/base/clock.hpp"

namespace guestlist {

struct PostgresFollowOptions {
  /// Of the replication slot: lower case letters, digits and underscores, at most 63. One for each
  /// follower; two that share one take turns.
  std::string slot = "guestlist";
  /// Empty: named as the slot. Made where there is none and the role may; one that is there is used
  /// where it publishes what is needed.
  std::string publication = {};
  /// A commit waits until it was acknowledged. The server does that for whom
  /// `synchronous_standby_names` has the session's `application_name`.
  bool is_synchronous = false;
  /// Rows of the table keep their key for ever. Then a table without a replica identity can be
  /// followed too; a key that is changed all the same is missed.
  bool keys_never_change = false;
  /// Only key columns leave the server. Whoever changes the table's primary key should drop the
  /// publication first: the server refuses updates and deletes of a table whose replica identity
  /// the list does not hold. False: whole rows are sent, and primary keys may change.
  bool publish_key_columns_only = true;
  /// The server's log that may be kept for us. Beyond it the slot is given up, and whoever follows
  /// begins anew.
  std::uint64_t max_retained_bytes = 16ULL << 30;
  /// For a new slot, which waits for every transaction that has written and is still open.
  Duration slot_timeout = std::chrono::seconds(60);
  /// How often the table, the publication and the slot are looked at, and a heartbeat goes through
  /// the log. `Changes::as_of` is about this old, and what logical replication does not show (a
  /// partition that is attached with rows in it) is noticed as late.
  Duration heartbeat = std::chrono::seconds(1);
  /// For transactions whose keys the feed gave and that a snapshot does not show yet.
  Duration snapshot_wait = std::chrono::seconds(60);
};

}  // namespace guestlist
