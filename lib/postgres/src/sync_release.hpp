#pragma once

// Lets commits go that wait for us as a synchronous standby, while we cannot follow yet. For as
// long as it lives it is a physical standby under our name that confirms whatever the server
// writes.
//
// Used while a slot is made: commits that wait for us are open transactions, and the new slot waits
// for every one that is open. No verdict of ours is `absent` meanwhile, for nothing is complete.
//
// It needs a line of pg_hba.conf for replication. Distinct objects: safe. Shared objects: one
// thread at a time.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "guestlist/postgres/postgres_options.hpp"
#include "replication_stream.hpp"

namespace guestlist::postgres {

class SyncRelease {
 public:
  /// Does not wait for the connection.
  explicit SyncRelease(const PostgresOptions& options);
  ~SyncRelease();
  SyncRelease(const SyncRelease&) = delete;
  SyncRelease& operator=(const SyncRelease&) = delete;

  /// Why nothing is let go, where that is so.
  std::optional<Error> failure() const;

 private:
  Result<void> run();
  /// `seen`: where the stream begins.
  static Result<ReplicationStream> start(const PostgresOptions& options, std::uint64_t& seen);

  const PostgresOptions options_;
  std::atomic<bool> is_ending_ = false;
  mutable std::mutex mutex_;
  std::optional<Error> failure_;
  std::thread thread_;
};

}  // namespace guestlist::postgres
