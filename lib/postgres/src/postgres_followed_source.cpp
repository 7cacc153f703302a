#include "guestlist/postgres/postgres_followed_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include "examination.hpp"
#include "given_transactions.hpp"
#include "guestlist/postgres/postgres_lsn.hpp"
#include "key_table.hpp"
#include "postgres_feed.hpp"
#include "slot_keeper.hpp"
#include "sql_text.hpp"

namespace guestlist {
namespace {

using namespace postgres;

constexpr Duration patience = std::chrono::seconds(10);

tl::unexpected<Error> gone(const std::string& why) {
  return fail(Errc::not_found, fmt::format("changes cannot be followed from there: {}", why));
}

tl::unexpected<Error> held(const SlotState& slot, const std::string& name) {
  return fail(Errc::overloaded,
              fmt::format("the replication slot '{}' is followed by another: pid {}{}{}; stop it, "
                          "or give this follower a slot of its own",
                          name, slot.active_pid, slot.holder.empty() ? "" : ", ", slot.holder));
}

/// What a walsender must hear from us within, and half of it for the way.
Result<Duration> server_patience(Session& session) {
  const SteadyClock clock;
  const auto answer =
      session.run("SELECT setting FROM pg_catalog.pg_settings WHERE name = 'wal_sender_timeout'",
                  {}, Deadline::after(patience, clock));
  if (!answer) return fail(answer.error());
  const std::chrono::milliseconds timeout(std::atoll(PQgetvalue(answer->get(), 0, 0)));
  constexpr std::chrono::milliseconds most(30'000);
  return timeout.count() == 0 ? Duration(most) : Duration(std::min(timeout, most));
}

/// One attempt to follow, step by step.
class Attempt {
 public:
  Attempt(const PostgresOptions& options, const PostgresTable& table,
          const PostgresFollowOptions& follow, SlotKeeper keeper)
      : options_(options), table_(table), follow_(follow), keeper_(std::move(keeper)) {}

  /// Ends what is left of our own last connection, and refuses what somebody else holds.
  Result<void> take_slot(int last_process) {
    const Deadline limit = Deadline::after(patience, clock_);
    while (true) {
      auto slot = keeper_.slot();
      if (!slot) return fail(std::move(slot).error());
      slot_ = *std::move(slot);
      if (slot_.active_pid == 0) return {};
      if (slot_.active_pid != last_process || limit.is_past(clock_.now()))
        return held(slot_, follow_.slot);
      if (auto ended = keeper_.end_process(last_process); !ended) return ended;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  Result<void> resume(const SourcePosition& position) {
    auto described = keeper_.table();
    if (!described) return fail(std::move(described).error());
    described_ = *std::move(described);
    if (const auto obstacle = described_->obstacle()) return gone(obstacle->detail);
    const std::string changed =
        identity_.difference(position.origin, follow_.slot, described_->stamp());
    if (!changed.empty()) return gone(changed);
    if (const auto fault = described_->publication_fault())
      return gone(fmt::format("the publication does not do: {}", *fault));
    if (auto kept = check_slot(position.offset); !kept) return kept;
    if (position.offset > slot_.server_end) return gone("the server's log ends before it");
    if (slot_.retained_bytes() > follow_.max_retained_bytes) {
      if (auto dropped = keeper_.drop_slot(); !dropped) return dropped;
      return gone("more of the log was kept than may be, and the slot was dropped");
    }
    from_ = position.offset;
    return {};
  }

  Result<void> begin_now() {
    auto described = keeper_.ensure_publication();
    if (!described) return fail(std::move(described).error());
    described_ = *std::move(described);
    if (auto made = keeper_.make_slot(slot_); !made) return made;
    auto slot = keeper_.slot();
    if (!slot) return fail(std::move(slot).error());
    slot_ = *std::move(slot);
    if (const auto fault = slot_.fault()) return fail(Errc::unavailable, *fault);
    from_ = slot_.confirmed_lsn;
    return {};
  }

  Result<void> identify() {
    auto identity = keeper_.identity();
    if (!identity) return fail(std::move(identity).error());
    identity_ = *std::move(identity);
    if (identity_.is_standby) {
      return fail(Errc::invalid_argument,
                  "the server is a standby, and changes are followed on the primary; give the "
                  "primary's address");
    }
    if (identity_.wal_level != "logical") {
      return fail(Errc::invalid_argument,
                  fmt::format("wal_level is '{}'; set wal_level = logical in postgresql.conf and "
                              "restart PostgreSQL",
                              identity_.wal_level));
    }
    return {};
  }

  Result<std::unique_ptr<ChangeFeed>> stream(std::shared_ptr<GivenTransactions> given,
                                             std::shared_ptr<std::atomic<bool>> is_open,
                                             int& process) {
    const Deadline deadline = Deadline::after(patience, clock_);
    auto session = Session::open(options_, Deadline::after(options_.connect_timeout, clock_),
                                 SessionKind::logical_replication);
    if (!session) return fail(std::move(session).error());
    auto stream = ReplicationStream::start(*std::move(session), start_command(), deadline);
    if (!stream) {
      if (stream.error().code == Errc::overloaded) return held(slot_, follow_.slot);
      return fail(std::move(stream).error());
    }
    process = stream->process_id();
    // From now on nobody but us moves the slot; before, somebody may have.
    auto slot = keeper_.slot();
    if (!slot) return fail(std::move(slot).error());
    slot_ = *std::move(slot);
    if (slot_.active_pid != process)
      return fail(Errc::unavailable, "the two connections do not reach the same server");
    if (auto kept = check_slot(from_); !kept) return fail(std::move(kept).error());
    if (auto confirmed = stream->confirm(from_); !confirmed)
      return fail(std::move(confirmed).error());
    auto columns = key_columns();
    if (!columns) return fail(std::move(columns).error());
    Session ordinary = keeper_.release();
    const auto patient = server_patience(ordinary);
    if (!patient) return fail(patient.error());
    const std::string heartbeat = FeedWatch::own_prefix(follow_.slot);
    auto watch = FeedWatch::start(std::move(ordinary), table_, follow_, heartbeat, deadline);
    if (!watch) return fail(std::move(watch).error());
    KeyChanges changes({described_->id(), *std::move(columns), described_->type_ids()}, heartbeat,
                       from_);
    changes.set_row_estimate(described_->row_estimate());
    const std::string stamp = described_->stamp();
    return std::unique_ptr<ChangeFeed>(
        new PostgresFeed({*std::move(stream), *std::move(watch), std::move(changes),
                          identity_.origin(follow_.slot, stamp), stamp, follow_, std::move(given),
                          *patient, std::move(is_open)}));
  }

  SlotKeeper& keeper() noexcept { return keeper_; }

 private:
  std::string start_command() const {
    return fmt::format(
        "START_REPLICATION SLOT {} LOGICAL {} (proto_version '1', publication_names '{}', "
        "messages 'true')",
        quoted_identifier(follow_.slot), PostgresLsn{from_}.text(),
        doubled(
            quoted_identifier(follow_.publication.empty() ? follow_.slot : follow_.publication)));
  }
  /// The grammar of replication commands doubles quotes and knows no backslash.
  static std::string doubled(const std::string& text) {
    std::string quoted;
    for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
    return quoted;
  }
  Result<void> check_slot(std::uint64_t from) const {
    if (const auto fault = slot_.fault()) return gone(*fault);
    if (slot_.confirmed_lsn > from)
      return gone("the replication slot has gone on beyond it, by another or a later follower");
    return {};
  }
  Result<std::vector<KeyColumn>> key_columns() {
    auto table = keeper_.key_table();
    if (!table) return fail(std::move(table).error());
    return table->columns();
  }

  const SteadyClock clock_;
  const PostgresOptions& options_;
  const PostgresTable& table_;
  const PostgresFollowOptions& follow_;
  SlotKeeper keeper_;
  ServerIdentity identity_;
  SlotState slot_;
  std::optional<FollowedTable> described_;
  std::uint64_t from_ = 0;
};

}  // namespace

Result<std::unique_ptr<PostgresFollowedSource>> PostgresFollowedSource::open(
    const PostgresOptions& options, const PostgresTable& table, const PostgresFollowOptions& follow,
    const PostgresSourceOptions& how) {
  auto source = PostgresSource::open(options, table, how);
  if (!source) return fail(std::move(source).error());
  return std::unique_ptr<PostgresFollowedSource>(
      new PostgresFollowedSource(options, table, follow, *std::move(source)));
}

PostgresFollowedSource::PostgresFollowedSource(const PostgresOptions& options,
                                               const PostgresTable& table,
                                               const PostgresFollowOptions& follow,
                                               std::unique_ptr<PostgresSource> source)
    : options_(options),
      table_(table),
      follow_(follow),
      source_(std::move(source)),
      given_(std::make_shared<GivenTransactions>()) {}

PostgresFollowedSource::~PostgresFollowedSource() = default;

void PostgresFollowedSource::load(std::string_view key, Deadline deadline,
                                  Completion<std::optional<std::string>> done) {
  source_->load(key, deadline, std::move(done));
}

Result<std::unique_ptr<Snapshot>> PostgresFollowedSource::snapshot() {
  auto how = source_->snapshot_options();
  how.shows_end_of = given_->unsettled();
  how.wait_for_ends = follow_.snapshot_wait;
  auto opened = source_->open_snapshot(how);
  if (!opened) return fail(std::move(opened).error());
  return std::unique_ptr<Snapshot>(*std::move(opened));
}

Result<std::unique_ptr<ChangeFeed>> PostgresFollowedSource::follow(
    const std::optional<SourcePosition>& position) {
  const std::lock_guard lock(mutex_);
  auto keeper = SlotKeeper::open(options_, table_, follow_);
  if (!keeper) return fail(std::move(keeper).error());
  Attempt attempt(options_, table_, follow_, *std::move(keeper));
  if (auto identified = attempt.identify(); !identified) return fail(std::move(identified).error());
  const bool is_followed_by_us = last_is_open_ != nullptr && *last_is_open_;
  if (auto taken = attempt.take_slot(is_followed_by_us ? 0 : last_process_); !taken)
    return fail(std::move(taken).error());
  auto begun = position ? attempt.resume(*position) : attempt.begin_now();
  if (!begun) return fail(std::move(begun).error());
  // What was committed before the feed begins is not given by it, and may not be visible yet.
  const auto hidden = attempt.keeper().may_have_committed();
  if (!hidden) return fail(hidden.error());
  for (const std::uint32_t id : *hidden) given_->add(id);
  last_process_ = 0;
  last_is_open_ = std::make_shared<std::atomic<bool>>(true);
  auto feed = attempt.stream(given_, last_is_open_, last_process_);
  if (!feed) *last_is_open_ = false;
  return feed;
}

Result<SourcePosition> PostgresFollowedSource::end(Deadline deadline) {
  auto keeper = SlotKeeper::open(options_, table_, follow_);
  if (!keeper) return fail(std::move(keeper).error());
  const auto identity = keeper->identity();
  if (!identity) return fail(identity.error());
  const auto described = keeper->table();
  if (!described) return fail(described.error());
  const auto end = keeper->end(deadline);
  if (!end) return fail(end.error());
  return SourcePosition{identity->origin(follow_.slot, described->stamp()), *end};
}

std::vector<Finding> PostgresFollowedSource::examine(Deadline deadline) {
  return postgres::examine(options_, table_, follow_, deadline);
}

Result<void> PostgresFollowedSource::forget() {
  const std::lock_guard lock(mutex_);
  auto keeper = SlotKeeper::open(options_, table_, follow_);
  if (!keeper) return fail(std::move(keeper).error());
  Attempt attempt(options_, table_, follow_, *std::move(keeper));
  const bool is_followed_by_us = last_is_open_ != nullptr && *last_is_open_;
  if (auto taken = attempt.take_slot(is_followed_by_us ? 0 : last_process_); !taken) return taken;
  if (auto dropped = attempt.keeper().drop_slot(); !dropped) return dropped;
  return attempt.keeper().drop_publication();
}

}  // namespace guestlist
