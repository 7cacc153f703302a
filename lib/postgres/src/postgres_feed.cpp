#include "postgres_feed.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "sql_text.hpp"

namespace guestlist::postgres {
namespace {

constexpr std::size_t most_keys = 4096;
constexpr std::size_t most_bytes = 1 << 20;

}  // namespace

PostgresFeed::PostgresFeed(Begin begin)
    : stream_(std::move(begin.stream)),
      watch_(std::move(begin.watch)),
      changes_(std::move(begin.changes)),
      origin_(std::move(begin.origin)),
      stamp_(std::move(begin.stamp)),
      options_(std::move(begin.options)),
      given_(std::move(begin.given)),
      confirm_every_(begin.server_patience / 3),
      is_open_(std::move(begin.is_open)),
      acknowledged_(changes_.position()),
      told_position_(changes_.position()),
      server_end_(changes_.position()),
      retained_from_(changes_.position()) {}

void PostgresFeed::close() noexcept {
  stream_.reset();
  watch_.reset();
  *is_open_ = false;
}

Result<void> PostgresFeed::next(Changes& changes, Deadline deadline) {
  changes_.begin(changes);
  if (!failure_) {
    if (auto given = read(changes, deadline); !given) {
      failure_ = std::move(given).error();
      close();
    }
  }
  changes_.end(changes);
  if (failure_) {
    changes.keys.clear();
    return fail(*failure_);
  }
  told_position_ = changes_.position();
  told_as_of_ = as_of_;
  changes.position.origin = origin_;
  changes.position.offset = told_position_;
  changes.as_of = as_of_;
  return {};
}

Result<void> PostgresFeed::read(Changes& changes, Deadline deadline) {
  while (true) {
    if (auto taken = take_arrived(changes); !taken) return taken;
    const TimePoint now = clock_.now();
    if (auto looked = look_after(now); !looked) return looked;
    if (is_full() || has_something(changes) || deadline.is_past(now)) return {};
    if (auto waited = wait(deadline); !waited) return waited;
  }
}

bool PostgresFeed::is_full() const {
  return changes_.keys() >= most_keys || changes_.bytes() >= most_bytes;
}

// The rest of a short transaction comes with its beginning or a moment later; without its commit
// the position stands still, and whoever waits for that would only ask again.
bool PostgresFeed::has_something(const Changes& changes) const {
  if (changes_.is_in_transaction()) return false;
  return changes_.keys() > 0 || changes.removed > 0 || changes_.position() != told_position_ ||
         as_of_ != told_as_of_;
}

Result<void> PostgresFeed::take_arrived(Changes& changes) {
  while (!is_full()) {
    auto message = stream_->try_next();
    if (!message) return fail(std::move(message).error());
    if (!*message) return {};
    if (auto taken = take(**message, changes); !taken) return taken;
  }
  return {};
}

Result<void> PostgresFeed::take(const ReplicationStream::Message& message, Changes& changes) {
  if (message.is_keepalive) {
    changes_.reach(message.lsn);
    server_end_ = std::max(server_end_, message.lsn);
    return message.wants_reply ? confirm(clock_.now()) : Result<void>();
  }
  const auto parsed = parser_.parse(message.payload);
  if (!parsed) return surprise("PostgreSQL sent what is no message of pgoutput");
  if (auto taken = changes_.take(*parsed, changes); !taken) return surprise(taken.error().detail);
  if (const auto id = changes_.transaction_with_keys(); id != 0 && id != last_given_) {
    last_given_ = id;
    given_->add(id);
  }
  if (changes_.descriptions() != descriptions_) {
    // The first one says nothing; what makes the server describe the table again may be an ALTER.
    is_alarmed_ = std::exchange(descriptions_, changes_.descriptions()) != 0;
  }
  return {};
}

Result<void> PostgresFeed::look_after(TimePoint now) {
  // An answer that is under way may be older than the alarm.
  const bool is_urgent = !watch_->is_asking() && std::exchange(is_alarmed_, false);
  auto report = watch_->step(now, is_urgent);
  if (!report) return fail(std::move(report).error());
  if (*report) {
    if (auto judged = judge(**report); !judged) return judged;
  }
  if (good_number_ != 0 && changes_.heartbeat() >= good_number_) as_of_ = good_at_;
  if (now - confirmed_at_ >= confirm_every_) return confirm(now);
  return {};
}

Result<void> PostgresFeed::judge(const FeedWatch::Report& report) {
  const FollowedTable& table = report.table;
  if (table.publication_breaks_writes()) {
    // Ours to end at once: the application's own updates are refused because of it.
    const std::string publication =
        options_.publication.empty() ? options_.slot : options_.publication;
    (void)watch_->session().run(
        fmt::format("DROP PUBLICATION IF EXISTS {}", quoted_identifier(publication)), {},
        Deadline::after(std::chrono::seconds(5), clock_));
    return surprise(
        "the table's replica identity changed, and with the publication its updates "
        "were refused; the publication was dropped");
  }
  if (const auto obstacle = table.obstacle()) return surprise(obstacle->detail);
  if (const auto fault = table.publication_fault())
    return surprise(fmt::format("the publication does not do any more: {}", *fault));
  if (table.stamp() != stamp_) {
    return surprise("the table, its partitions, its key columns or its publication were changed");
  }
  if (const auto fault = report.slot.fault()) return surprise(*fault);
  if (report.slot.retained_bytes() > options_.max_retained_bytes) {
    drop_slot();
    return surprise(
        fmt::format("PostgreSQL kept {} MiB of its log for the slot, more than the {} "
                    "MiB that it may; the slot was dropped",
                    report.slot.retained_bytes() >> 20, options_.max_retained_bytes >> 20));
  }
  server_end_ = std::max(server_end_, report.slot.server_end);
  retained_from_ = report.slot.restart_lsn;
  changes_.set_row_estimate(table.row_estimate());
  if (report.snapshot) given_->settle(*report.snapshot);
  good_number_ = report.number;
  good_at_ = report.asked_at;
  return {};
}

void PostgresFeed::drop_slot() {
  stream_.reset();
  const Deadline deadline = Deadline::after(std::chrono::seconds(5), clock_);
  // The server's process needs a moment to notice that its client is gone.
  while (!deadline.is_past(clock_.now())) {
    const auto dropped =
        watch_->session().run(fmt::format("SELECT pg_catalog.pg_drop_replication_slot({})",
                                          quoted_literal(options_.slot)),
                              {}, deadline);
    if (dropped || !dropped.error().detail.ends_with("(55006)")) return;
    (void)wait_for_socket(watch_->socket(), POLLIN,
                          Deadline::after(std::chrono::milliseconds(20), clock_));
  }
}

tl::unexpected<Error> PostgresFeed::surprise(std::string what) const {
  return fail(Errc::not_found,
              fmt::format("the changes cannot be followed on from here: {}", what));
}

Result<void> PostgresFeed::wait(Deadline deadline) {
  const TimePoint until = std::min({deadline.at, watch_->due(), confirmed_at_ + confirm_every_});
  const TimePoint now = clock_.now();
  const auto flushed = stream_->flush();
  if (!flushed) return fail(flushed.error());
  const short output = *flushed ? short{0} : short{POLLOUT};
  std::array<pollfd, 2> sockets{pollfd{stream_->socket(), static_cast<short>(POLLIN | output), 0},
                                pollfd{watch_->socket(), POLLIN, 0}};
  const auto rest =
      std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(until - now).count());
  ::poll(sockets.data(), sockets.size(),
         static_cast<int>(std::min<std::int64_t>(rest, std::numeric_limits<int>::max())));
  if ((sockets[0].revents & ~POLLOUT) != 0) return stream_->read_input();
  return {};
}

Result<void> PostgresFeed::confirm(TimePoint now) {
  confirmed_at_ = now;
  return stream_->confirm(acknowledged_);
}

Result<void> PostgresFeed::acknowledge(const SourcePosition& position) {
  if (failure_) return fail(*failure_);
  // Never more than was given: what is confirmed does not come again.
  const std::uint64_t reached = std::min(position.offset, told_position_);
  if (position.origin != origin_ || reached <= acknowledged_) return {};
  acknowledged_ = reached;
  auto confirmed = confirm(clock_.now());
  if (!confirmed) {
    failure_ = confirmed.error();
    close();
  }
  return confirmed;
}

FeedLag PostgresFeed::lag() const {
  const auto before_end = [&](std::uint64_t lsn) {
    return server_end_ > lsn ? server_end_ - lsn : 0;
  };
  return {before_end(std::min(acknowledged_, retained_from_)), before_end(changes_.position())};
}

}  // namespace guestlist::postgres
