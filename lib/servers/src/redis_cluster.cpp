#include "guestlist/servers/redis_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "wait_until.hpp"

namespace guestlist::servers {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t slot_count = 16'384;
constexpr Duration agreement_limit = 60s;
/// A replica gives up an orderly failover after 5 s, without a word: a busy machine delays the
/// master's last bytes, or the votes.
constexpr Duration manual_failover_limit = 6s;

Result<void> done(const RedisReply& reply, std::string_view what) {
  if (!reply.is_error()) return {};
  return fail(Errc::unavailable, fmt::format("{}: {}", what, reply.text));
}

/// One line of CLUSTER SLOTS.
struct SlotRange {
  std::int64_t first;
  std::int64_t last;
  /// Identities: the master's, then those of its replicas.
  std::vector<std::string> nodes;
};

std::vector<SlotRange> slots_seen_by(RedisServer& node) {
  std::vector<SlotRange> ranges;
  for (const RedisReply& range : node.command({"CLUSTER", "SLOTS"}).elements) {
    SlotRange one{range.elements.at(0).integer, range.elements.at(1).integer, {}};
    for (std::size_t i = 2; i < range.elements.size(); ++i) {
      one.nodes.push_back(range.elements[i].elements.at(2).text);
    }
    ranges.push_back(std::move(one));
  }
  return ranges;
}

/// The master of a slot and its replicas; empty where the node knows of none.
std::vector<std::string> owners_seen_by(RedisServer& node, std::uint16_t slot) {
  for (SlotRange& range : slots_seen_by(node)) {
    if (slot >= range.first && slot <= range.last) return std::move(range.nodes);
  }
  return {};
}

bool names_as_master(RedisServer& node, std::uint16_t slot, const std::string& id) {
  const auto owners = owners_seen_by(node, slot);
  return !owners.empty() && owners.front() == id;
}

bool serves(RedisServer& node) {
  return field_of(node.command({"CLUSTER", "INFO"}).text, "cluster_state") == "ok";
}

}  // namespace

Result<RedisCluster> RedisCluster::start(RedisClusterOptions options) {
  assert(!options.node.tls);
  options.node.cluster = true;
  options.node.settings.push_back(
      fmt::format("cluster-node-timeout {}", options.node_timeout.count()));
  RedisCluster cluster;
  const std::size_t count = options.masters * (1 + options.replicas_per_master);
  for (std::size_t i = 0; i < count; ++i) {
    auto node = RedisServer::start(options.node);
    if (!node) return fail(std::move(node).error());
    cluster.ids_.push_back(node->command({"CLUSTER", "MYID"}).text);
    cluster.nodes_.push_back(*std::move(node));
  }
  if (auto formed = cluster.form(options); !formed) return fail(std::move(formed).error());
  return cluster;
}

