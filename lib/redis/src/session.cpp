#include "session.hpp"

#include <fmt/core.h>

#include <atomic>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/src.hpp>
#include <optional>
#include <utility>

#include "event_loop_asio.hpp"

namespace guestlist {
namespace {

namespace wire = boost::redis::resp3;

RedisType type_of(wire::type type) noexcept {
  switch (type) {
    case wire::type::simple_error:
    case wire::type::blob_error:
      return RedisType::error;
    case wire::type::null:
      return RedisType::null;
    case wire::type::number:
      return RedisType::integer;
    default:
      return wire::is_aggregate(type) ? RedisType::aggregate : RedisType::text;
  }
}

/// Receives the nodes of a request as the parser finds them.
class Collector {
 public:
  explicit Collector(RedisNodes& into) noexcept : into_(&into) {}

  static std::size_t get_supported_response_size() noexcept { return static_cast<std::size_t>(-1); }

  void operator()(std::size_t /*command*/, const wire::basic_node<std::string_view>& node,
                  boost::system::error_code& /*error*/) const {
    if (node.depth == 0) {
      into_->begins.push_back(into_->nodes.size());
    }
    const auto type = type_of(node.data_type);
    const auto size = type == RedisType::aggregate
                          ? node.aggregate_size * wire::element_multiplicity(node.data_type)
                          : node.value.size();
    into_->nodes.push_back(
        {type, static_cast<std::uint32_t>(node.depth), size, into_->bytes.size()});
    into_->bytes += node.value;
  }

 private:
  RedisNodes* into_;
};

}  // namespace

// Found by Boost.Redis through the namespace of its argument.
static Collector boost_redis_adapt(RedisNodes& nodes) noexcept {
  return Collector(nodes);
}

namespace redis {
namespace {

using Executor = boost::asio::io_context::executor_type;
using Connection = boost::redis::basic_connection<Executor>;
using boost::system::error_code;

class BoostSession;

/// What Boost.Redis tells of a connection's stages. It copies this at will.
class Stages {
 public:
  explicit Stages(BoostSession* session) noexcept : session_(session) {}

  void on_resolve(const error_code& error, const boost::asio::ip::tcp::resolver::results_type&);
  void on_connect(const error_code& error, const boost::asio::ip::tcp::endpoint&);
  void on_ssl_handshake(const error_code& error);
  void on_hello(const error_code& error, const boost::redis::generic_response& reply);
  void on_write(const error_code&, const std::string&) const noexcept {}
  void on_read(const error_code&, std::size_t) const noexcept {}
  void set_prefix(std::string_view) const noexcept {}
  void trace(std::string_view) const noexcept {}
  void trace(std::string_view, const error_code&) const noexcept {}

 private:
  BoostSession* session_;
};

/// One call of execute: the request and its replies, alive until Boost.Redis is done with them.
struct Exchange {
  boost::redis::request request;
  std::shared_ptr<RedisNodes> nodes = std::make_shared<RedisNodes>();
  Session::Done done;
  bool asking = false;
};

std::uint64_t next_session_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

class BoostSession final : public Session {
 public:
  BoostSession(EventLoop& loop, RedisEndpoint endpoint, SessionOptions options, Ended ended)
      : endpoint_(std::move(endpoint)),
        options_(std::move(options)),
        ended_(std::move(ended)),
        connection_(loop.asio().context.get_executor(), make_tls_context()) {}

  void run() {
    boost::redis::config config;
    config.use_ssl = options_.tls;
    config.addr = {endpoint_.host, std::to_string(endpoint_.port)};
    config.username = options_.user.empty() ? "default" : options_.user;
    config.password = options_.password;
    config.clientname = "guestlist";
    config.database_index = options_.database;
    config.resolve_timeout = config.connect_timeout = config.ssl_handshake_timeout =
        options_.connect_timeout;
    config.health_check_interval = options_.health_check_interval;
    config.reconnect_wait_interval = std::chrono::seconds::zero();
    config.log_prefix.clear();
    if (!tls_error_.empty()) {
      stage_error_ = tls_error_;
      boost::asio::post(connection_.get_executor(), [self = shared()] { self->end({}); });
      return;
    }
    connection_.async_run(config, Stages(this),
                          [self = shared()](error_code error) { self->end(error); });
  }

  std::uint64_t id() const noexcept override { return id_; }
  bool is_over() const noexcept override { return over_; }

  void execute(const RedisPipeline& pipeline, std::span<const std::uint32_t> commands,
               Spelling spelling, Done done) override {
    if (over_) {
      return done(fail(Errc::unavailable, sentence({})));
    }
    const auto exchange = std::make_shared<Exchange>();
    exchange->nodes->session = id_;
    exchange->done = std::move(done);
    std::vector<std::string_view> words;
    for (const auto command : commands) {
      if (spelling.asking) {
        exchange->request.push("ASKING");
      }
      pipeline.words(command, words);
      if (const auto* script = pipeline.script(command); script && spelling.script_text) {
        words[0] = "EVAL";
        words[1] = script->text();
      }
      if (words.size() == 1) {
        exchange->request.push(words.front());
      } else {
        exchange->request.push_range(words.front(), words.begin() + 1, words.end());
      }
    }
    exchange->asking = spelling.asking;
    if (is_logged_in_) {
      send(exchange);
    } else {
      waiting_.push_back(exchange);
    }
  }

  void close() override { connection_.cancel(); }

  void stage_failed(std::string_view stage, std::string_view why) {
    if (stage_error_.empty()) {
      stage_error_ = fmt::format("{} {}: {}", stage, endpoint_.text(), why);
    }
  }

