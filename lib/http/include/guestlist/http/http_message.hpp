#pragma once

// Requests and responses as plain values, so that nothing above needs to know the library that
// carries them.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace guestlist {

struct HttpRequest {
  std::string method = "GET";
  /// As received: neither split nor decoded.
  std::string target = "/";
  std::string body = {};
  /// As received, in order.
  std::vector<std::pair<std::string, std::string>> fields = {};

  /// The value of a field that is there once; names are alike in any case.
  std::optional<std::string_view> field(std::string_view name) const noexcept;
};

/// A request as it lies in the connection's buffer: for whoever answers before the call returns.
struct HttpRequestView {
  std::string_view method = {};
  std::string_view target = {};
  std::string_view body = {};
  std::span<const std::pair<std::string_view, std::string_view>> fields = {};

  /// As `HttpRequest::field`.
  std::optional<std::string_view> field(std::string_view name) const noexcept;
  /// A copy that lives on.
  HttpRequest owned() const;
};

struct HttpResponse {
  unsigned status = 200;
  std::string body;
  std::string content_type = "application/json";
  /// Further header fields.
  std::vector<std::pair<std::string, std::string>> fields;
};

/// A response rendered once and sent often. Distinct and shared objects: safe.
class PreparedResponse {
 public:
  explicit PreparedResponse(const HttpResponse& response);

  /// Appends the response as it goes over the wire. `connection`: empty, or the field's value.
  void append_to(std::string& out, bool with_body, std::string_view connection) const;

 private:
  std::string head_;
  std::string body_;
};

/// The phrase that goes with a status (RFC 9110, section 15).
std::string_view reason_phrase(unsigned status) noexcept;

/// Decodes %XX. Nothing where a % is not followed by two hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text);

/// Encodes every byte that is not unreserved in a path segment (RFC 3986).
std::string percent_encode(std::string_view text);

}  // namespace guestlist
