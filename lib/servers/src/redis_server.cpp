#include "guestlist/servers/redis_server.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "guestlist/base/file.hpp"
#include "guestlist/servers/free_port.hpp"
#include "guestlist/servers/program.hpp"
#include "log_tail.hpp"

namespace guestlist::servers {
namespace {

using namespace std::chrono_literals;

constexpr Duration start_limit = 20s;
constexpr std::string_view fixture_name = "fixture";

}  // namespace

RedisServer::RedisServer(RedisOptions options, TemporaryFolder folder)
    : options_(std::move(options)),
      folder_(std::move(folder)),
      unix_socket_(folder_.file("redis.sock")),
      client_(unix_socket_, std::string(fixture_name), std::string(fixture_name)) {}

Result<RedisServer> RedisServer::start(RedisOptions options) {
  const auto program = find_program(
      options.flavour == RedisFlavour::redis ? Program::redis_server : Program::valkey_server);
  if (!program) return fail(program.error());
  auto folder = TemporaryFolder::create("redis");
  if (!folder) return fail(std::move(folder).error());
  RedisServer server(std::move(options), *std::move(folder));
  server.program_ = *program;
  if (server.options_.tls) {
    auto certificates = TestCertificates::create();
    if (!certificates) return fail(std::move(certificates).error());
    server.certificates_ = *std::move(certificates);
  }

  // Somebody else may take the port between its choice and the server's start.
  constexpr int attempts = 5;
  for (int attempt = 1;; ++attempt) {
    const auto port = free_port();
    const auto bus_port = free_port();
    if (!port || !bus_port) return fail(port ? bus_port.error() : port.error());
    server.port_ = *port;
    server.cluster_bus_port_ = *bus_port;
    auto ready = server.launch();
    if (ready) return server;
    const bool port_was_taken =
        ready.error().detail.find("Address already in use") != std::string::npos;
    if (!port_was_taken || attempt == attempts) return fail(std::move(ready).error());
  }
}

std::string RedisServer::info(std::string_view field) {
  return field_of(command({"INFO", "everything"}).text, field);
}

Result<void> RedisServer::restart(RedisData data) {
  if (data == RedisData::kept && process_.is_running() && !options_.appendonly) {
    if (const RedisReply saved = command({"SAVE"}); saved.is_error()) {
      return fail(Errc::unavailable, "the server did not save its data: " + saved.text);
    }
  }
  kill();
  client_.disconnect();
  if (data == RedisData::empty) {
    std::error_code ignored;
    std::filesystem::remove(folder_.file("dump.rdb"), ignored);
    std::filesystem::remove_all(folder_.file("appendonlydir"), ignored);
  }
  return launch();
}

Result<void> RedisServer::launch() {
  if (auto written = write_configuration(); !written) return written;
  ChildOptions child;
  child.command = {program_, folder_.file("redis.conf")};
  if (options_.sentinel) child.command.emplace_back("--sentinel");
  child.folder = folder_.path().string();
  child.log = folder_.file("log");
  auto process = ChildProcess::start(child);
  if (!process) return fail(std::move(process).error());
  process_ = *std::move(process);
  return wait_until_ready();
}

Result<void> RedisServer::wait_until_ready() {
  const auto end = std::chrono::steady_clock::now() + start_limit;
  RedisReply reply;
  while ((reply = client_.command({"PING"})).is_error()) {
    const bool running = process_.is_running();
    if (!running || std::chrono::steady_clock::now() > end) {
      return fail(Errc::unavailable,
                  fmt::format("{} {}: {}", program_, running ? "does not answer" : "did not start",
                              log_tail(folder_.file("log"))));
    }
    std::this_thread::sleep_for(1ms);
  }
  return {};
}

Result<void> RedisServer::write_configuration() const {
  std::string text = fmt::format(
      "bind 127.0.0.1\n"
      "protected-mode no\n"
      "unixsocket {}\n"
      "dir {}\n"
      "databases {}\n"
      "save \"\"\n"
      "appendonly {}\n"
      "enable-debug-command yes\n"
      "repl-diskless-sync-delay 0\n"
      "repl-ping-replica-period 1\n"
      "user {} on >{} ~* &* +@all\n"
      "masteruser {}\n"
      "masterauth {}\n",
      unix_socket_, folder_.path().string(), options_.databases, options_.appendonly ? "yes" : "no",
      fixture_name, fixture_name, fixture_name, fixture_name);
  const auto line = [&text](const auto&... words) {
    ((text += fmt::format("{} ", words)), ...);
    text += '\n';
  };
  if (options_.tls) {
    line("port 0");
    line("tls-port", port_);
    line("tls-ca-cert-file", certificates_->authority());
    line("tls-cert-file", certificates_->server_certificate());
    line("tls-key-file", certificates_->server_key());
    line("tls-auth-clients", options_.tls_client_certificate ? "yes" : "no");
  } else {
    line("port", port_);
  }
  if (options_.cluster) {
    line("cluster-enabled yes");
    line("cluster-port", cluster_bus_port_);
  }
  // With `everysec`, a write waits while the disk is slow, and a kill loses what was answered.
  if (options_.appendonly) line("appendfsync no");
  if (!options_.password.empty()) line("requirepass", options_.password);
  for (const std::string& user : options_.users) line("user", user);
  if (!options_.maxmemory.empty()) line("maxmemory", options_.maxmemory);
  if (!options_.maxmemory_policy.empty()) line("maxmemory-policy", options_.maxmemory_policy);
  for (const std::string& setting : options_.settings) line(setting);
  return write_file(folder_.file("redis.conf"), as_bytes(text));
}

}  // namespace guestlist::servers
