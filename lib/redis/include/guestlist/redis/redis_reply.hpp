#pragma once

// What a Redis answered to one command. Replies of a pipeline share one buffer, so a thousand small
// answers cost a handful of allocations; a RedisReply is a view that keeps that buffer alive.
//
// Distinct objects: safe. Shared objects: read only.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/base/result.hpp"

namespace guestlist {

enum class RedisType : std::uint8_t { failure, error, null, integer, text, aggregate };

/// The nodes of some replies, in the order in which they came, depth first.
struct RedisNodes {
  struct Node {
    RedisType type = RedisType::null;
    std::uint32_t depth = 0;
    std::size_t size = 0;    ///< elements of an aggregate, bytes of anything else
    std::size_t offset = 0;  ///< where its bytes begin in `bytes`
  };
  std::vector<Node> nodes;
  std::string bytes;
  /// Where each command's reply begins in `nodes`.
  std::vector<std::size_t> begins;
  /// The connection that carried them: unlike for every other connection of the process.
  std::uint64_t session = 0;
};

class RedisReply {
 public:
  /// Nothing has answered yet: a failure.
  RedisReply();
  /// The command was not answered, or may not even have been carried out.
  explicit RedisReply(Error failure);
  /// Requires: command < nodes->begins.size().
  RedisReply(std::shared_ptr<const RedisNodes> nodes, std::size_t command);

  RedisType type() const noexcept;
  /// Neither a failure nor an error that the server sent.
  bool is_ok() const noexcept { return type() != RedisType::failure && type() != RedisType::error; }
  bool is_null() const noexcept { return type() == RedisType::null; }
  /// Requires: !is_ok(). For an error of the server: `mismatched` (WRONGTYPE), `full` (OOM),
  /// `unavailable` for all others, with the server's own sentence.
  Error error() const;
  /// The first word of an error that the server sent (`MOVED`, `WRONGTYPE`), else empty.
  std::string_view error_code() const noexcept;

  /// Bytes of a string, an error, or a number as the server wrote it; empty for all others.
  std::string_view text() const noexcept;
  /// A number, or a string that is one in decimal.
  std::optional<std::int64_t> integer() const noexcept;
  /// Elements of an array, set or map (a map has keys and values in turn); 0 for all others.
  std::size_t size() const noexcept;
  /// The element. Requires: index < size(). Complexity: linear in the nodes before it.
  RedisReply operator[](std::size_t index) const;
  /// All elements. Complexity: linear in the nodes of the reply.
  std::vector<RedisReply> elements() const;

  /// The connection that answered; 0 for a failure.
  std::uint64_t session() const noexcept { return nodes_ ? nodes_->session : 0; }

 private:
  struct Place {
    std::size_t node;
  };
  RedisReply(std::shared_ptr<const RedisNodes> nodes, Place place)
      : nodes_(std::move(nodes)), node_(place.node) {}
  const RedisNodes::Node& node() const noexcept { return nodes_->nodes[node_]; }

  std::shared_ptr<const RedisNodes> nodes_;
  std::size_t node_ = 0;
  std::shared_ptr<const Error> failure_;
};

/// One reply a command, in the order of the pipeline.
using RedisReplies = std::vector<RedisReply>;

}  // namespace guestlist
