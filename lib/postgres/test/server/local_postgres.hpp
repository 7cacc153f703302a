#pragma once

// A real PostgreSQL on a free port of 127.0.0.1 for one suite of tests, as a cluster of its own.

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "guestlist/postgres/postgres_connection.hpp"
#include "guestlist/servers/child_process.hpp"
#include "guestlist/servers/free_port.hpp"
#include "guestlist/servers/program.hpp"
#include "guestlist/servers/required.hpp"
#include "guestlist/servers/temporary_folder.hpp"

namespace guestlist::test {

using namespace std::chrono_literals;

class LocalPostgres {
 public:
  LocalPostgres()
      : folder_(servers::required(servers::TemporaryFolder::create("postgres"))),
        port_(servers::required(servers::free_port())) {
    if (const passwd* const owner = ::geteuid() == 0 ? ::getpwnam("postgres") : nullptr) {
      user_ = owner->pw_uid;
      std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
    }
    servers::required(servers::run_program(
        {.command = {servers::required(servers::find_program(servers::Program::initdb)), "-D",
                     data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                     "-N"},
         .folder = folder_.path().string(),
         .user = user_},
        60s));
    // The role `guest` needs its password; all others are trusted.
    std::ofstream(folder_.file("data/pg_hba.conf"))
        << "host all guest 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n";
    start();
  }
  ~LocalPostgres() { kill(); }

  void start() {
    process_ = servers::required(servers::ChildProcess::start(
        {.command = {servers::required(servers::find_program(servers::Program::postgres)), "-D",
                     data(), "-p", std::to_string(port_), "-c", "listen_addresses=127.0.0.1", "-c",
                     "unix_socket_directories=", "-c", "fsync=off", "-c", "wal_level=logical", "-c",
                     "max_prepared_transactions=5"},
         .folder = folder_.path().string(),
         .log = folder_.file("log"),
         .user = user_}));
    const SteadyClock clock;
    const Deadline limit = Deadline::after(20s, clock);
    while (true) {
      const auto open = PostgresConnection::open(options(), limit);
      if (open) return;
      if (limit.is_past(clock.now())) servers::required(Result<void>(fail(open.error())));
      std::this_thread::sleep_for(10ms);
    }
  }
  void kill() { process_.kill(); }

  std::uint16_t port() const { return port_; }
  PostgresOptions options() const { return options(port_); }
  static PostgresOptions options(std::uint16_t port) {
    return {.address = fmt::format("host=127.0.0.1 port={} user=postgres dbname=postgres", port)};
  }
  PostgresConnection connect() const {
    return servers::required(
        PostgresConnection::open(options(), Deadline::after(10s, SteadyClock())));
  }
  void execute(const std::string& sql) const {
    servers::required(connect().execute(sql, Deadline::after(60s, SteadyClock())));
  }

 private:
  std::string data() const { return folder_.file("data"); }

  servers::TemporaryFolder folder_;
  std::uint16_t port_;
  std::optional<uid_t> user_;
  servers::ChildProcess process_;
};

}  // namespace guestlist::test
