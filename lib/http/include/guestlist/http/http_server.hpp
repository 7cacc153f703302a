#pragma once

// An HTTP/1.1 server with keep-alive and a limit on everything: header and body size, idle time,
// connections. It listens on loopback unless told otherwise. A handler answers when it can, from
// any thread; the event loops never wait for it. Requests of one connection are answered one after
// the other.
//
// What is ambiguous (Content-Length beside Transfer-Encoding, bare line feeds, unknown transfer
// codings) is answered 400, and the connection is closed.
//
// Distinct objects: safe. Shared objects: one owner; the handler is called from several threads at
// once. Tested by: HttpServer.*

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "guestlist/base/result.hpp"
#include "guestlist/http/http_message.hpp"

namespace guestlist {

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any free one
  unsigned threads = 2;
  std::uint32_t max_header_bytes = 16 * 1024;
  std::uint64_t max_body_bytes = 1024 * 1024;
  std::size_t max_connections = 10'000;
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(30);
  /// How long a stop waits for requests that are being answered.
  std::chrono::milliseconds drain_timeout = std::chrono::seconds(5);
};

class HttpServer {
 public:
  /// To be called exactly once, from any thread.
  using Respond = std::function<void(HttpResponse)>;
  using Handler = std::function<void(HttpRequest, Respond)>;

  /// Errors: `unavailable`, with address, port and reason.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options,
                                                   Handler handler);
  /// Stops accepting, answers what is under way, closes.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const noexcept;
  std::size_t connections() const noexcept;

 private:
  class Core;
  explicit HttpServer(std::shared_ptr<Core> core) noexcept : core_(std::move(core)) {}
  std::shared_ptr<Core> core_;
};

}  // namespace guestlist
