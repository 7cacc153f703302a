#pragma once

// A blocking connection to Redis for the fixtures' and the tests' own commands, so that they need
// not travel through the code under test. One command at a time, RESP2.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/base/clock.hpp"

struct redisContext;

namespace guestlist::servers {

/// What a command came to. A lost or refused connection is an error like those of the server, for a
/// test compares texts: `EXPECT_EQ("PONG", server.command({"PING"}).text)`.
struct RedisReply {
  enum class Kind { nil, integer, text, array, error };

  Kind kind = Kind::nil;
  std::int64_t integer = 0;
  /// Of a text, status or error. Integers have their decimal digits here.
  std::string text;
  std::vector<RedisReply> elements;

  bool is_error() const noexcept { return kind == Kind::error; }
  bool is_nil() const noexcept { return kind == Kind::nil; }
};

/// Distinct objects: safe. Shared objects: one thread at a time.
class RedisClient {
 public:
  /// Nothing is connected before the first command. `user` logs in where it is not empty.
  RedisClient(std::string unix_socket, std::string user, std::string password,
              Duration timeout = std::chrono::seconds(5));

  /// Connects again where the last command lost the connection.
  RedisReply command(const std::vector<std::string>& arguments);
  void disconnect() noexcept { context_.reset(); }

 private:
  struct Free {
    void operator()(redisContext* context) const noexcept;
  };
  RedisReply connect();
  RedisReply exchange(const std::vector<std::string>& arguments);

  std::string unix_socket_;
  std::string user_;
  std::string password_;
  Duration timeout_;
  std::unique_ptr<redisContext, Free> context_;
};

/// The value of `field:` in the text of INFO, CLUSTER INFO and their kind; empty where it is not.
std::string field_of(std::string_view info, std::string_view field);

}  // namespace guestlist::servers
