#pragma once

// A real nginx or HAProxy, run on a configuration as people would, in a folder of its own.
//
// Distinct objects: safe. Shared objects: one thread at a time.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/servers/child_process.hpp"
#include "guestlist/servers/temporary_folder.hpp"

namespace guestlist::servers {

enum class ProxyKind : std::uint8_t { nginx, haproxy };

struct ProxyOptions {
  ProxyKind kind = ProxyKind::nginx;
  /// Files by name; the first is the configuration. That of nginx is what stands in `http {}`.
  std::vector<std::pair<std::string, std::string>> files = {};
  /// Where the configuration listens; the server is ready once it accepts there.
  std::uint16_t port = 0;
};

class ProxyServer {
 public:
  /// Errors: `not_found` where the program is not installed; `unavailable`, with what it printed.
  static Result<ProxyServer> start(const ProxyOptions& options);

  std::uint16_t port() const noexcept { return port_; }
  std::string log() const;
  ChildProcess& process() noexcept { return process_; }

 private:
  ProxyServer(TemporaryFolder folder, std::uint16_t port)
      : folder_(std::move(folder)), port_(port) {}

  TemporaryFolder folder_;
  std::uint16_t port_;
  ChildProcess process_;
};

}  // namespace guestlist::servers
