#include "guestlist/http/http_client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <utility>

namespace guestlist {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

Error unavailable(const std::string& peer, const error_code& code) {
  return Error{make_error_code(Errc::unavailable), peer + ": " + code.message()};
}

}  // namespace

struct HttpClient::Connection {
  std::string peer;
  std::chrono::milliseconds timeout;
  asio::io_context context;
  boost::beast::tcp_stream stream{context};
  boost::beast::flat_buffer buffer;

  /// Runs one asynchronous step to its end: only those keep a time limit.
  template <class Step>
  error_code run(Step step) {
    error_code result;
    stream.expires_after(timeout);
    step([&result](const error_code& code, auto&&...) { result = code; });
    context.restart();
    context.run();
    return result;
  }
};

HttpClient::HttpClient(std::unique_ptr<Connection> connection) noexcept
    : connection_(std::move(connection)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

Result<HttpClient> HttpClient::connect(const std::string& address, std::uint16_t port,
                                       std::chrono::milliseconds timeout) {
  auto connection = std::make_unique<Connection>();
  connection->peer = address + ":" + std::to_string(port);
  connection->timeout = timeout;
  error_code code;
  const auto ip = asio::ip::make_address(address, code);
  if (code) return fail(unavailable(connection->peer, code));
  code = connection->run([&](auto done) {
    connection->stream.async_connect(asio::ip::tcp::endpoint(ip, port), done);
  });
  if (code) return fail(unavailable(connection->peer, code));
  connection->stream.socket().set_option(asio::ip::tcp::no_delay(true), code);
  return HttpClient(std::move(connection));
}

Result<HttpResponse> HttpClient::send(const HttpRequest& request) {
  http::request<http::string_body> message;
  message.version(11);
  message.method_string(request.method);
  message.target(request.target);
  message.set(http::field::host, connection_->peer);
  for (const auto& [name, value] : request.fields) message.set(name, value);
  if (!request.body.empty()) {
    message.set(http::field::content_type, "application/json");
    message.body() = request.body;
  }
  message.prepare_payload();
  error_code code =
      connection_->run([&](auto done) { http::async_write(connection_->stream, message, done); });
  if (code) return fail(unavailable(connection_->peer, code));
  http::response<http::string_body> answer;
  code = connection_->run(
      [&](auto done) { http::async_read(connection_->stream, connection_->buffer, answer, done); });
  if (code) return fail(unavailable(connection_->peer, code));
  HttpResponse response;
  response.status = answer.result_int();
  response.content_type = std::string(answer[http::field::content_type]);
  for (const auto& field : answer) {
    response.fields.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  response.body = std::move(answer.body());
  return response;
}

}  // namespace guestlist
