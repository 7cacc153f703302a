#include "guestlist/redis/redis_client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "guestlist/redis/key_slot.hpp"
#include "guestlist/servers/redis_server.hpp"
#include "guestlist/servers/tcp_gate.hpp"
#include "shared_filter_fixture.hpp"

namespace guestlist {
namespace {

using servers::RedisServer;
using servers::required;
using servers::TcpGate;
using namespace std::chrono_literals;

RedisReply get(RedisClient& client, std::string_view key, Duration time = 2s) {
  return client.call(key_slot(key), {"GET", key}, soon(time));
}

TEST(RedisClientTest, AnswersManyThreadsOverOneConnection) {
  auto server = required(RedisServer::start());
  const auto client = connect_to("redis://" + server.address());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const auto key = fmt::format("{}-{}", t, i);
        RedisPipeline pipeline;
        pipeline.add(key_slot(key), {"SET", key, key});
        pipeline.add(key_slot(key), {"GET", key});
        const auto replies = client->execute(std::move(pipeline), soon());
        wrong += replies.size() != 2 || replies[1].text() != key;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  const auto clients = server.command({"CLIENT", "LIST"}).text;
  std::size_t ours = 0;
  for (std::size_t at = 0; (at = clients.find("name=guestlist", at)) != std::string::npos; ++at) {
    ++ours;
  }
  EXPECT_EQ(ours, 1U) << clients;
}

TEST(RedisClientTest, CarriesOutNothingBeforeTheLogInWasAccepted) {
  auto server = required(RedisServer::start({.users = {"me on >right ~* +@all"}}));
  server.command({"SET", "key", "of database 0"});
  for (const auto* login : {"me:wrong@", "nobody:x@"}) {
    const auto client = connect_to(std::string("redis://") + login + server.address());
    const auto reply = client->call(key_slot("key"), {"SET", "key", "ours"}, soon());
    EXPECT_NE(reply.error().detail.find("log-in was refused"), std::string::npos);
  }
  const auto nowhere = connect_to("redis://" + server.address() + "/99");
  EXPECT_FALSE(nowhere->call(key_slot("key"), {"SET", "key", "ours"}, soon()).is_ok());
  EXPECT_EQ(server.command({"GET", "key"}).text, "of database 0");
  const auto right = connect_to("redis://me:right@" + server.address() + "/3");
  EXPECT_TRUE(right->call(key_slot("key"), {"SET", "key", "of database 3"}, soon()).is_ok());
  EXPECT_EQ(get(*right, "key").text(), "of database 3");
  EXPECT_EQ(server.command({"GET", "key"}).text, "of database 0");
}

TEST(RedisClientTest, SpeaksTlsWithWhomItCanVerifyAndNobodyElse) {
  auto server = required(RedisServer::start({.tls = true, .tls_client_certificate = true}));
  const auto& ours = server.certificates();
  const std::string identity = "cert=" + ours.client_certificate() + "&key=" + ours.client_key();
  const auto client =
      connect_to("rediss://" + server.address() + "?ca=" + ours.authority() + "&" + identity);
  EXPECT_TRUE(get(*client, "key").is_null()) << get(*client, "key").error().message();

  const auto stranger = required(servers::TestCertificates::create());
  for (const auto& parameters :
       {std::string("x=1"), identity, "ca=" + stranger.authority() + "&" + identity,
        "ca=" + ours.authority() + "&cert=" + stranger.client_certificate() +
            "&key=" + stranger.client_key()}) {
    const auto refused = connect_to("rediss://" + server.address() + "?" + parameters);
    const auto reply = get(*refused, "key", 5s);
    ASSERT_FALSE(reply.is_ok()) << parameters;
    EXPECT_EQ(reply.error().code, Errc::unavailable) << reply.error().message();
  }
  EXPECT_EQ(RedisClient::make(required(RedisUrl::parse("rediss://h?ca=/no/such.pem"))).error().code,
            Errc::unreadable);
}

TEST(RedisClientTest, AnswersByTheDeadlineWhateverTheServerDoes) {
  auto server = required(RedisServer::start());
  auto gate = required(TcpGate::open(server.port()));
  const auto client = connect_to(fmt::format("redis://127.0.0.1:{}", gate.port()));
  ASSERT_TRUE(get(*client, "key").is_ok());
  const auto bounded = [&](const char* what) {
    const auto began = SteadyClock().now();
    const auto reply = get(*client, "key", 200ms);
    const auto took = SteadyClock().now() - began;
    EXPECT_FALSE(reply.is_ok()) << what;
    EXPECT_LT(took, 1s) << what;
  };
  server.stop();
  bounded("stopped");
  server.resume();
  gate.inject({.hold_requests = true, .hold_replies = true});
  bounded("a network that hangs");
  gate.heal();
  gate.lose_servers();
  bounded("half open");
  gate.inject({.refuse = true});
  gate.reset_connections();
  bounded("refused");
  gate.heal();
  for (int i = 0; i < 500 && !get(*client, "key", 200ms).is_ok(); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(get(*client, "key").is_ok()) << "it recovers by itself";
}

TEST(RedisClientTest, ComesBackAfterTheServerDid) {
  auto server = required(RedisServer::start());
  const auto client = connect_to("redis://" + server.address());
  const auto before = get(*client, "key");
  ASSERT_TRUE(before.is_ok());
  server.kill();
  for (int i = 0; i < 20; ++i) {
    const auto began = SteadyClock().now();
    EXPECT_FALSE(get(*client, "key").is_ok());
    EXPECT_LT(SteadyClock().now() - began, 500ms) << "a server that is down is known to be";
  }
  required(server.restart());
  RedisReply reply;
  for (int i = 0; i < 500 && !reply.is_ok(); ++i) {
    reply = get(*client, "key");
    std::this_thread::sleep_for(10ms);
  }
  ASSERT_TRUE(reply.is_ok());
  EXPECT_NE(reply.session(), before.session());
}

TEST(RedisClientTest, SendsAScriptThatTheServerHasForgotten) {
  auto server = required(RedisServer::start());
  const auto client = connect_to("redis://" + server.address());
  static const RedisScript script("return KEYS[1] .. ARGV[1]");
  const std::string_view keys[] = {"a"};
  const std::string_view arguments[] = {"b"};
  for (int i = 0; i < 3; ++i) {
    RedisPipeline pipeline;
    pipeline.add_script(key_slot("a"), script, keys, arguments);
    EXPECT_EQ(client->execute(std::move(pipeline), soon()).front().text(), "ab");
    server.command({"SCRIPT", "FLUSH"});
  }
}

TEST(RedisClientTest, RefusesMoreThanItMayHold) {
  auto server = required(RedisServer::start());
  RedisClient::Options options;
  options.max_outstanding_calls = 100;
  const auto client = required(
      RedisClient::make(required(RedisUrl::parse("redis://" + server.address())), options));
  ASSERT_TRUE(get(*client, "key").is_ok());
  server.stop();
  std::atomic<int> answered{0};
  std::atomic<int> overloaded{0};
  for (int i = 0; i < 300; ++i) {
    RedisPipeline pipeline;
    pipeline.add(0, {"PING"});
    client->execute(std::move(pipeline), soon(300ms), [&](const RedisReplies& replies) {
      overloaded += replies.front().error().code == Errc::overloaded;
      ++answered;
    });
  }
  for (int i = 0; i < 300 && answered < 300; ++i) std::this_thread::sleep_for(10ms);
  server.resume();
  EXPECT_EQ(answered, 300) << "each exactly once";
  EXPECT_EQ(overloaded, 200);
}

TEST(RedisClientTest, EndsItsCallsWhenItEnds) {
  auto server = required(RedisServer::start());
  std::atomic<int> cancelled{0};
  {
    const auto client = connect_to("redis://" + server.address());
    ASSERT_TRUE(get(*client, "key").is_ok());
    server.stop();
    for (int i = 0; i < 10; ++i) {
      RedisPipeline pipeline;
      pipeline.add(0, {"PING"});
      client->execute(std::move(pipeline), Deadline::never(), [&](const RedisReplies& replies) {
        cancelled += replies.front().error().code == Errc::cancelled;
      });
    }
  }
  server.resume();
  EXPECT_EQ(cancelled, 10);
}

}  // namespace
}  // namespace guestlist
