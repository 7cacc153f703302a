#include "guestlist/http/http_server.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <list>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <utility>
#include <vector>

namespace guestlist {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

/// What a session needs of its server, also where a late answer outlives it.
struct Shared {
  asio::io_context context;
  HttpServerOptions options;
  HttpServer::Handler handler;
  std::atomic<bool> stopping = false;
  std::atomic<std::size_t> connections = 0;
  /// Held shared by an answer that comes from elsewhere, so that none is left with a context whose
  /// loops have ended: it would hold its session there, and the session the context, for ever.
  std::shared_mutex ending;
  bool ended = false;
};

HttpResponse bad_request() {
  return {400, R"({"title":"bad request"})", "application/problem+json", {}};
}

/// One connection. Everything runs on its strand; only `respond` comes from elsewhere and is posted
/// there.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, std::shared_ptr<Shared> shared)
      : shared_(std::move(shared)), stream_(std::move(socket)) {
    shared_->connections.fetch_add(1, std::memory_order_relaxed);
  }
  ~Session() { shared_->connections.fetch_sub(1, std::memory_order_release); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void run() {
    asio::dispatch(stream_.get_executor(),
                   beast::bind_front_handler(&Session::read, shared_from_this()));
  }

  /// Closes when idle; a request that is being answered is answered first.
  void stop() {
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      if (!self->is_answering_) self->close();
    });
  }
  void abort() {
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->stream_.close(); });
  }

 private:
  void read() {
    parser_.emplace();
    parser_->header_limit(shared_->options.max_header_bytes);
    parser_->body_limit(shared_->options.max_body_bytes);
    stream_.expires_after(shared_->options.idle_timeout);
    http::async_read(stream_, buffer_, *parser_,
                     beast::bind_front_handler(&Session::on_read, shared_from_this()));
  }

  void on_read(const error_code& code, std::size_t) {
    if (code == http::error::end_of_stream || code == beast::error::timeout) return close();
    if (code) {
      // The peer's bytes are no request; say so where the connection still works.
      keep_alive_ = false;
      if (code.category() == make_error_code(http::error::bad_version).category())
        write(bad_request());
      return;
    }
    auto message = parser_->release();
    keep_alive_ = message.keep_alive();
    is_head_ = message.method() == http::verb::head;
    HttpRequest request;
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    request.body = std::move(message.body());
    for (const auto& field : message)
      request.fields.emplace_back(std::string(field.name_string()), std::string(field.value()));
    is_answering_ = true;
    stream_.expires_never();
    shared_->handler(std::move(request), [self = shared_from_this()](HttpResponse response) {
      const std::shared_lock lock(self->shared_->ending);
      if (self->shared_->ended) return;
      asio::dispatch(
          self->stream_.get_executor(),
          [self, response = std::move(response)]() mutable { self->write(std::move(response)); });
    });
  }

  void write(HttpResponse response) {
    keep_alive_ = keep_alive_ && !shared_->stopping.load(std::memory_order_relaxed);
    answer_.emplace(static_cast<http::status>(response.status), 11);
    answer_->set(http::field::server, "guestlist");
    if (!response.content_type.empty())
      answer_->set(http::field::content_type, response.content_type);
    for (const auto& [name, value] : response.fields) answer_->set(name, value);
    answer_->keep_alive(keep_alive_);
    const std::size_t length = response.body.size();
    if (!is_head_) answer_->body() = std::move(response.body);
    answer_->content_length(length);
    serializer_.emplace(*answer_);
    stream_.expires_after(shared_->options.idle_timeout);
    auto written = beast::bind_front_handler(&Session::on_write, shared_from_this());
    if (is_head_) {
      http::async_write_header(stream_, *serializer_, std::move(written));
    } else {
      http::async_write(stream_, *serializer_, std::move(written));
    }
  }

  void on_write(const error_code& code, std::size_t) {
    is_answering_ = false;
    if (code || !keep_alive_) return close();
    read();
  }

  void close() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.close();
  }

  std::shared_ptr<Shared> shared_;  ///< first, since the stream needs its context to the end
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> answer_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  bool keep_alive_ = false;
  bool is_head_ = false;
  bool is_answering_ = false;
};

}  // namespace