  /// Boost.Redis would send what waits together with the log-in, and a server that refuses the user
  /// or the database would then carry it out as another user, in another database.
  void logged_in() {
    is_logged_in_ = true;
    for (const auto& exchange : std::exchange(waiting_, {})) {
      send(exchange);
    }
  }

  void connected() {
    // Small commands leave at once; Boost.Redis gathers what waits into one write by itself.
    error_code ignored;
    auto& socket = connection_.next_layer().next_layer();
    socket.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    if (options_.tls) {
      auto& stream = connection_.next_layer();
      SSL_set_tlsext_host_name(stream.native_handle(), endpoint_.host.c_str());
      stream.set_verify_callback(boost::asio::ssl::host_name_verification(endpoint_.host), ignored);
    }
  }

 private:
  void send(const std::shared_ptr<Exchange>& exchange) {
    connection_.async_exec(
        exchange->request, boost::redis::any_adapter(*exchange->nodes),
        [self = shared(), exchange](error_code error, std::size_t) {
          if (error) {
            return exchange->done(fail(Errc::unavailable, self->sentence(error)));
          }
          if (exchange->asking) {
            drop_asking_replies(*exchange->nodes);
          }
          exchange->done(std::shared_ptr<const RedisNodes>(exchange->nodes));
        });
  }

  std::shared_ptr<BoostSession> shared() {
    return std::static_pointer_cast<BoostSession>(shared_from_this());
  }

  boost::asio::ssl::context make_tls_context() {
    namespace ssl = boost::asio::ssl;
    ssl::context context(ssl::context::tls_client);
    if (!options_.tls) {
      return context;
    }
    error_code error;
    const auto check = [&](std::string_view file) {
      if (error && tls_error_.empty()) {
        tls_error_ =
            fmt::format("cannot use {} for TLS: {}; give a PEM file", file, error.message());
      }
    };
    context.set_verify_mode(ssl::verify_peer, error);
    if (options_.authority_file.empty()) {
      context.set_default_verify_paths(error);
      check("the system's certificate authorities");
    } else {
      context.load_verify_file(options_.authority_file, error);
      check(options_.authority_file);
    }
    if (!options_.certificate_file.empty()) {
      context.use_certificate_chain_file(options_.certificate_file, error);
      check(options_.certificate_file);
      const auto& key = options_.key_file.empty() ? options_.certificate_file : options_.key_file;
      context.use_private_key_file(key, ssl::context::pem, error);
      check(key);
    }
    return context;
  }

  std::string sentence(error_code error) const {
    if (!stage_error_.empty()) {
      return stage_error_;
    }
    const bool says_why = error && error != boost::asio::error::operation_aborted;
    return fmt::format("the connection to {} was lost{}", endpoint_.text(),
                       says_why ? ": " + error.message() : std::string{});
  }

  void end(error_code error) {
    over_ = true;
    stage_error_ = sentence(error);
    connection_.cancel(boost::redis::operation::exec);
    for (const auto& exchange : std::exchange(waiting_, {})) {
      exchange->done(fail(Errc::unavailable, stage_error_));
    }
    // Behind the handlers of the commands that were just cancelled.
    boost::asio::post(connection_.get_executor(), [self = shared()] {
      std::exchange(self->ended_, nullptr)(Error{Errc::unavailable, self->stage_error_});
    });
  }

  static void drop_asking_replies(RedisNodes& nodes) {
    std::vector<std::size_t> begins;
    for (std::size_t i = 1; i < nodes.begins.size(); i += 2) {
      begins.push_back(nodes.begins[i]);
    }
    nodes.begins = std::move(begins);
  }

  const std::uint64_t id_ = next_session_id();
  const RedisEndpoint endpoint_;
  const SessionOptions options_;
  Ended ended_;
  std::string tls_error_;
  std::string stage_error_;
  bool is_logged_in_ = false;
  bool over_ = false;
  std::vector<std::shared_ptr<Exchange>> waiting_;
  Connection connection_;
};

void Stages::on_resolve(const error_code& error,
                        const boost::asio::ip::tcp::resolver::results_type& /*results*/) {
  if (error) {
    session_->stage_failed("cannot find the host of", error.message());
  }
}

void Stages::on_connect(const error_code& error, const boost::asio::ip::tcp::endpoint& /*to*/) {
  if (error) {
    session_->stage_failed("cannot connect to", error.message());
  } else {
    session_->connected();
  }
}

void Stages::on_ssl_handshake(const error_code& error) {
  if (error) {
    session_->stage_failed("TLS failed with", error.message());
  }
}

/// The first error among the replies to HELLO and SELECT.
std::optional<std::string> refusal_in(const std::vector<wire::node>& replies) {
  for (const auto& node : replies) {
    if (type_of(node.data_type) == RedisType::error) {
      return node.value;
    }
  }
  return std::nullopt;
}

void Stages::on_hello(const error_code& error, const boost::redis::generic_response& reply) {
  if (reply.has_error()) {
    session_->stage_failed("the log-in was refused by", reply.error().diagnostic);
  } else if (error) {
    session_->stage_failed("no log-in at", error.message());
  } else if (const auto refusal = refusal_in(*reply)) {
    session_->stage_failed("the log-in was refused by", *refusal);
  } else {
    session_->logged_in();
  }
}

}  // namespace

std::shared_ptr<Session> Session::start(EventLoop& loop, const RedisEndpoint& endpoint,
                                        const SessionOptions& options, Ended ended) {
  auto session = std::make_shared<BoostSession>(loop, endpoint, options, std::move(ended));
  session->run();
  return session;
}

}  // namespace redis
}  // namespace guestlist
