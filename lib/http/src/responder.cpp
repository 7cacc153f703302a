#include "guestlist/http/responder.hpp"

#include <string>

#include "connection.hpp"

namespace guestlist {

struct EventStream::End {
  std::shared_ptr<http::Connection> connection;
  std::shared_ptr<http::StreamState> state = std::make_shared<http::StreamState>();

  explicit End(std::shared_ptr<http::Connection> of) : connection(std::move(of)) {}
  ~End() { connection->end_stream(state); }
  End(const End&) = delete;
  End& operator=(const End&) = delete;
};

bool EventStream::send(std::string_view name, std::string_view data) const {
  if (!is_open()) return false;
  std::string event;
  if (!name.empty()) event.append("event: ").append(name).append("\n");
  // Each line is a field of its own.
  while (true) {
    const auto end = data.find_first_of("\r\n");
    event.append("data: ").append(data.substr(0, end)).append("\n");
    if (end == std::string_view::npos) break;
    data.remove_prefix(end + 1);
  }
  event += '\n';
  return end_->connection->push(end_->state, std::move(event));
}

bool EventStream::is_open() const noexcept {
  return end_ != nullptr && end_->state->is_open.load(std::memory_order_acquire);
}

void Responder::operator()(HttpResponse response) const {
  if (connection_) connection_->respond(exchange_, PreparedResponse(response));
}

void Responder::operator()(const PreparedResponse& response) const {
  if (connection_) connection_->respond(exchange_, response);
}

EventStream Responder::stream() const {
  EventStream stream;
  if (!connection_) return stream;
  stream.end_ = std::make_shared<EventStream::End>(connection_);
  connection_->stream(exchange_, stream.end_->state);
  return stream;
}

}  // namespace guestlist
