#include "redirection.hpp"

#include <charconv>
#include <string_view>

namespace guestlist::redis {
namespace {

template <class Number>
std::optional<Number> number_in(std::string_view text) noexcept {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

/// `MOVED 3999 127.0.0.1:6381`, and the same for ASK.
Redirection to_another_node(NextStep step, std::string_view text) {
  const auto first = text.find(' ');
  const auto second = text.find(' ', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) {
    return {};
  }
  const auto slot = number_in<std::uint16_t>(text.substr(first + 1, second - first - 1));
  const auto endpoint = endpoint_in(text.substr(second + 1));
  return slot && endpoint ? Redirection{step, *slot, *endpoint} : Redirection{};
}

}  // namespace

std::optional<RedisEndpoint> endpoint_in(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  const auto port = number_in<std::uint16_t>(text.substr(colon + 1));
  return port && *port != 0
             ? std::optional(RedisEndpoint{std::string(text.substr(0, colon)), *port})
             : std::nullopt;
}

Redirection redirection_of(const RedisReply& reply) {
  const auto code = reply.error_code();
  if (code.empty()) {
    return {};
  }
  if (code == "MOVED") {
    return to_another_node(NextStep::moved, reply.text());
  }
  if (code == "ASK") {
    return to_another_node(NextStep::ask, reply.text());
  }
  if (code == "TRYAGAIN") {
    return {NextStep::try_again, 0, {}};
  }
  if (code == "NOSCRIPT") {
    return {NextStep::send_text, 0, {}};
  }
  if (code == "READONLY") {
    return {NextStep::find_master, 0, {}};
  }
  return {};
}

}  // namespace guestlist::redis
