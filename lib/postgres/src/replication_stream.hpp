#pragma once

// The server's log as a walsender sends it: a connection in COPY both ways, messages in, positions
// out. What the payload means is somebody else's.
//
// No call waits but `start`. TCP_NODELAY is libpq's own setting: a position that is acknowledged
// goes out at once, and a commit may hang on it.
//
// Distinct objects: safe. Shared objects: one thread at a time. Source: PostgreSQL 15, "Streaming
// Replication Protocol".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "session.hpp"

namespace guestlist::postgres {

class ReplicationStream {
 public:
  /// One message of the server. The payload lives until the next call.
  struct Message {
    bool is_keepalive = false;
    bool wants_reply = false;
    /// Of data where it begins; of a keepalive, what the server has looked at and sent.
    std::uint64_t lsn = 0;
    std::string_view payload = {};
  };

  /// Runs `START_REPLICATION …` on a session that is one of replication. Errors: `not_found` where
  /// slot or log are gone, `overloaded` where another consumer has the slot.
  static Result<ReplicationStream> start(Session session, const std::string& command,
                                         Deadline deadline);

  /// What has arrived; nothing where nothing has. Errors: `unavailable`; `not_found` where the
  /// server says that it cannot go on.
  Result<std::optional<Message>> try_next();
  /// Reads from the socket. Call it when the socket is ready.
  Result<void> read_input();
  /// Says that everything before `lsn` has arrived, is durable and is applied.
  Result<void> confirm(std::uint64_t lsn);
  /// Sends on what the socket did not take. True where nothing is left.
  Result<bool> flush();

  int socket() const noexcept { return PQsocket(connection_.get()); }
  int process_id() const noexcept { return PQbackendPID(connection_.get()); }

 private:
  struct FreeMemory {
    void operator()(char* memory) const noexcept { PQfreemem(memory); }
  };
  explicit ReplicationStream(ConnectionPointer connection) noexcept
      : connection_(std::move(connection)) {}
  Error ended();

  ConnectionPointer connection_;
  std::unique_ptr<char, FreeMemory> line_;
};

/// Errors of a server that will not stream: by their SQLSTATE, with what to do.
Error replication_error(Error error);

}  // namespace guestlist::postgres
