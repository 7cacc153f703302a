#include "guestlist/redis/redis_reply.hpp"

#include <cassert>
#include <charconv>
#include <utility>

namespace guestlist {

RedisReply::RedisReply() : RedisReply(Error{Errc::unavailable, "the command was not sent"}) {}

RedisReply::RedisReply(Error failure) : failure_(std::make_shared<Error>(std::move(failure))) {}

RedisReply::RedisReply(std::shared_ptr<const RedisNodes> nodes, std::size_t command)
    : nodes_(std::move(nodes)), node_(nodes_->begins[command]) {}

RedisType RedisReply::type() const noexcept {
  return nodes_ ? node().type : RedisType::failure;
}

Error RedisReply::error() const {
  assert(!is_ok());
  if (!nodes_) {
    return *failure_;
  }
  const auto code = error_code();
  const Errc reason = code == "WRONGTYPE" ? Errc::mismatched
                      : code == "OOM"     ? Errc::full
                                          : Errc::unavailable;
  return Error{reason, "Redis answered: " + std::string(text())};
}

std::string_view RedisReply::error_code() const noexcept {
  return type() == RedisType::error ? text().substr(0, text().find(' ')) : std::string_view{};
}

std::string_view RedisReply::text() const noexcept {
  if (!nodes_ || node().type == RedisType::aggregate) {
    return {};
  }
  return std::string_view(nodes_->bytes).substr(node().offset, node().size);
}

std::optional<std::int64_t> RedisReply::integer() const noexcept {
  if (type() != RedisType::integer && type() != RedisType::text) {
    return std::nullopt;
  }
  const auto digits = text();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc{} && end == digits.data() + digits.size() ? std::optional(value)
                                                                      : std::nullopt;
}

std::size_t RedisReply::size() const noexcept {
  return type() == RedisType::aggregate ? node().size : 0;
}

RedisReply RedisReply::operator[](std::size_t index) const {
  assert(index < size());
  const auto depth = node().depth + 1;
  std::size_t at = node_;
  for (std::size_t seen = 0; seen <= index; ++seen) {
    do {
      ++at;
    } while (nodes_->nodes[at].depth != depth);
  }
  return {nodes_, Place{at}};
}

std::vector<RedisReply> RedisReply::elements() const {
  std::vector<RedisReply> out;
  out.reserve(size());
  const auto wanted = size();
  for (std::size_t at = node_ + 1; out.size() < wanted; ++at) {
    if (nodes_->nodes[at].depth == node().depth + 1) {
      out.push_back(RedisReply(nodes_, Place{at}));
    }
  }
  return out;
}

}  // namespace guestlist
