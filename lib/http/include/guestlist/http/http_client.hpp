#pragma once

// One keep-alive connection that asks and waits for the answer: for load generators, tests and the
// command's own calls to a service.
//
// Distinct objects: safe. Shared objects: one thread at a time.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "guestlist/base/result.hpp"
#include "guestlist/http/http_message.hpp"

namespace guestlist {

class HttpClient {
 public:
  /// Errors: `unavailable`, with address, port and reason.
  static Result<HttpClient> connect(const std::string& address, std::uint16_t port,
                                    std::chrono::milliseconds timeout);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  /// Errors: `unavailable` where the connection broke or the time was over; the client is of no
  /// more use.
  Result<HttpResponse> send(const HttpRequest& request);

 private:
  struct Connection;
  explicit HttpClient(std::unique_ptr<Connection> connection) noexcept;
  std::unique_ptr<Connection> connection_;
};

}  // namespace guestlist
