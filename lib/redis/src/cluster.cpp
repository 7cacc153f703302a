// The nodes of a Cluster. The map of slots is asked for before the first command, after a MOVED,
// and when a node is lost; commands meanwhile go by the map that is there.

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "discovery.hpp"
#include "slot_map.hpp"
#include "topology.hpp"

namespace guestlist::redis {
namespace {

/// A node that was lost makes us ask again, and a Cluster takes its time to elect another.
constexpr Duration shortest_refresh_interval = std::chrono::milliseconds(100);

class Cluster final : public Topology {
 public:
  Cluster(EventLoop& loop, const RedisUrl& url, const SessionOptions& options)
      : loop_(loop), seeds_(url.endpoints), options_(options) {}

  void locate(std::uint16_t slot, Located located) override {
    if (map_is_there_) {
      return located(session_of(slot));
    }
    waiting_.push_back([this, slot, located = std::move(located)](const Error* error) {
      located(error != nullptr ? Result<std::shared_ptr<Session>>(fail(*error)) : session_of(slot));
    });
    refresh();
  }

  Result<std::shared_ptr<Session>> follow(const Redirection& redirection,
                                          const std::shared_ptr<Session>& from) override {
    auto to = redirection.to;
    if (to.host.empty()) {
      to.host = host_of(from);
    }
    if (redirection.step == NextStep::moved) {
      map_.move(redirection.slot, to);
      refresh_soon();
    }
    return link_to(to).session();
  }

  void demoted(const std::shared_ptr<Session>& /*session*/) override { refresh_soon(); }

  void close() override {
    if (discovery_) {
      discovery_->cancel();
    }
    waiting_.clear();
    links_.clear();
  }

 private:
  Result<std::shared_ptr<Session>> session_of(std::uint16_t slot) {
    const auto* master = map_.master_of(slot);
    if (master == nullptr) {
      refresh_soon();
      return fail(Errc::unavailable, fmt::format("no node of the Cluster serves slot {}", slot));
    }
    auto& link = link_to(*master);
    auto session = link.session();
    if (!session) {
      refresh_soon();
    }
    return session;
  }

  Link& link_to(const RedisEndpoint& node) {
    auto& link = links_[node];
    if (!link) {
      link = std::make_unique<Link>(loop_, node, options_);
    }
    return *link;
  }

  std::string host_of(const std::shared_ptr<Session>& session) {
    for (const auto& [endpoint, link] : links_) {
      const auto known = link->session();
      if (known && *known == session) {
        return endpoint.host;
      }
    }
    return seeds_.front().host;
  }

  void refresh_soon() {
    if (SteadyClock().now() - last_refresh_ >= shortest_refresh_interval) {
      refresh();
    }
  }

  void refresh() {
    if (discovery_) {
      return;
    }
    last_refresh_ = SteadyClock().now();
    auto servers = map_.nodes();
    for (const auto& seed : seeds_) {
      if (std::find(servers.begin(), servers.end(), seed) == servers.end()) {
        servers.push_back(seed);
      }
    }
    // Not always the same node first: it may be cut off and have an old map.
    std::rotate(servers.begin(),
                servers.begin() + static_cast<std::ptrdiff_t>(turn_++ % servers.size()),
                servers.end());
    RedisPipeline question;
    question.add(0, {"CLUSTER", "SLOTS"});
    discovery_ = Discovery::start(
        loop_, std::move(servers), options_, std::move(question),
        [this](const RedisReply& reply, const RedisEndpoint& by) { return answered(reply, by); },
        [this](const Error& error) { answer_waiting(&error); });
  }

  std::optional<Error> answered(const RedisReply& reply, const RedisEndpoint& by) {
    auto map = SlotMap::parse(reply, by);
    if (!map) {
      return std::move(map).error();
    }
    map_ = std::move(*map);
    map_is_there_ = true;
    const auto& nodes = map_.nodes();
    std::erase_if(links_, [&](const auto& link) {
      return std::find(nodes.begin(), nodes.end(), link.first) == nodes.end();
    });
    answer_waiting(nullptr);
    return std::nullopt;
  }

  void answer_waiting(const Error* error) {
    discovery_.reset();
    auto waiting = std::exchange(waiting_, {});
    for (auto& answer : waiting) {
      answer(error);
    }
  }

  EventLoop& loop_;
  std::vector<RedisEndpoint> seeds_;
  SessionOptions options_;
  std::map<RedisEndpoint, std::unique_ptr<Link>> links_;
  SlotMap map_;
  bool map_is_there_ = false;
  std::vector<std::function<void(const Error*)>> waiting_;
  std::shared_ptr<Discovery> discovery_;
  TimePoint last_refresh_{};
  std::size_t turn_ = 0;
};

}  // namespace

std::unique_ptr<Topology> make_cluster(EventLoop& loop, const RedisUrl& url,
                                       const SessionOptions& options) {
  return std::make_unique<Cluster>(loop, url, options);
}

}  // namespace guestlist::redis
