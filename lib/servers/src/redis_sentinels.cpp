#include "guestlist/servers/redis_sentinels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "wait_until.hpp"

namespace guestlist::servers {
namespace {

using namespace std::chrono_literals;

constexpr Duration agreement_limit = 60s;

}  // namespace

Result<RedisSentinels> RedisSentinels::start(const RedisSentinelsOptions& options) {
  assert(!options.node.tls);
  RedisSentinels sentinels;
  for (std::size_t i = 0; i < 1 + options.replicas; ++i) {
    auto node = RedisServer::start(options.node);
    if (!node) return fail(std::move(node).error());
    sentinels.nodes_.push_back(*std::move(node));
  }
  if (auto formed = sentinels.form(options); !formed) return fail(std::move(formed).error());
  return sentinels;
}

Result<void> RedisSentinels::form(const RedisSentinelsOptions& options) {
  // First, for a sentinel looks for replicas at once, and then not for ten seconds.
  if (auto followed = follow_master(); !followed) return followed;

  RedisOptions sentinel;
  sentinel.flavour = options.node.flavour;
  sentinel.sentinel = true;
  const std::string name = master_name;
  sentinel.settings = {
      fmt::format("sentinel monitor {} 127.0.0.1 {} {}", name, nodes_.front().port(),
                  options.sentinels / 2 + 1),
      fmt::format("sentinel down-after-milliseconds {} {}", name, options.down_after.count()),
      // An election without a winner is repeated after twice this time.
      fmt::format("sentinel failover-timeout {} 2000", name),
      fmt::format("sentinel auth-user {} fixture", name),
      fmt::format("sentinel auth-pass {} fixture", name),
  };
  for (std::size_t i = 0; i < options.sentinels; ++i) {
    auto started = RedisServer::start(sentinel);
    if (!started) return fail(std::move(started).error());
    sentinels_.push_back(*std::move(started));
  }
  return wait_until_known();
}

Result<void> RedisSentinels::follow_master() {
  const std::string port = std::to_string(nodes_.front().port());
  for (std::size_t i = 1; i < size(); ++i) nodes_[i].command({"REPLICAOF", "127.0.0.1", port});
  return wait_until(agreement_limit, "the replicas to follow their master", [&] {
    return std::all_of(nodes_.begin() + 1, nodes_.end(), [](RedisServer& replica) {
      return replica.info("master_link_status") == "up";
    });
  });
}

Result<void> RedisSentinels::wait_until_known() {
  return wait_until(agreement_limit, "the sentinels to know each other", [&] {
    return std::ranges::all_of(sentinels_, [&](RedisServer& sentinel) {
      return sentinel.info("master0") ==
             fmt::format("name={},status=ok,address={},slaves={},sentinels={}", master_name,
                         nodes_.front().address(), size() - 1, sentinels_.size());
    });
  });
}

std::vector<std::string> RedisSentinels::sentinel_addresses() const {
  std::vector<std::string> all;
  for (const RedisServer& sentinel : sentinels_) all.push_back(sentinel.address());
  return all;
}

std::size_t RedisSentinels::master() {
  std::vector<std::size_t> votes(size() + 1);
  for (RedisServer& sentinel : sentinels_) ++votes[master_seen_by(sentinel)];
  for (std::size_t i = 0; i < size(); ++i) {
    if (votes[i] > sentinels_.size() / 2) return i;
  }
  return size();
}

std::string RedisSentinels::master_address() {
  const std::size_t index = master();
  return index == size() ? "" : nodes_[index].address();
}

std::size_t RedisSentinels::master_seen_by(RedisServer& sentinel) {
  const RedisReply address = sentinel.command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_name});
  if (address.elements.size() != 2) return size();
  const auto named = std::ranges::find_if(nodes_, [&](const RedisServer& node) {
    return std::to_string(node.port()) == address.elements[1].text;
  });
  return static_cast<std::size_t>(named - nodes_.begin());
}

void RedisSentinels::cut_replication() {
  const std::size_t current = master();
  for (std::size_t i = 0; i < size(); ++i) {
    if (i != current) nodes_[i].stop();
  }
  // What was sent already would still be read from the connection; what comes next has none.
  if (current != size()) nodes_[current].command({"CLIENT", "KILL", "TYPE", "replica"});
}

Result<void> RedisSentinels::failover() {
  const std::size_t dead = master();
  if (dead != size()) nodes_[dead].kill();
  for (RedisServer& node : nodes_) node.resume();
  return wait_until(agreement_limit, "the sentinels to promote a replica", [&] {
    const std::size_t successor = master();
    return successor != size() && successor != dead && nodes_[successor].info("role") == "master";
  });
}

}  // namespace guestlist::servers
