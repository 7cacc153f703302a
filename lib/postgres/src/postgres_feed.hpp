#pragma once

// The changes of a table as they come through a logical replication slot.
//
// One thread, two sockets: the stream, and the watch that looks at what the stream does not show.
// Whatever makes the stream's silence mean less than "nothing happened" ends the feed with
// `not_found`. A position that is acknowledged goes out within the call.
//
// Distinct objects: safe. Shared objects: one thread at a time. Tested by: PostgresFeed.*, the
// ChangeFeed laws.

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "feed_watch.hpp"
#include "given_transactions.hpp"
#include "guestlist/port/change_feed.hpp"
#include "key_changes.hpp"
#include "replication_stream.hpp"

namespace guestlist::postgres {

class PostgresFeed final : public ChangeFeed {
 public:
  struct Begin {
    ReplicationStream stream;
    FeedWatch watch;
    KeyChanges changes;
    /// Of all positions.
    std::string origin;
    /// Of the table as it was described; see FollowedTable.
    std::string stamp;
    PostgresFollowOptions options;
    std::shared_ptr<GivenTransactions> given;
    /// How long the server waits for a sign of life.
    Duration server_patience;
    /// Set to false once nothing more comes from this feed.
    std::shared_ptr<std::atomic<bool>> is_open;
  };
  explicit PostgresFeed(Begin begin);
  ~PostgresFeed() override { close(); }
  PostgresFeed(const PostgresFeed&) = delete;
  PostgresFeed& operator=(const PostgresFeed&) = delete;

  Result<void> next(Changes& changes, Deadline deadline) override;
  Result<void> acknowledge(const SourcePosition& position) override;
  FeedLag lag() const override;

 private:
  Result<void> read(Changes& changes, Deadline deadline);
  Result<void> take_arrived(Changes& changes);
  Result<void> take(const ReplicationStream::Message& message, Changes& changes);
  Result<void> look_after(TimePoint now);
  Result<void> judge(const FeedWatch::Report& report);
  Result<void> wait(Deadline deadline);
  Result<void> confirm(TimePoint now);
  bool has_something(const Changes& changes) const;
  bool is_full() const;
  /// Closes the stream, so that the slot is free, and gives the slot up.
  void drop_slot();
  void close() noexcept;
  tl::unexpected<Error> surprise(std::string what) const;

  const SteadyClock clock_;
  std::optional<ReplicationStream> stream_;
  std::optional<FeedWatch> watch_;
  PgOutput parser_;
  KeyChanges changes_;
  const std::string origin_;
  const std::string stamp_;
  const PostgresFollowOptions options_;
  const std::shared_ptr<GivenTransactions> given_;
  const Duration confirm_every_;
  const std::shared_ptr<std::atomic<bool>> is_open_;

  std::optional<Error> failure_;
  std::uint64_t acknowledged_;
  TimePoint confirmed_at_ = {};
  std::uint64_t told_position_;
  std::uint32_t last_given_ = 0;
  std::uint64_t descriptions_ = 0;
  bool is_alarmed_ = false;
  /// The last heartbeat whose report was good, and when it was asked for.
  std::uint64_t good_number_ = 0;
  TimePoint good_at_ = {};
  std::optional<TimePoint> as_of_;
  std::optional<TimePoint> told_as_of_;
  std::uint64_t server_end_ = 0;
  std::uint64_t retained_from_ = 0;
};

}  // namespace guestlist::postgres
