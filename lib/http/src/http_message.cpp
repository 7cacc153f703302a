#include "guestlist/http/http_message.hpp"

#include <algorithm>

#include "guestlist/base/bytes.hpp"

namespace guestlist {

std::optional<std::string_view> HttpRequest::field(std::string_view name) const noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  std::optional<std::string_view> found;
  for (const auto& [key, value] : fields) {
    if (!std::ranges::equal(key, name, {}, lower, lower)) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}
namespace {

constexpr bool is_unreserved(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

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
