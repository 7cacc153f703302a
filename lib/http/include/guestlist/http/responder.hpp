#pragma once

// How a request is answered: at once or later, with a response, or with a stream of events that
// goes on until either side ends it.
//
// Distinct objects: safe. Shared objects: safe; copies are cheap and answer the same request. Of
// several answers to one request the first counts. An answer to a request whose connection has
// gone, or whose server has stopped, goes nowhere.
//
// Source: server-sent events, HTML Living Standard, section 9.2. Tested by: HttpServer.*,
// EventStream.*

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "guestlist/http/http_message.hpp"

namespace guestlist {

namespace http {
class Connection;
}

/// Pushes events to one reader. The stream ends with its last copy, when the server stops, when the
/// reader leaves, or when the reader is too slow: what waits for it is bounded by the server's
/// `max_pending_bytes`.
class EventStream {
 public:
  /// A stream that is closed.
  EventStream() = default;

  /// Queues an event. `name` empty: a message. False where the stream is closed, and it stays so.
  bool send(std::string_view name, std::string_view data) const;
  bool is_open() const noexcept;

 private:
  friend class Responder;
  struct End;
  std::shared_ptr<End> end_;
};

class Responder {
 public:
  /// Of no request: answers go nowhere.
  Responder() = default;
  Responder(std::shared_ptr<http::Connection> connection, std::uint64_t exchange) noexcept
      : connection_(std::move(connection)), exchange_(exchange) {}

  void operator()(HttpResponse response) const;
  void operator()(const PreparedResponse& response) const;
  /// Answers 200 and `text/event-stream`, and keeps the connection for events. Closed for HEAD.
  EventStream stream() const;

 private:
  std::shared_ptr<http::Connection> connection_;
  std::uint64_t exchange_ = 0;
};

}  // namespace guestlist
