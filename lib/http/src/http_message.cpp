#include "guestlist/http/http_message.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "guestlist/base/bytes.hpp"

namespace guestlist {

namespace {

constexpr bool is_unreserved(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

template <class Fields>
std::optional<std::string_view> only_one(const Fields& fields, std::string_view name) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  std::optional<std::string_view> found;
  for (const auto& [key, value] : fields) {
    if (key.size() != name.size() || !std::ranges::equal(key, name, {}, lower, lower)) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

}  // namespace

std::string_view reason_phrase(unsigned status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

std::optional<std::string_view> HttpRequest::field(std::string_view name) const noexcept {
  return only_one(fields, name);
}

std::optional<std::string_view> HttpRequestView::field(std::string_view name) const noexcept {
  return only_one(fields, name);
}

HttpRequest HttpRequestView::owned() const {
  HttpRequest request{std::string(method), std::string(target), std::string(body), {}};
  request.fields.reserve(fields.size());
  for (const auto& [name, value] : fields) request.fields.emplace_back(name, value);
  return request;
}

PreparedResponse::PreparedResponse(const HttpResponse& response)
    : head_(fmt::format("HTTP/1.1 {} {}\r\nServer: guestlist\r\n", response.status,
                        reason_phrase(response.status))),
      body_(response.status == 204 ? std::string() : response.body) {
  const auto add = [this](std::string_view name, std::string_view value) {
    // A line break in a value would begin a field of its own.
    const auto is_text = [](char c) { return c != '\r' && c != '\n' && c != '\0'; };
    if (!std::ranges::all_of(name, is_text) || !std::ranges::all_of(value, is_text)) return;
    head_.append(name).append(": ").append(value).append("\r\n");
  };
  if (!response.content_type.empty()) add("Content-Type", response.content_type);
  for (const auto& [name, value] : response.fields) add(name, value);
  if (response.status != 204) add("Content-Length", std::to_string(body_.size()));
}

void PreparedResponse::append_to(std::string& out, bool with_body,
                                 std::string_view connection) const {
  out.append(head_);
  if (!connection.empty()) out.append("Connection: ").append(connection).append("\r\n");
  out.append("\r\n");
  if (with_body) out.append(body_);
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    const auto byte = from_hex(text.substr(at + 1, 2));
    if (!byte || byte->size() != 1) return std::nullopt;
    decoded += static_cast<char>(byte->front());
    at += 2;
  }
  return decoded;
}

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (is_unreserved(c)) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += to_hex(as_bytes(std::string_view(&c, 1)));
    }
  }
  return encoded;
}

}  // namespace guestlist
