#pragma once

// Servers that have the module loaded.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "guestlist/servers/redis_server.hpp"
#include "guestlist/servers/required.hpp"
#include "wire.hpp"

namespace guestlist::server {

using servers::RedisFlavour;
using servers::RedisOptions;
using servers::RedisServer;

inline RedisOptions with_module(RedisFlavour flavour, const std::string& arguments = "") {
  RedisOptions options;
  options.flavour = flavour;
  options.settings = {"loadmodule " GUESTLIST_MODULE " " + arguments};
  return options;
}

inline std::string name_of(RedisFlavour flavour) {
  return flavour == RedisFlavour::redis ? "redis" : "valkey";
}

/// One server of each kind for a suite; every test starts with no key and the default settings.
class ModuleTest : public testing::TestWithParam<RedisFlavour> {
 protected:
  void SetUp() override {
    server_ = std::make_unique<RedisServer>(
        servers::required(RedisServer::start(with_module(GetParam(), arguments()))));
    wire_ = std::make_unique<Wire>(server_->unix_socket());
  }

  virtual std::string arguments() const { return ""; }

  RedisServer& server() { return *server_; }
  std::string ask(const Words& words) { return wire_->ask(words); }
  std::string ask(const std::string& text) { return wire_->ask(text); }
  void reconnect() { wire_ = std::make_unique<Wire>(server_->unix_socket()); }

 private:
  std::unique_ptr<RedisServer> server_;
  std::unique_ptr<Wire> wire_;
};

#define GUESTLIST_ON_EVERY_SERVER(Suite)                                               \
  INSTANTIATE_TEST_SUITE_P(Servers, Suite,                                             \
                           testing::Values(RedisFlavour::redis, RedisFlavour::valkey), \
                           [](const auto& kind) { return name_of(kind.param); })

}  // namespace guestlist::server
