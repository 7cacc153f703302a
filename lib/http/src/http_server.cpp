#include "guestlist/http/http_server.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <thread>
#include <vector>

#include "connection.hpp"

namespace guestlist {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Until the next try, where the process has no descriptor left.
constexpr std::chrono::milliseconds accept_pause{20};

}  // namespace

class HttpServer::Core {
 public:
  Core(const HttpServerOptions& options, Handler handler, FastHandler fast)
      : state_(std::make_shared<http::ServerState>()) {
    state_->options = options;
    state_->handler = std::move(handler);
    state_->fast = std::move(fast);
    for (unsigned i = 0; i < std::max(1U, options.threads); ++i)
      loops_.push_back(std::make_shared<http::EventLoop>(state_));
    acceptor_.emplace(loops_.front()->context());
    pause_.emplace(loops_.front()->context());
  }

  Result<void> start() {
    const HttpServerOptions& options = state_->options;
    const std::string where = options.address + ":" + std::to_string(options.port);
    error_code code;
    const auto ip = asio::ip::make_address(options.address, code);
    const tcp::endpoint endpoint(ip, options.port);
    if (!code) acceptor_->open(endpoint.protocol(), code);
    if (!code) acceptor_->set_option(tcp::acceptor::reuse_address(true), code);
    if (!code) acceptor_->bind(endpoint, code);
    if (!code) acceptor_->listen(asio::socket_base::max_listen_connections, code);
    if (code) return fail(Errc::unavailable, "cannot listen on " + where + ": " + code.message());
    port_ = acceptor_->local_endpoint(code).port();
    accept();
    for (const auto& loop : loops_) threads_.emplace_back([loop] { loop->run(); });
    return {};
  }

  void stop() {
    if (state_->is_stopping.exchange(true)) return;
    loops_.front()->post([this] {
      error_code ignored;
      acceptor_->close(ignored);
      pause_->cancel();
    });
    for_each_connection(&http::Connection::drain);
    {
      std::unique_lock lock(state_->mutex);
      state_->has_emptied.wait_for(lock, state_->options.drain_timeout,
                                   [this] { return connections() == 0; });
    }
    for_each_connection(&http::Connection::close);
    for (const auto& loop : loops_) loop->end();
    for (std::thread& thread : threads_) thread.join();
  }

  std::uint16_t port() const noexcept { return port_; }
  std::size_t connections() const noexcept {
    return state_->connections.load(std::memory_order_acquire);
  }

 private:
  void accept() {
    const auto& loop = loops_[next_loop_++ % loops_.size()];
    acceptor_->async_accept(
        loop->context(), [this, loop](const error_code& code, tcp::socket peer) {
          if (state_->is_stopping.load(std::memory_order_relaxed)) return;
          if (code) return accept_later();
          // Over the limit the connection is closed at once: the client sees it, and nobody else
          // pays.
          if (connections() < state_->options.max_connections) {
            loop->post([connection = std::make_shared<http::Connection>(std::move(peer), loop)] {
              connection->start();
            });
          }
          accept();
        });
  }

  void accept_later() {
    pause_->expires_after(accept_pause);
    pause_->async_wait([this](const error_code& code) {
      if (!code) accept();
    });
  }

  void for_each_connection(void (http::Connection::*action)()) {
    for (const auto& loop : loops_) {
      loop->post([loop = loop.get(), action] {
        for (const auto& connection : loop->connections()) (*connection.*action)();
      });
    }
  }

  std::shared_ptr<http::ServerState> state_;
  std::vector<std::shared_ptr<http::EventLoop>> loops_;
  std::optional<tcp::acceptor> acceptor_;
  std::optional<asio::steady_timer> pause_;
  std::size_t next_loop_ = 0;
  std::uint16_t port_ = 0;
  std::vector<std::thread> threads_;
};

HttpServer::HttpServer(std::unique_ptr<Core> core) noexcept : core_(std::move(core)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options,
                                                      Handler handler, FastHandler fast) {
  auto core = std::make_unique<Core>(options, std::move(handler), std::move(fast));
  if (auto started = core->start(); !started) return fail(std::move(started).error());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(core)));
}

HttpServer::~HttpServer() {
  stop();
}

void HttpServer::stop() {
  core_->stop();
}

std::uint16_t HttpServer::port() const noexcept {
  return core_->port();
}
std::size_t HttpServer::connections() const noexcept {
  return core_->connections();
}

}  // namespace guestlist
