#pragma once

// A real PostgreSQL on a free port of 127.0.0.1, with a new and empty database in a folder of its
// own, for as long as the object lives. PostgreSQL refuses to run as root: started by root, it runs
// as `nobody`, who must be able to reach its programs.
//
// Data survive `kill`, which is a crash of the server and not of the machine: nothing waits for
// disks.
//
// Cost: about 1 s to start, most of it initdb; 0.1 s to restart.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/servers/child_process.hpp"
#include "guestlist/servers/temporary_folder.hpp"

struct pg_conn;

namespace guestlist::servers {

struct PostgresOptions {
  /// Of `user`, asked for at the port; empty for none.
  std::string password = {};
  /// `wal_level = logical`, with room for ten slots.
  bool logical_replication = false;
  /// Further lines of postgresql.conf: `max_slot_wal_keep_size = '64MB'`.
  std::vector<std::string> settings = {};
};

/// What a statement came to, for tests that compare texts:
/// `EXPECT_EQ("2", server.query("SELECT 1 + 1").text())`.
struct PostgresReply {
  /// The server's words, or those of the lost connection; empty where all went well.
  std::string error;
  /// Nothing where the value is NULL.
  std::vector<std::vector<std::optional<std::string>>> rows;

  bool is_error() const noexcept { return !error.empty(); }
  /// The error, else the first value of the first row; empty where there is none.
  std::string text() const;
};

/// Distinct objects: safe. Shared objects: one thread at a time.
class PostgresServer {
 public:
  static constexpr const char* user = "guestlist";
  static constexpr const char* database = "postgres";

  /// Returns once the server accepts connections. Errors: `not_found` where a program is missing,
  /// with what to install; `unavailable` with the end of the server's log.
  static Result<PostgresServer> start(PostgresOptions options = {});
  /// A standby that replays the log of `primary` as it comes, under `name` for
  /// `synchronous_standby_names`. `SELECT pg_promote()` makes it a server of its own. Requires:
  /// `logical_replication` of the primary. Errors: as `start`.
  static Result<PostgresServer> start_standby(PostgresServer& primary, const std::string& name);

  PostgresServer(PostgresServer&& other) noexcept;
  PostgresServer& operator=(PostgresServer&& other) noexcept;
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  /// As `kill`.
  ~PostgresServer();

  std::uint16_t port() const noexcept { return port_; }
  /// As libpq takes it; the same through a gate with the gate's port.
  std::string connection_string() const { return connection_string(port_); }
  std::string connection_string(std::uint16_t port) const;
  /// The server's folder: `data`, `log` and its UNIX socket.
  const TemporaryFolder& folder() const noexcept { return folder_; }
  bool is_running() { return process_.is_running(); }

  /// Statements of the test's own, by the UNIX socket; of several the last one's rows. Waits for as
  /// long as it takes.
  PostgresReply query(const std::string& statements);

  /// A crash: every session ends at once, and the next start recovers from the log.
  void kill();
  /// Starts again on the same port; a server that still runs is shut down in order first. Errors:
  /// as `start`.
  Result<void> restart();

 private:
  struct Finish {
    void operator()(pg_conn* connection) const noexcept;
  };

  PostgresServer(PostgresOptions options, TemporaryFolder folder);
  Result<void> initialise(const std::string& initdb);
  Result<void> configure() const;
  Result<void> copy(const PostgresServer& primary, const std::string& program);
  Result<void> launch_on_free_port();
  Result<void> launch();
  std::string own_connection_string() const;

  PostgresOptions options_;
  TemporaryFolder folder_;
  std::optional<uid_t> owner_;
  std::string program_;
  std::uint16_t port_ = 0;
  ChildProcess process_;
  std::unique_ptr<pg_conn, Finish> connection_;
};

}  // namespace guestlist::servers
