#pragma once

// One connection that a thread waits for, with a deadline on every wait: libpq's own blocking calls
// have none, and a server that hangs would hold their caller for ever.
//
// A session that failed to keep a deadline is in the midst of an answer and is closed: nothing else
// may be asked of it. Distinct objects: safe. Shared objects: one thread at a time.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libpq.hpp"
#include "session_parameters.hpp"

namespace guestlist::postgres {

class Session {
 public:
  /// Errors: `invalid_argument` (the address), `unavailable`, `deadline_exceeded`.
  static Result<Session> open(const PostgresOptions& options, Deadline deadline,
                              SessionKind kind = SessionKind::ordinary);

  /// The result of the last statement. Without values the text may hold several, in one implicit
  /// transaction. Errors: the first failure; `deadline_exceeded`.
  Result<ResultPointer> run(const std::string& sql,
                            const std::vector<std::optional<std::string>>& values,
                            Deadline deadline);

  /// Begins `COPY … TO STDOUT`.
  Result<void> begin_copy(const std::string& sql, Deadline deadline);
  /// Begins `START_REPLICATION`; `release` the session after it.
  Result<void> begin_both_ways(const std::string& command, Deadline deadline);
  /// The next line, valid until the next call; nothing at the end, which is reached only where the
  /// server has said so and `lines_read` are what it says it has sent.
  Result<std::optional<std::string_view>> next_copy_line(Deadline deadline);

  /// Sends statements without waiting for their result. Requires: what was sent before has its
  /// result.
  Result<void> send(const std::string& sql);
  /// The result of what was sent, as that of `run`; nothing where it is not there yet. Never waits.
  Result<std::optional<ResultPointer>> try_result();
  /// For poll; -1 where it is closed.
  int socket() const noexcept { return is_open() ? PQsocket(connection_.get()) : -1; }

  bool is_open() const noexcept { return connection_ != nullptr; }
  /// Of the server's process.
  int process_id() const noexcept { return is_open() ? PQbackendPID(connection_.get()) : 0; }
  /// Of the server: 150004.
  int server_version() const noexcept { return is_open() ? PQserverVersion(connection_.get()) : 0; }
  /// Leaves the connection to whoever knows another protocol on it.
  ConnectionPointer release() noexcept { return std::move(connection_); }

 private:
  struct FreeMemory {
    void operator()(char* memory) const noexcept { PQfreemem(memory); }
  };
  explicit Session(ConnectionPointer connection) noexcept : connection_(std::move(connection)) {}
  Result<void> begin(const std::string& sql, ExecStatusType expected, Deadline deadline);
  Result<void> flush(Deadline deadline);
  Result<void> wait_for_input(Deadline deadline);
  Result<ResultPointer> next_result(Deadline deadline);
  Result<ResultPointer> last_result(Deadline deadline);
  Result<void> finish_copy(Deadline deadline);
  tl::unexpected<Error> close(Error why);

  ConnectionPointer connection_;
  /// Of what `send` sent.
  ResultPointer pending_;
  std::unique_ptr<char, FreeMemory> line_;
  std::uint64_t lines_read_ = 0;
};

}  // namespace guestlist::postgres
