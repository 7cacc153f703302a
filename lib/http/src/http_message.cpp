#include "guestlist/http/http_message.hpp"

#include "guestlist/base/bytes.hpp"

namespace guestlist {
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