class HttpServer::Core {
 public:
  Core(const HttpServerOptions& options, Handler handler)
      : shared_(std::make_shared<Shared>()),
        work_(asio::make_work_guard(shared_->context)),
        acceptor_(asio::make_strand(shared_->context)) {
    shared_->options = options;
    shared_->handler = std::move(handler);
  }

  Result<void> start() {
    const HttpServerOptions& options = shared_->options;
    const std::string where = options.address + ":" + std::to_string(options.port);
    error_code code;
    const auto ip = asio::ip::make_address(options.address, code);
    const tcp::endpoint endpoint(ip, options.port);
    if (!code) acceptor_.open(endpoint.protocol(), code);
    if (!code) acceptor_.set_option(tcp::acceptor::reuse_address(true), code);
    if (!code) acceptor_.bind(endpoint, code);
    if (!code) acceptor_.listen(asio::socket_base::max_listen_connections, code);
    if (code) return fail(Errc::unavailable, "cannot listen on " + where + ": " + code.message());
    port_ = acceptor_.local_endpoint(code).port();
    accept();
    for (unsigned i = 0; i < std::max(1U, options.threads); ++i) {
      threads_.emplace_back([this] { shared_->context.run(); });
    }
    return {};
  }

  void stop() {
    shared_->stopping.store(true, std::memory_order_relaxed);
    asio::post(acceptor_.get_executor(), [this] { acceptor_.close(); });
    for_each_session([](Session& session) { session.stop(); });
    const auto until = std::chrono::steady_clock::now() + shared_->options.drain_timeout;
    while (connections() > 0 && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    for_each_session([](Session& session) { session.abort(); });
    {
      const std::unique_lock lock(shared_->ending);
      shared_->ended = true;
    }
    // Nothing begins any more, and what had begun is aborted: the loops run out of work.
    work_.reset();
    for (std::thread& thread : threads_) thread.join();
  }

  std::uint16_t port() const noexcept { return port_; }
  std::size_t connections() const noexcept {
    return shared_->connections.load(std::memory_order_acquire);
  }

 private:
  void accept() {
    acceptor_.async_accept(asio::make_strand(shared_->context),
                           [this](const error_code& code, tcp::socket socket) {
                             if (code == asio::error::operation_aborted ||
                                 shared_->stopping.load(std::memory_order_relaxed))
                               return;
                             if (!code) admit(std::move(socket));
                             accept();
                           });
  }

  void admit(tcp::socket socket) {
    // Over the limit the connection is closed at once: the client sees it, and nobody else pays.
    if (connections() >= shared_->options.max_connections) return;
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const auto session = std::make_shared<Session>(std::move(socket), shared_);
    {
      const std::lock_guard lock(mutex_);
      // A stop that has been through the sessions would miss this one.
      if (shared_->stopping.load(std::memory_order_relaxed)) return;
      std::erase_if(sessions_, [](const std::weak_ptr<Session>& known) { return known.expired(); });
      sessions_.push_back(session);
    }
    session->run();
  }

  template <class Action>
  void for_each_session(Action action) {
    const std::lock_guard lock(mutex_);
    for (const std::weak_ptr<Session>& known : sessions_) {
      if (const auto session = known.lock()) action(*session);
    }
  }

  std::shared_ptr<Shared> shared_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::list<std::weak_ptr<Session>> sessions_;
  std::vector<std::thread> threads_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options,
                                                      Handler handler) {
  auto core = std::make_shared<Core>(options, std::move(handler));
  if (auto started = core->start(); !started) return fail(std::move(started).error());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(core)));
}

HttpServer::~HttpServer() {
  core_->stop();
}

std::uint16_t HttpServer::port() const noexcept {
  return core_->port();
}
std::size_t HttpServer::connections() const noexcept {
  return core_->connections();
}

}  // namespace guestlist
