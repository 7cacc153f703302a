#include "guestlist/servers/redis_client.hpp"

#include <fmt/format.h>
#include <hiredis.h>

#include <csignal>
#include <ctime>
#include <utility>

namespace guestlist::servers {
namespace {

RedisReply error(std::string text) {
  return {RedisReply::Kind::error, 0, std::move(text), {}};
}

RedisReply converted(const redisReply& reply) {
  using Kind = RedisReply::Kind;
  switch (reply.type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      return {Kind::text, 0, std::string(reply.str, reply.len), {}};
    case REDIS_REPLY_ERROR:
      return error(std::string(reply.str, reply.len));
    case REDIS_REPLY_INTEGER:
      return {Kind::integer, reply.integer, std::to_string(reply.integer), {}};
    case REDIS_REPLY_ARRAY: {
      RedisReply array{Kind::array, 0, {}, {}};
      for (std::size_t i = 0; i < reply.elements; ++i) {
        array.elements.push_back(converted(*reply.element[i]));
      }
      return array;
    }
    default:
      return {};
  }
}

/// hiredis writes to a socket whose server is gone as to any other, which would end the program.
/// This thread hears nothing of SIGPIPE while the object lives.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;
  ~WithoutPipeSignal() {
    const timespec at_once{0, 0};
    ::sigtimedwait(&pipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_;
  sigset_t before_;
};

timeval to_timeval(Duration span) {
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(span).count();
  return {microseconds / 1'000'000, microseconds % 1'000'000};
}

}  // namespace

void RedisClient::Free::operator()(redisContext* context) const noexcept {
  redisFree(context);
}

RedisClient::RedisClient(std::string unix_socket, std::string user, std::string password,
                         Duration timeout)
    : unix_socket_(std::move(unix_socket)),
      user_(std::move(user)),
      password_(std::move(password)),
      timeout_(timeout) {}

RedisReply RedisClient::command(const std::vector<std::string>& arguments) {
  if (!context_) {
    if (RedisReply connected = connect(); connected.is_error()) return connected;
  }
  return exchange(arguments);
}

RedisReply RedisClient::connect() {
  context_.reset(redisConnectUnixWithTimeout(unix_socket_.c_str(), to_timeval(timeout_)));
  if (!context_ || context_->err != 0) {
    const std::string reason = context_ ? context_->errstr : "no memory";
    context_.reset();
    return error(fmt::format("no connection to {}: {}", unix_socket_, reason));
  }
  redisSetTimeout(context_.get(), to_timeval(timeout_));
  if (user_.empty()) return {};
  RedisReply authenticated = exchange({"AUTH", user_, password_});
  if (authenticated.is_error()) context_.reset();
  return authenticated;
}

RedisReply RedisClient::exchange(const std::vector<std::string>& arguments) {
  std::vector<const char*> starts;
  std::vector<std::size_t> lengths;
  for (const std::string& argument : arguments) {
    starts.push_back(argument.data());
    lengths.push_back(argument.size());
  }
  const WithoutPipeSignal quiet;
  void* raw = redisCommandArgv(context_.get(), static_cast<int>(starts.size()), starts.data(),
                               lengths.data());
  if (raw == nullptr) {
    const std::string reason = context_->errstr;
    context_.reset();
    return error(fmt::format("connection to {} lost: {}", unix_socket_, reason));
  }
  RedisReply reply = converted(*static_cast<redisReply*>(raw));
  freeReplyObject(raw);
  return reply;
}

std::string field_of(std::string_view info, std::string_view field) {
  while (!info.empty()) {
    const auto end = info.find('\n');
    std::string_view line = info.substr(0, end);
    info.remove_prefix(end == std::string_view::npos ? info.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(field) && line.substr(field.size()).starts_with(':')) {
      return std::string(line.substr(field.size() + 1));
    }
  }
  return {};
}

}  // namespace guestlist::servers
