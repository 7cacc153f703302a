#include "guestlist/servers/postgres_server.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>

#include "guestlist/servers/free_port.hpp"
#include "guestlist/servers/program.hpp"
#include "log_tail.hpp"
#include "wait_until.hpp"

namespace guestlist::servers {
namespace {

using namespace std::chrono_literals;

constexpr Duration initdb_limit = 60s;
constexpr Duration start_limit = 60s;
constexpr Duration shutdown_limit = 20s;

struct Clear {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};

/// Who the server runs as: nobody else than the caller, but for root.
std::optional<uid_t> server_owner() {
  if (::geteuid() != 0) return std::nullopt;
  const passwd* nobody = ::getpwnam("nobody");
  constexpr uid_t customary = 65'534;
  return nobody == nullptr ? customary : nobody->pw_uid;
}

/// In place, so that the file stays its owner's.
Result<void> overwrite(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text << std::flush;
  if (!file) return fail(errno_error(Errc::unwritable, path));
  return {};
}

std::string without_line_end(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

std::string PostgresReply::text() const {
  if (is_error()) return error;
  return rows.empty() || rows.front().empty() ? "" : rows.front().front().value_or("");
}

void PostgresServer::Finish::operator()(pg_conn* connection) const noexcept {
  PQfinish(connection);
}

PostgresServer::PostgresServer(PostgresOptions options, TemporaryFolder folder)
    : options_(std::move(options)), folder_(std::move(folder)), owner_(server_owner()) {}
PostgresServer::PostgresServer(PostgresServer&& other) noexcept = default;
PostgresServer& PostgresServer::operator=(PostgresServer&& other) noexcept = default;
PostgresServer::~PostgresServer() {
  kill();
}

Result<PostgresServer> PostgresServer::start(PostgresOptions options) {
  const auto postgres = find_program(Program::postgres);
  const auto initdb = find_program(Program::initdb);
  if (!postgres || !initdb) return fail(postgres ? initdb.error() : postgres.error());
  auto folder = TemporaryFolder::create("postgres");
  if (!folder) return fail(std::move(folder).error());
  PostgresServer server(std::move(options), *std::move(folder));
  server.program_ = *postgres;
  if (auto made = server.initialise(*initdb); !made) return fail(std::move(made).error());

  if (auto launched = server.launch_on_free_port(); !launched)
    return fail(std::move(launched).error());
  return server;
}

Result<PostgresServer> PostgresServer::start_standby(PostgresServer& primary,
                                                     const std::string& name) {
  auto folder = TemporaryFolder::create("postgres");
  if (!folder) return fail(std::move(folder).error());
  PostgresOptions options = primary.options_;
  options.settings.push_back(fmt::format("primary_conninfo = '{} application_name={}'",
                                         primary.own_connection_string(), name));
  PostgresServer server(std::move(options), *std::move(folder));
  server.program_ = primary.program_;
  const auto program = std::filesystem::path(primary.program_).replace_filename("pg_basebackup");
  if (auto made = server.copy(primary, program.string()); !made)
    return fail(std::move(made).error());
  if (auto launched = server.launch_on_free_port(); !launched)
    return fail(std::move(launched).error());
  return server;
}

Result<void> PostgresServer::launch_on_free_port() {
  // Somebody else may take the port between its choice and the server's start.
  constexpr int attempts = 5;
  for (int attempt = 1;; ++attempt) {
    const auto port = free_port();
    if (!port) return fail(port.error());
    port_ = *port;
    auto ready = launch();
    if (ready) return {};
    const bool port_was_taken =
        ready.error().detail.find("Address already in use") != std::string::npos;
    if (!port_was_taken || attempt == attempts) return ready;
  }
}

Result<void> PostgresServer::copy(const PostgresServer& primary, const std::string& program) {
  const std::string home = folder_.path().string();
  if (owner_ && ::chown(home.c_str(), *owner_, static_cast<gid_t>(*owner_)) != 0) {
    return fail(errno_error(Errc::unwritable, home + " cannot be given to the user nobody"));
  }
  ChildOptions options;
  options.folder = home;
  options.user = owner_;
  options.command = {program, "--pgdata=" + folder_.file("data"),
                     "--dbname=" + primary.own_connection_string(), "--checkpoint=fast",
                     "--no-sync"};
  auto made = run_program(std::move(options), initdb_limit);
  if (!made) return fail(std::move(made).error());
  if (auto signal = overwrite(folder_.file("data/standby.signal"), ""); !signal) return signal;
  return configure();
}

Result<void> PostgresServer::initialise(const std::string& initdb) {
  const std::string home = folder_.path().string();
  if (owner_ && ::chown(home.c_str(), *owner_, static_cast<gid_t>(*owner_)) != 0) {
    return fail(errno_error(Errc::unwritable, home + " cannot be given to the user nobody"));
  }
  ChildOptions options;
  options.folder = home;
  options.user = owner_;
  options.command = {initdb,       "--pgdata=" + folder_.file("data"),
                     "--username", user,
                     "--auth",     "trust",
                     "--encoding", "UTF8",
                     "--locale",   "C.UTF-8",
                     "--no-sync",  "--no-instructions"};
  auto made = run_program(std::move(options), initdb_limit);
  if (!made) return fail(std::move(made).error());
  return configure();
}

Result<void> PostgresServer::configure() const {
  std::string text = fmt::format(
      "listen_addresses = '127.0.0.1'\n"
      "unix_socket_directories = '{}'\n"
      "fsync = off\n"
      "full_page_writes = off\n"
      "shared_buffers = '16MB'\n"
      "jit = off\n",
      folder_.path().string());
  if (options_.logical_replication) {
    text += "wal_level = logical\nmax_wal_senders = 10\nmax_replication_slots = 10\n";
  }
  for (const std::string& setting : options_.settings) text += setting + "\n";
  if (auto written = overwrite(folder_.file("data/postgresql.conf"), text); !written) {
    return written;
  }
  const std::string method = options_.password.empty() ? "trust" : "scram-sha-256";
  const std::string access = fmt::format(
      "local all all trust\n"
      "local replication all trust\n"
      "host all all 127.0.0.1/32 {0}\n"
      "host replication all 127.0.0.1/32 {0}\n",
      method);
  return overwrite(folder_.file("data/pg_hba.conf"), access);
}

Result<void> PostgresServer::launch() {
  ChildOptions options;
  options.folder = folder_.path().string();
  options.log = folder_.file("log");
  options.user = owner_;
  options.command = {program_, "-D", folder_.file("data"), "-p", std::to_string(port_)};
  auto process = ChildProcess::start(options);
  if (!process) return fail(std::move(process).error());
  process_ = *std::move(process);
  const std::string own = own_connection_string();
  const auto ready = wait_until(start_limit, "PostgreSQL to accept connections", [&] {
    return !process_.is_running() || PQping(own.c_str()) == PQPING_OK;
  });
  if (!ready || !process_.is_running()) {
    return fail(Errc::unavailable,
                fmt::format("{} {}: {}", program_, ready ? "did not start" : "does not answer",
                            log_tail(folder_.file("log"))));
  }
  if (options_.password.empty()) return {};
  // A standby has it from its primary.
  if (query("SELECT pg_is_in_recovery()").text() == "t") return {};
  const PostgresReply changed =
      query(fmt::format("ALTER ROLE {} PASSWORD '{}'", user, options_.password));
  if (changed.is_error()) return fail(Errc::unavailable, changed.error);
  return {};
}

std::string PostgresServer::connection_string(std::uint16_t port) const {
  std::string text = fmt::format("host=127.0.0.1 port={} user={} dbname={}", port, user, database);
  if (!options_.password.empty()) text += " password='" + options_.password + "'";
  return text;
}

std::string PostgresServer::own_connection_string() const {
  return fmt::format("host={} port={} user={} dbname={}", folder_.path().string(), port_, user,
                     database);
}

PostgresReply PostgresServer::query(const std::string& statements) {
  if (!connection_) connection_.reset(PQconnectdb(own_connection_string().c_str()));
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    PostgresReply refused{without_line_end(PQerrorMessage(connection_.get())), {}};
    connection_.reset();
    return refused;
  }
  const std::unique_ptr<PGresult, Clear> result(PQexec(connection_.get(), statements.c_str()));
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    PostgresReply failed{without_line_end(PQerrorMessage(connection_.get())), {}};
    if (PQstatus(connection_.get()) != CONNECTION_OK) connection_.reset();
    return failed;
  }
  PostgresReply reply;
  for (int row = 0; row < PQntuples(result.get()); ++row) {
    auto& values = reply.rows.emplace_back();
    for (int column = 0; column < PQnfields(result.get()); ++column) {
      values.emplace_back();
      if (PQgetisnull(result.get(), row, column) != 0) continue;
      values.back().emplace(PQgetvalue(result.get(), row, column),
                            static_cast<std::size_t>(PQgetlength(result.get(), row, column)));
    }
  }
  return reply;
}

void PostgresServer::kill() {
  connection_.reset();
  if (!process_.is_running()) return;
  // SIGKILL would leave the sessions to find out by themselves, with the memory they share.
  process_.signal(SIGQUIT);
  if (!process_.wait(shutdown_limit)) process_.kill();
}

Result<void> PostgresServer::restart() {
  connection_.reset();
  if (process_.is_running()) {
    process_.signal(SIGINT);
    if (!process_.wait(shutdown_limit)) kill();
  }
  return launch();
}

}  // namespace guestlist::servers
