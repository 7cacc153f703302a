// The master that Sentinels name. They are asked before the first session, whenever a session to
// the master has ended or has shown to be a replica's, and every second while calls come, so that a
// master which was cut off from its Sentinels is left soon.

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "discovery.hpp"
#include "topology.hpp"

namespace guestlist::redis {
namespace {

constexpr Duration poll_interval = std::chrono::seconds(1);

class Sentinel final : public Topology {
 public:
  Sentinel(EventLoop& loop, const RedisUrl& url, const SessionOptions& options)
      : loop_(loop),
        sentinels_(url.endpoints),
        master_name_(url.master),
        options_(options),
        sentinel_options_(options) {
    sentinel_options_.user = url.parameter("sentinel_user");
    sentinel_options_.password = url.parameter("sentinel_password");
    sentinel_options_.database = 0;
  }

  void locate(std::uint16_t /*slot*/, Located located) override {
    if (link_) {
      auto session = link_->session();
      if (session && known_session_ == (*session)->id()) {
        poll();
        return located(std::move(session));
      }
      // The session that we knew is over: the master may be another by now.
      link_->close();
      link_.reset();
    }
    waiting_.push_back(std::move(located));
    discover();
  }

  Result<std::shared_ptr<Session>> follow(const Redirection& /*redirection*/,
                                          const std::shared_ptr<Session>& /*from*/) override {
    return fail(Errc::mismatched, "the master is a node of a Cluster; write redis+cluster://…");
  }

  void demoted(const std::shared_ptr<Session>& session) override {
    if (link_ && session->id() == known_session_) {
      link_->close();
      link_.reset();
    }
  }

  void close() override {
    if (discovery_) {
      discovery_->cancel();
    }
    waiting_.clear();
    link_.reset();
  }

 private:
  void discover() {
    if (discovery_) {
      return;
    }
    RedisPipeline question;
    question.add(0, {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_name_});
    discovery_ = Discovery::start(
        loop_, sentinels_, sentinel_options_, std::move(question),
        [this](const RedisReply& reply, const RedisEndpoint& by) { return answered(reply, by); },
        [this](const Error& error) { failed(error); });
  }

  std::optional<Error> answered(const RedisReply& reply, const RedisEndpoint& by) {
    const auto port = reply.size() == 2 ? reply[1].integer() : std::nullopt;
    if (!port || *port <= 0 || *port > 0xFFFF) {
      return reply.is_ok() ? Error{Errc::not_found, by.text() + " knows no such master"}
                           : reply.error();
    }
    discovery_.reset();
    // Whoever answered is asked first the next time.
    const auto place = std::find(sentinels_.begin(), sentinels_.end(), by);
    std::rotate(sentinels_.begin(), place, place + 1);
    const RedisEndpoint master{std::string(reply[0].text()), static_cast<std::uint16_t>(*port)};
    if (!link_ || link_->endpoint() != master) {
      link_ = std::make_unique<Link>(loop_, master, options_);
    }
    auto session = link_->session();
    known_session_ = session ? (*session)->id() : 0;
    answer_waiting(session);
    return std::nullopt;
  }

  void failed(const Error& error) {
    discovery_.reset();
    answer_waiting(fail(Errc::unavailable, fmt::format("no Sentinel names a master '{}': {}",
                                                       master_name_, error.detail)));
  }

  void answer_waiting(const Result<std::shared_ptr<Session>>& session) {
    auto waiting = std::exchange(waiting_, {});
    for (auto& located : waiting) {
      located(session);
    }
  }

  void poll() {
    const auto now = SteadyClock().now();
    if (now < next_poll_) {
      return;
    }
    next_poll_ = now + poll_interval;
    discover();
  }

  EventLoop& loop_;
  std::vector<RedisEndpoint> sentinels_;
  std::string master_name_;
  SessionOptions options_;
  SessionOptions sentinel_options_;
  std::unique_ptr<Link> link_;
  std::uint64_t known_session_ = 0;
  std::vector<Located> waiting_;
  std::shared_ptr<Discovery> discovery_;
  TimePoint next_poll_{};
};

}  // namespace

std::unique_ptr<Topology> make_sentinel(EventLoop& loop, const RedisUrl& url,
                                        const SessionOptions& options) {
  return std::make_unique<Sentinel>(loop, url, options);
}

}  // namespace guestlist::redis
