#pragma once

// An HTTP/1.1 server with keep-alive, pipelining and a limit on everything. It listens on loopback
// unless told otherwise. A handler answers when it can, from any thread; the event loops never wait
// for it. Requests of one connection are answered one after the other.
//
// What is ambiguous is answered 400 and the connection is closed: Content-Length beside
// Transfer-Encoding, either of them twice, a transfer coding other than `chunked`, chunk
// extensions, trailers, bare line feeds, folded lines, control characters, no Host or several.
//
// Each loop has its own thread and its own connections. There is one timer a loop, so a timeout is
// late by up to a half of the shortest one.
//
// Distinct objects: safe. Shared objects: one owner; handlers are called from several threads at
// once. Tested by: HttpServer.*, EventStream.*, RequestReader.*

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "guestlist/base/result.hpp"
#include "guestlist/http/http_message.hpp"
#include "guestlist/http/responder.hpp"

namespace guestlist {

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any free one
  unsigned threads = 2;
  std::uint32_t max_header_bytes = 16 * 1024;
  std::uint64_t max_body_bytes = 1024 * 1024;
  std::size_t max_connections = 10'000;
  /// After so many the connection is closed, with notice.
  std::uint64_t max_requests_per_connection = 1'000'000;
  /// Of an event stream, waiting for a slow reader.
  std::size_t max_pending_bytes = 256 * 1024;
  /// Between two requests.
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(30);
  /// From the first byte of a request to the end of its header.
  std::chrono::milliseconds header_timeout = std::chrono::seconds(10);
  /// From the first byte of a request to the end of its body.
  std::chrono::milliseconds request_timeout = std::chrono::seconds(30);
  /// From the request to the handler's answer; then it is 503.
  std::chrono::milliseconds answer_timeout = std::chrono::seconds(60);
  /// For a peer to take what was written.
  std::chrono::milliseconds write_timeout = std::chrono::seconds(30);
  /// How long a stop waits for requests that are being answered.
  std::chrono::milliseconds drain_timeout = std::chrono::seconds(5);
};

class HttpServer {
 public:
  using Respond = Responder;
  using Handler = std::function<void(HttpRequest, Respond)>;
  /// Asked first, in the event loop and without a copy of the request: true where it has answered
  /// or will. It must not wait. The view ends with the answer.
  using FastHandler = std::function<bool(const HttpRequestView&, const Respond&)>;

  /// Errors: `unavailable`, with address, port and reason.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options,
                                                   Handler handler, FastHandler fast = {});
  /// As `stop`.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Stops accepting, ends event streams, answers what is under way with `Connection: close`, and
  /// returns when all is closed or after `drain_timeout`. A second call does nothing.
  void stop();

  std::uint16_t port() const noexcept;
  std::size_t connections() const noexcept;

 private:
  class Core;
  explicit HttpServer(std::unique_ptr<Core> core) noexcept;
  std::unique_ptr<Core> core_;
};

}  // namespace guestlist
