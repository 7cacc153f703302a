#include "feed_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "sql_text.hpp"

namespace guestlist::postgres {
namespace {

// A catalog that takes longer to read is not read more often than for this part of the time.
constexpr int least_rest = 50;
constexpr Duration longest_rest = std::chrono::seconds(10);
constexpr Duration patience = std::chrono::seconds(10);

}  // namespace

std::string FeedWatch::own_prefix(const std::string& slot) {
  std::random_device random;
  return fmt::format("{}/{:08x}{:08x}", prefix(slot), random(), random());
}

std::string FeedWatch::note(const std::string& prefix, const std::string& content,
                            int server_version) {
  // A note outside of any transaction costs no transaction id. Before 17 it is written out by the
  // WAL writer, which the end of the statement wakes; since then at once where asked for.
  constexpr int first_with_flush = 170'000;
  return fmt::format("pg_catalog.pg_logical_emit_message(false, {}, {}{})", quoted_literal(prefix),
                     content, server_version >= first_with_flush ? ", true" : "");
}

Result<FeedWatch> FeedWatch::start(Session session, const PostgresTable& table,
                                   const PostgresFollowOptions& options, const std::string& prefix,
                                   Deadline deadline) {
  const std::string sql = fmt::format(
      "PREPARE guestlist_watch(text) AS SELECT f.*, s.*, pg_catalog.pg_current_snapshot(), {}, "
      "(extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint "
      "FROM ({}) AS f CROSS JOIN ({}) AS s",
      note(prefix, "$1", session.server_version()), FollowedTable::query(table, options),
      SlotState::query(options.slot));
  const auto prepared = session.run(sql, {}, deadline);
  if (!prepared) return fail(prepared.error());
  return FeedWatch(std::move(session), table, options);
}

Result<std::optional<FeedWatch::Report>> FeedWatch::step(TimePoint now, bool is_urgent) {
  if (!asked_) {
    if (now < next_at_ && !is_urgent) return std::optional<Report>();
    asked_at_ = now;
    ++number_;
    auto sent = session_.send(fmt::format("EXECUTE guestlist_watch('{}')", number_));
    if (!sent) return fail(std::move(sent).error());
    asked_ = true;
    late_at_ = now + patience;
  }
  auto answer = session_.try_result();
  if (!answer) return fail(std::move(answer).error());
  if (!*answer) {
    if (now < late_at_) return std::optional<Report>();
    return fail(Errc::unavailable, "PostgreSQL does not answer questions about its catalog");
  }
  asked_ = false;
  const PGresult* const result = (**answer).get();
  const int after_table = FollowedTable::columns();
  const int after_slot = after_table + SlotState::columns;
  const std::chrono::microseconds took(std::atoll(PQgetvalue(result, 0, after_slot + 2)));
  next_at_ =
      asked_at_ + std::max(options_.heartbeat, std::min<Duration>(least_rest * took, longest_rest));
  return Report{number_, asked_at_, FollowedTable::read(result, table_, options_),
                SlotState::read(result, after_table),
                TransactionSnapshot::parse(PQgetvalue(result, 0, after_slot))};
}

}  // namespace guestlist::postgres