Result<void> RedisCluster::form(const RedisClusterOptions& options) {
  for (std::size_t i = 0; i < size(); ++i) {
    nodes_[i].command({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    if (i < options.masters) {
      const std::size_t first = slot_count * i / options.masters;
      const std::size_t last = slot_count * (i + 1) / options.masters - 1;
      auto added = done(nodes_[i].command({"CLUSTER", "ADDSLOTSRANGE", std::to_string(first),
                                           std::to_string(last)}),
                        "the slots were not shared out");
      if (!added) return added;
    }
    // Everybody meets everybody, for gossip alone takes seconds.
    for (std::size_t other = 0; other < i; ++other) {
      nodes_[i].command({"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_[other].port()),
                         std::to_string(nodes_[other].cluster_bus_port())});
    }
  }
  auto met = wait_until(agreement_limit, "the nodes to know each other", [&] {
    return std::ranges::all_of(nodes_, [&](RedisServer& node) {
      const std::string known = node.command({"CLUSTER", "NODES"}).text;
      return known.find("handshake") == std::string::npos &&
             std::ranges::all_of(
                 ids_, [&](const std::string& id) { return known.find(id) != std::string::npos; });
    });
  });
  if (!met) return met;
  for (std::size_t i = options.masters; i < size(); ++i) {
    auto follows = done(nodes_[i].command({"CLUSTER", "REPLICATE", ids_[i % options.masters]}),
                        "a replica did not follow its master");
    if (!follows) return follows;
  }
  return wait_until_formed(options.replicas_per_master);
}

Result<void> RedisCluster::wait_until_formed(std::size_t replicas_per_master) {
  return wait_until(agreement_limit, "the cluster to serve", [&] {
    return std::ranges::all_of(nodes_, [&](RedisServer& node) {
      const auto ranges = slots_seen_by(node);
      const bool all_have_replicas = std::ranges::all_of(ranges, [&](const SlotRange& range) {
        return range.nodes.size() == 1 + replicas_per_master;
      });
      const std::string replication = node.command({"INFO", "replication"}).text;
      const bool in_step =
          field_of(replication, "role") == "master"
              ? field_of(replication, "connected_slaves") == std::to_string(replicas_per_master)
              : field_of(replication, "master_link_status") == "up";
      return serves(node) && !ranges.empty() && all_have_replicas && in_step;
    });
  });
}

std::vector<std::string> RedisCluster::addresses() const {
  std::vector<std::string> all;
  for (const RedisServer& node : nodes_) all.push_back(node.address());
  return all;
}

std::uint16_t RedisCluster::slot_of(const std::string& key) {
  return static_cast<std::uint16_t>(
      nodes_[first_living()].command({"CLUSTER", "KEYSLOT", key}).integer);
}

std::size_t RedisCluster::master_of(const std::string& key) {
  const std::uint16_t slot = slot_of(key);
  for (std::size_t i = 0; i < size(); ++i) {
    if (is_master(i) && names_as_master(nodes_[i], slot, ids_[i])) return i;
  }
  return size();
}

std::size_t RedisCluster::other_master(const std::string& key) {
  const std::size_t master = master_of(key);
  for (std::size_t i = 0; i < size(); ++i) {
    if (i != master && is_master(i)) return i;
  }
  assert(false);
  return size();
}

std::size_t RedisCluster::replica_of(const std::string& key) {
  const std::size_t master = master_of(key);
  if (master == size()) return size();
  const auto owners = owners_seen_by(nodes_[master], slot_of(key));
  for (std::size_t i = 0; i < size(); ++i) {
    if (i != master && nodes_[i].is_running() && std::ranges::count(owners, ids_[i]) != 0) return i;
  }
  return size();
}

RedisReply RedisCluster::command(const std::string& key,
                                 const std::vector<std::string>& arguments) {
  const std::size_t master = master_of(key);
  if (master == size()) {
    return {RedisReply::Kind::error, 0, "no living node serves the slot of " + key, {}};
  }
  return nodes_[master].command(arguments);
}

Result<void> RedisCluster::begin_move(const std::string& key, std::size_t target) {
  const std::size_t source = master_of(key);
  const std::string slot = std::to_string(slot_of(key));
  if (source == size()) return fail(Errc::unavailable, "no living node serves slot " + slot);
  auto importing =
      done(nodes_[target].command({"CLUSTER", "SETSLOT", slot, "IMPORTING", ids_[source]}),
           "the slot is not imported");
  if (!importing) return importing;
  return done(nodes_[source].command({"CLUSTER", "SETSLOT", slot, "MIGRATING", ids_[target]}),
              "the slot does not migrate");
}

Result<void> RedisCluster::move_keys(const std::string& key, std::size_t target) {
  RedisServer& source = nodes_[master_of(key)];
  const std::string slot = std::to_string(slot_of(key));
  for (;;) {
    const RedisReply keys = source.command({"CLUSTER", "GETKEYSINSLOT", slot, "100"});
    if (keys.elements.empty()) return done(keys, "the slot's keys are not told");
    std::vector<std::string> migrate{"MIGRATE", "127.0.0.1", std::to_string(nodes_[target].port()),
                                     "",        "0",         "5000",
                                     "AUTH2",   "fixture",   "fixture",
                                     "KEYS"};
    for (const RedisReply& one : keys.elements) migrate.push_back(one.text);
    if (auto moved = done(source.command(migrate), "keys did not move"); !moved) return moved;
  }
}

Result<void> RedisCluster::finish_move(const std::string& key, std::size_t target) {
  return assign(slot_of(key), target);
}

Result<void> RedisCluster::move_slot(const std::string& key, std::size_t target) {
  auto moved = begin_move(key, target);
  if (moved) moved = move_keys(key, target);
  if (moved) moved = finish_move(key, target);
  return moved;
}

Result<void> RedisCluster::assign(std::uint16_t slot, std::size_t target) {
  const auto tell = [&](std::size_t index) {
    return done(
        nodes_[index].command({"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", ids_[target]}),
        "the slot's new owner was refused");
  };
  auto told = tell(target);
  for (std::size_t i = 0; told && i < size(); ++i) {
    if (i != target && is_master(i)) told = tell(i);
  }
  return told;
}

std::size_t RedisCluster::kill_master_of(const std::string& key) {
  const std::size_t master = master_of(key);
  if (master != size()) nodes_[master].kill();
  return master;
}

Result<void> RedisCluster::failover(const std::string& key) {
  const std::size_t former = master_of(key);
  if (replica_of(key) == size())
    return fail(Errc::unavailable, "no living replica of the master of " + key);
  std::string last_answer;
  TimePoint ask_at{};
  const auto changed = wait_until(agreement_limit, "the replica to take over", [&] {
    const std::size_t master = master_of(key);
    if (master != former && master != size()) return true;
    if (const TimePoint now = SteadyClock().now(); now >= ask_at) {
      const std::size_t replica = replica_of(key);
      if (replica == size()) return false;
      last_answer = nodes_[replica].command({"CLUSTER", "FAILOVER"}).text;
      ask_at = now + manual_failover_limit;
    }
    return false;
  });
  if (changed) return wait_until_served(key);
  return fail(changed.error().code,
              fmt::format("{}; asked to, it said: {}", changed.error().detail, last_answer));
}

Result<void> RedisCluster::wait_until_served(const std::string& key) {
  return wait_until(agreement_limit, "a living master for the slot of " + key, [&] {
    const std::size_t master = master_of(key);
    if (master == size()) return false;
    const std::uint16_t slot = slot_of(key);
    return std::ranges::all_of(nodes_, [&](RedisServer& node) {
      return !node.is_running() || (serves(node) && names_as_master(node, slot, ids_[master]));
    });
  });
}

std::size_t RedisCluster::first_living() {
  const auto living = std::ranges::find_if(nodes_, &RedisServer::is_running);
  assert(living != nodes_.end());
  return static_cast<std::size_t>(living - nodes_.begin());
}

bool RedisCluster::is_master(std::size_t index) {
  return nodes_[index].is_running() && nodes_[index].info("role") == "master";
}

}  // namespace guestlist::servers
