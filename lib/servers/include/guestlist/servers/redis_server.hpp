#pragma once

// A real Redis or Valkey on a free port of 127.0.0.1, with its own folder, for as long as the
// object lives. Beside the port it listens on a UNIX socket in its folder. The fixture's own
// commands go there, as the user `fixture` who may do everything: they need no password, no TLS and
// no healthy network, and they reach a server that the code under test cannot.
//
// Cost: about 15 ms to start, 10 MiB of memory.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/servers/child_process.hpp"
#include "guestlist/servers/redis_client.hpp"
#include "guestlist/servers/temporary_folder.hpp"
#include "guestlist/servers/test_certificates.hpp"

namespace guestlist::servers {

enum class RedisFlavour { redis, valkey };

struct RedisOptions {
  RedisFlavour flavour = RedisFlavour::redis;
  /// Of the user `default`; empty for none.
  std::string password = {};
  /// Users and their rights, as ACL SETUSER takes them: `reader on >secret ~filter:* +@read`.
  std::vector<std::string> users = {};
  /// As in redis.conf: `64mb`, and `allkeys-lru`; empty for no limit.
  std::string maxmemory = {};
  std::string maxmemory_policy = {};
  /// Keeps every write on disk, so that it is there after `kill` and `restart(RedisData::kept)`.
  bool appendonly = false;
  int databases = 16;
  /// The port speaks TLS and nothing else.
  bool tls = false;
  /// The server asks its clients for a certificate of the same authority. Requires: `tls`.
  bool tls_client_certificate = false;
  /// A node of a cluster, which RedisCluster forms.
  bool cluster = false;
  /// A sentinel, as RedisSentinels starts them.
  bool sentinel = false;
  /// Further lines of redis.conf.
  std::vector<std::string> settings = {};
};

enum class RedisData { kept, empty };

/// Distinct objects: safe. Shared objects: one thread at a time.
class RedisServer {
 public:
  /// Returns once the server answers PING. Errors: `not_found` where the program is missing, with
  /// what to install; `unavailable` with the end of the server's log.
  static Result<RedisServer> start(RedisOptions options = {});

  std::uint16_t port() const noexcept { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// Where nodes of a cluster speak to each other. Requires: `cluster` was asked for.
  std::uint16_t cluster_bus_port() const noexcept { return cluster_bus_port_; }
  /// Requires: `tls` was asked for.
  const TestCertificates& certificates() const { return *certificates_; }
  const std::string& unix_socket() const noexcept { return unix_socket_; }
  /// The server's folder: `redis.conf`, `log`, and its data.
  const TemporaryFolder& folder() const noexcept { return folder_; }
  pid_t pid() const noexcept { return process_.pid(); }
  bool is_running() { return process_.is_running(); }

  /// Sends a command of the test's own. Waits 5 s at most.
  RedisReply command(const std::vector<std::string>& arguments) {
    return client_.command(arguments);
  }
  /// A value of INFO.
  std::string info(std::string_view field);

  /// SIGKILL: what is not on disk is lost.
  void kill() { process_.kill(); }
  /// SIGSTOP: connections stay open and nothing is answered.
  void stop() { process_.stop(); }
  /// SIGCONT.
  void resume() { process_.resume(); }
  /// Starts again on the same port. `kept`: a server that still runs saves its data first; of one
  /// that was killed, only what was on disk is there. Errors: as `start`.
  Result<void> restart(RedisData data = RedisData::kept);

 private:
  RedisServer(RedisOptions options, TemporaryFolder folder);
  Result<void> launch();
  Result<void> wait_until_ready();
  Result<void> write_configuration() const;

  RedisOptions options_;
  TemporaryFolder folder_;
  std::optional<TestCertificates> certificates_;
  std::string program_;
  std::string unix_socket_;
  std::uint16_t port_ = 0;
  std::uint16_t cluster_bus_port_ = 0;
  RedisClient client_;
  ChildProcess process_;
};

}  // namespace guestlist::servers
