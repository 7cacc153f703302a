#include "topology.hpp"

namespace guestlist::redis {
namespace {

class Standalone final : public Topology {
 public:
  Standalone(EventLoop& loop, const RedisUrl& url, const SessionOptions& options)
      : link_(loop, url.endpoints.front(), options) {}

  void locate(std::uint16_t /*slot*/, Located located) override { located(link_.session()); }

  Result<std::shared_ptr<Session>> follow(const Redirection& redirection,
                                          const std::shared_ptr<Session>& /*from*/) override {
    return fail(Errc::mismatched, "the server is a node of a Cluster and sends us to " +
                                      redirection.to.text() + "; write redis+cluster://…");
  }

  void demoted(const std::shared_ptr<Session>& /*session*/) override {}
  void close() override { link_.close(); }

 private:
  Link link_;
};

}  // namespace

std::unique_ptr<Topology> make_standalone(EventLoop& loop, const RedisUrl& url,
                                          const SessionOptions& options) {
  return std::make_unique<Standalone>(loop, url, options);
}

}  // namespace guestlist::redis
