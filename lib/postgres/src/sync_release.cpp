#include "sync_release.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <utility>

#include "guestlist/postgres/postgres_lsn.hpp"

namespace guestlist::postgres {
namespace {

// How soon it notices that it is to end.
constexpr Duration look_every = std::chrono::milliseconds(20);

}  // namespace

SyncRelease::SyncRelease(const PostgresOptions& options)
    : options_(options), thread_([this] {
        if (auto ended = run(); !ended) {
          const std::lock_guard lock(mutex_);
          failure_ = std::move(ended).error();
        }
      }) {}

SyncRelease::~SyncRelease() {
  is_ending_ = true;
  thread_.join();
}

std::optional<Error> SyncRelease::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Result<ReplicationStream> SyncRelease::start(const PostgresOptions& options, std::uint64_t& seen) {
  const SteadyClock clock;
  const Deadline deadline = Deadline::after(options.connect_timeout, clock);
  auto session = Session::open(options, deadline, SessionKind::physical_replication);
  if (!session) return fail(std::move(session).error());
  const auto identified = session->run("IDENTIFY_SYSTEM", {}, deadline);
  if (!identified) return fail(identified.error());
  const std::string end = PQgetvalue(identified->get(), 0, 2);
  auto stream = ReplicationStream::start(
      *std::move(session), fmt::format("START_REPLICATION PHYSICAL {}", end), deadline);
  if (!stream) return stream;
  const auto lsn = PostgresLsn::parse(end);
  if (!lsn) return fail(Errc::corrupt, "PostgreSQL names the end of its log in an unknown way");
  seen = lsn->value;
  return stream;
}

Result<void> SyncRelease::run() {
  std::uint64_t seen = 0;
  auto stream = start(options_, seen);
  if (!stream) return fail(std::move(stream).error());
  const SteadyClock clock;
  while (!is_ending_) {
    while (true) {
      auto message = stream->try_next();
      if (!message) return fail(std::move(message).error());
      if (!*message) break;
      seen = (**message).lsn + (**message).payload.size();
    }
    // Also where nothing came: until its sender counts as streaming, the server lets nobody go, and
    // it looks again only when it is told again.
    if (auto confirmed = stream->confirm(seen); !confirmed) return confirmed;
    if (wait_for_socket(stream->socket(), POLLIN, Deadline::after(look_every, clock))) {
      if (auto read = stream->read_input(); !read) return read;
    }
  }
  return {};
}

}  // namespace guestlist::postgres
