#include "connection.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>

namespace guestlist::http {
namespace {

namespace asio = boost::asio;

/// Answers to pipelined requests wait in memory up to here.
constexpr std::size_t max_batch_bytes = 64 * 1024;
/// What a refused peer may still send before it is cut off: a reset would take the answer from it.
constexpr std::size_t max_discarded_bytes = 256 * 1024;
constexpr std::chrono::milliseconds linger_timeout{1000};

PreparedResponse problem(unsigned status, std::string_view title) {
  return PreparedResponse({status,
                           "{\"title\":\"" + std::string(title) + "\"}",
                           "application/problem+json",
                           {{"Cache-Control", "no-store"}}});
}

}  // namespace

Connection::Connection(Socket socket, std::shared_ptr<EventLoop> loop)
    : loop_(std::move(loop)),
      server_(loop_->server()),
      socket_(std::move(socket)),
      reader_(server_.options.max_header_bytes, server_.options.max_body_bytes) {
  server_.connections.fetch_add(1, std::memory_order_relaxed);
}

Connection::~Connection() {
  // One that never started, since its loop had ended.
  if (phase_ != Phase::closed) server_.count_out();
}

void Connection::start() {
  loop_->add(shared_from_this());
  if (server_.is_stopping.load(std::memory_order_relaxed)) return close();
  ErrorCode ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
  process();
}

void Connection::read() {
  if (is_reading_) return;
  is_reading_ = true;
  const auto room = reader_.room();
  socket_.async_read_some(asio::buffer(room.data(), room.size()),
                          [self = shared_from_this()](const ErrorCode& code, std::size_t bytes) {
                            self->on_read(code, bytes);
                          });
}

void Connection::on_read(const ErrorCode& code, std::size_t bytes) {
  is_reading_ = false;
  switch (phase_) {
    case Phase::closed:
      return;
    case Phase::closing:  // of a peer that was refused
      discarded_ += bytes;
      return code || discarded_ > max_discarded_bytes ? close() : read();
    case Phase::streaming:  // whoever listens has nothing to say
      return close();
    case Phase::reading:
    case Phase::answering:
      break;
  }
  if (code) {
    phase_ = Phase::closing;
    return is_writing_ ? void() : close();
  }
  reader_.received(bytes);
  process();
}

void Connection::process() {
  write();
  bool needs_more = false;
  while (phase_ == Phase::reading && !is_writing_ && !needs_more) {
    needs_more = read_batch();
    write();
  }
  if (needs_more && phase_ == Phase::reading) read();
}

/// True where the next request is not complete.
bool Connection::read_batch() {
  is_processing_ = true;
  bool needs_more = false;
  while (phase_ == Phase::reading && out_.size() < max_batch_bytes && !needs_more) {
    switch (reader_.read()) {
      case RequestReader::State::needs_more:
        needs_more = true;
        if (reader_.takes_continue()) out_ += "HTTP/1.1 100 Continue\r\n\r\n";
        set_reading_deadline();
        break;
      case RequestReader::State::refused:
        refuse(reader_.refusal());
        break;
      case RequestReader::State::complete:
        ask();
        break;
    }
  }
  is_processing_ = false;
  return needs_more;
}

void Connection::set_reading_deadline() {
  const HttpServerOptions& options = server_.options;
  if (!reader_.has_begun()) {
    deadline_ = loop_->after(options.idle_timeout);
    return;
  }
  if (!has_begun_) begun_ = loop_->after(EventLoop::Clock::duration::zero());
  has_begun_ = true;
  deadline_ = begun_ + (reader_.has_header() ? options.request_timeout : options.header_timeout);
}

void Connection::ask() {
  const HttpRequestView request = reader_.request();
  ++exchange_;
  has_begun_ = false;
  keeps_alive_ = reader_.keeps_alive() && exchange_ < server_.options.max_requests_per_connection;
  is_head_ = request.method == "HEAD";
  phase_ = Phase::answering;
  deadline_ = loop_->after(server_.options.answer_timeout);
  Responder responder(shared_from_this(), exchange_);
  if (server_.fast && server_.fast(request, responder)) return;
  server_.handler(request.owned(), std::move(responder));
}

void Connection::refuse(unsigned status) {
  problem(status, "bad request").append_to(out_, true, "close");
  is_refused_ = true;
  phase_ = Phase::closing;
}

template <class Action>
void Connection::on_own_thread(Action action) {
  if (loop_->is_own_thread()) return action();
  loop_->post(std::move(action));
}

void Connection::respond(std::uint64_t exchange, const PreparedResponse& response) {
  if (loop_->is_own_thread()) return answer(exchange, response);
  loop_->post(
      [self = shared_from_this(), exchange, response] { self->answer(exchange, response); });
}

void Connection::answer(std::uint64_t exchange, const PreparedResponse& response) {
  if (phase_ != Phase::answering || exchange != exchange_) return;
  keeps_alive_ = keeps_alive_ && !server_.is_stopping.load(std::memory_order_relaxed);
  response.append_to(out_, !is_head_,
                     !keeps_alive_           ? "close"
                     : reader_.is_http_1_0() ? "keep-alive"
                                             : "");
  reader_.next();
  phase_ = keeps_alive_ ? Phase::reading : Phase::closing;
  if (!is_processing_) process();
}

void Connection::stream(std::uint64_t exchange, const std::shared_ptr<StreamState>& stream) {
  on_own_thread(
      [self = shared_from_this(), exchange, stream] { self->begin_stream(exchange, stream); });
}

void Connection::begin_stream(std::uint64_t exchange, const std::shared_ptr<StreamState>& stream) {
  if (phase_ != Phase::answering || exchange != exchange_ || is_head_ ||
      server_.is_stopping.load(std::memory_order_relaxed)) {
    stream->is_open.store(false, std::memory_order_release);
    return answer(exchange, PreparedResponse({200, "", "text/event-stream", {}}));
  }
  phase_ = Phase::streaming;
  stream_ = stream;
  out_ +=
      "HTTP/1.1 200 OK\r\nServer: guestlist\r\nContent-Type: text/event-stream\r\n"
      "Cache-Control: no-store\r\nX-Accel-Buffering: no\r\nConnection: close\r\n\r\n";
  stream_->pending_bytes.fetch_add(out_.size() + writing_.size() - written_,
                                   std::memory_order_relaxed);
  deadline_ = loop_->after(server_.options.idle_timeout / 2);
  write();
  if (phase_ == Phase::streaming) read();
}

bool Connection::push(const std::shared_ptr<StreamState>& stream, std::string event) {
  if (!stream->is_open.load(std::memory_order_acquire)) return false;
  const std::size_t pending =
      stream->pending_bytes.fetch_add(event.size(), std::memory_order_relaxed) + event.size();
  const bool is_slow = pending > server_.options.max_pending_bytes;
  if (is_slow) stream->is_open.store(false, std::memory_order_release);
  loop_->post([self = shared_from_this(), stream, is_slow, event = std::move(event)] {
    if (self->stream_ != stream || self->phase_ != Phase::streaming) return;
    if (is_slow) return self->close();
    self->out_ += event;
    self->write();
  });
  return !is_slow;
}

void Connection::end_stream(const std::shared_ptr<StreamState>& stream) {
  stream->is_open.store(false, std::memory_order_release);
  loop_->post([self = shared_from_this(), stream] {
    if (self->stream_ != stream || self->phase_ != Phase::streaming) return;
    self->phase_ = Phase::closing;
    self->write();
  });
}

void Connection::write() {
  if (is_writing_ || phase_ == Phase::closed) return;
  if (!out_.empty()) {
    ErrorCode code;
    const std::size_t bytes = socket_.write_some(asio::buffer(out_), code);
    if (code && code != asio::error::would_block && code != asio::error::try_again) return close();
    took(bytes);
    if (bytes < out_.size()) {
      writing_.swap(out_);
      written_ = bytes;
      return write_rest();
    }
    out_.clear();
  }
  finish();
}

void Connection::write_rest() {
  is_writing_ = true;
  write_deadline_ = loop_->after(server_.options.write_timeout);
  socket_.async_write_some(asio::buffer(writing_.data() + written_, writing_.size() - written_),
                           [self = shared_from_this()](const ErrorCode& code, std::size_t bytes) {
                             self->on_written(code, bytes);
                           });
}

void Connection::on_written(const ErrorCode& code, std::size_t bytes) {
  if (phase_ == Phase::closed) return;
  if (code) return close();
  took(bytes);
  written_ += bytes;
  if (written_ < writing_.size()) return write_rest();
  is_writing_ = false;
  writing_.clear();
  written_ = 0;
  if (phase_ == Phase::reading) return process();
  write();
}

void Connection::took(std::size_t bytes) noexcept {
  if (stream_) stream_->pending_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

/// All is written.
void Connection::finish() {
  if (phase_ != Phase::closing) return;
  if (!is_refused_) return close();
  ErrorCode ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  deadline_ = loop_->after(linger_timeout);
  read();
}

void Connection::drain() {
  if (phase_ == Phase::reading || phase_ == Phase::streaming) {
    phase_ = Phase::closing;
    write();
  }
}

void Connection::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  if (stream_) stream_->is_open.store(false, std::memory_order_release);
  ErrorCode ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  socket_.close(ignored);
  loop_->remove(shared_from_this());
  server_.count_out();
}

void Connection::check_time(EventLoop::Clock::time_point now) {
  if (is_writing_ && now > write_deadline_) return close();
  if (now <= deadline_) return;
  switch (phase_) {
    case Phase::reading:
      return is_writing_ ? void() : close();
    case Phase::answering:
      keeps_alive_ = false;
      return answer(exchange_, problem(503, "no answer in time"));
    case Phase::streaming:
      deadline_ = loop_->after(server_.options.idle_timeout / 2);
      if (is_writing_) return;
      out_ += ":\n\n";
      stream_->pending_bytes.fetch_add(3, std::memory_order_relaxed);
      return write();
    case Phase::closing:
      return is_writing_ ? void() : close();
    case Phase::closed:
      return;
  }
}

}  // namespace guestlist::http
