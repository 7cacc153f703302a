#pragma once

// Requests and responses as plain values, so that nothing above needs to know the library that
// carries them.

#include <optional>
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

struct HttpResponse {
  unsigned status = 200;
  std::string body;
  std::string content_type = "application/json";
  /// Further header fields.
  std::vector<std::pair<std::string, std::string>> fields;
};

/// Decodes %XX. Nothing where a % is not followed by two hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text);

/// Encodes every byte that is not unreserved in a path segment (RFC 3986).
std::string percent_encode(std::string_view text);

}  // namespace guestlist
