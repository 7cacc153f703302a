#include "guestlist/http/http_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <thread>

#include "guestlist/http/http_client.hpp"
#include "raw_peer.hpp"
#include "smuggling_corpus.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;

HttpServer::Handler echo() {
  return [](HttpRequest request, HttpServer::Respond respond) {
    respond({200, request.method + " " + request.target + " " + request.body, "text/plain", {}});
  };
}

HttpServerOptions quick() {
  HttpServerOptions options;
  options.idle_timeout = 300ms;
  options.header_timeout = 300ms;
  options.drain_timeout = 2s;
  options.max_body_bytes = 1000;
  return options;
}

/// Sends bytes as they are and returns all that comes until the server closes.
std::string exchange(std::uint16_t port, std::string_view bytes) {
  Peer peer(port);
  peer.send(bytes);
  return peer.receive_all();
}

TEST(HttpServer, AnswersManyRequestsOnOneConnection) {
  const auto server = HttpServer::start({}, echo());
  ASSERT_TRUE(server);
  auto client = HttpClient::connect("127.0.0.1", (*server)->port(), 2s);
  ASSERT_TRUE(client);
  for (int i = 0; i < 100; ++i) {
    const auto answer = client->send({"POST", "/x?y=%20", std::to_string(i)});
    ASSERT_TRUE(answer);
    EXPECT_EQ("POST /x?y=%20 " + std::to_string(i), answer->body);
  }
  EXPECT_EQ(1u, (*server)->connections());
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  const auto server = HttpServer::start(quick(), echo());
  const std::string answer =
      exchange((*server)->port(),
               "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n"
               "Connection: close\r\n\r\n");
  const auto first = answer.find("GET /1");
  ASSERT_NE(std::string::npos, first);
  EXPECT_NE(std::string::npos, answer.find("GET /2", first));
}

TEST(HttpServer, LetsAHandlerAnswerLaterFromAnotherThread) {
  std::mutex mutex;
  std::vector<std::jthread> threads;
  const auto server = HttpServer::start(quick(), [&](HttpRequest, HttpServer::Respond respond) {
    const std::lock_guard lock(mutex);
    threads.emplace_back([respond] {
      std::this_thread::sleep_for(400ms);  // longer than a connection may idle
      respond({201, "late", "text/plain", {}});
    });
  });
  auto client = HttpClient::connect("127.0.0.1", (*server)->port(), 2s);
  EXPECT_EQ(201u, client->send({})->status);
}

TEST(HttpServer, AnswersWhatIsAmbiguousOrTooLargeWithARefusalAndCloses) {
  const auto server = HttpServer::start(quick(), echo());
  for (const Ambiguous& one : smuggling_corpus()) {
    // What comes after a refused request is never read as a request.
    const std::string answer =
        exchange((*server)->port(), one.bytes + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(0u, answer.find("HTTP/1.1 " + std::to_string(one.status))) << one.name << answer;
    EXPECT_EQ(std::string::npos, answer.find("smuggled")) << one.name << answer;
    EXPECT_NE(std::string::npos, answer.find("Connection: close")) << one.name << answer;
  }
}

TEST(HttpServer, GoesOnWithVerdictsUnderSlowPeersAndManyIdleOnes) {
  HttpServerOptions options = quick();
  options.idle_timeout = 20s;
  const auto server = HttpServer::start(options, echo());
  std::vector<Peer> slow;
  for (int i = 0; i < 200; ++i) slow.emplace_back((*server)->port()).send("GET / HTTP/1.1\r\nX");
  std::vector<Peer> idle;
  for (int i = 0; i < 800; ++i) idle.emplace_back((*server)->port());
  auto client = HttpClient::connect("127.0.0.1", (*server)->port(), 5s);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(client->send({}));
  for (Peer& peer : slow) EXPECT_EQ("", peer.receive_all());
  ASSERT_TRUE(client->send({}));
  EXPECT_GE((*server)->connections(), 800u);
}

TEST(HttpServer, ClosesAfterTheRequestsThatOneConnectionMayMake) {
  HttpServerOptions options = quick();
  options.max_requests_per_connection = 3;
  const auto server = HttpServer::start(options, echo());
  std::string requests;
  for (int i = 0; i < 5; ++i)
    requests += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string answer = exchange((*server)->port(), requests);
  EXPECT_NE(std::string::npos, answer.find("GET /2"));
  EXPECT_EQ(std::string::npos, answer.find("GET /3"));
  EXPECT_NE(std::string::npos, answer.find("Connection: close"));
}

TEST(HttpServer, Says503WhereTheHandlerDoesNotAnswerInTime) {
  HttpServerOptions options = quick();
  options.answer_timeout = 100ms;
  std::vector<HttpServer::Respond> kept;
  const auto server = HttpServer::start(options, [&](HttpRequest, HttpServer::Respond respond) {
    kept.push_back(std::move(respond));
  });
  EXPECT_EQ(0u,
            exchange((*server)->port(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n").find("HTTP/1.1 503"));
  kept.front()({200, "late", "text/plain", {}});
}

TEST(HttpServer, DropsAPeerThatDoesNotTakeItsAnswer) {
  HttpServerOptions options = quick();
  options.write_timeout = 200ms;
  const auto server = HttpServer::start(options, [](HttpRequest, HttpServer::Respond respond) {
    respond({200, std::string(32 << 20, 'x'), "text/plain", {}});
  });
  Peer peer((*server)->port());
  peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return (*server)->connections() == 1; }));
  EXPECT_TRUE(eventually([&] { return (*server)->connections() == 0; }));
}

TEST(HttpServer, AsksForTheBodyOfWhoeverWaitsForThat) {
  const auto server = HttpServer::start(quick(), echo());
  Peer peer((*server)->port());
  peer.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ("HTTP/1.1 100 Continue\r\n\r\n", peer.receive_until("\r\n\r\n"));
  peer.send("ab");
  EXPECT_NE(std::string::npos, peer.receive_until("POST / ab").find("200 OK"));
}

TEST(HttpServer, LetsAFastHandlerAnswerWithoutACopy) {
  const PreparedResponse prepared({404, "gone", "text/plain", {{"X-Fast", "yes"}}});
  const auto server = HttpServer::start(
      quick(), echo(), [&](const HttpRequestView& request, const HttpServer::Respond& respond) {
        if (request.target != "/fast") return false;
        respond(prepared);
        return true;
      });
  auto client = HttpClient::connect("127.0.0.1", (*server)->port(), 2s);
  const auto fast = client->send({.target = "/fast"});
  ASSERT_TRUE(fast);
  EXPECT_EQ(404u, fast->status);
  EXPECT_EQ("gone", fast->body);
  EXPECT_EQ("GET /slow ", client->send({.target = "/slow"})->body);
}

TEST(HttpServer, LetsNobodyBreakIntoAHeader) {
  const auto server = HttpServer::start(quick(), [](HttpRequest, HttpServer::Respond respond) {
    respond({200, "", "text/plain", {{"X-Echo", "a\r\nX-Evil: b"}}});
  });
  EXPECT_EQ(std::string::npos,
            exchange((*server)->port(), "GET / HTTP/1.0\r\n\r\n").find("X-Evil"));
}

TEST(HttpServer, ClosesConnectionsThatDribbleOrIdle) {
  const auto server = HttpServer::start(quick(), echo());
  EXPECT_EQ("", exchange((*server)->port(), "GET / HTTP/1.1\r\nHo"));
  EXPECT_EQ("", exchange((*server)->port(), ""));
}

TEST(HttpServer, ClosesConnectionsAboveTheLimitAndServesTheOthers) {
  HttpServerOptions options;
  options.max_connections = 2;
  const auto server = HttpServer::start(options, echo());
  auto first = HttpClient::connect("127.0.0.1", (*server)->port(), 1s);
  auto second = HttpClient::connect("127.0.0.1", (*server)->port(), 1s);
  ASSERT_TRUE(first->send({}));
  ASSERT_TRUE(second->send({}));
  auto third = HttpClient::connect("127.0.0.1", (*server)->port(), 1s);
  EXPECT_FALSE(third && third->send({}));
  EXPECT_TRUE(first->send({}));
}

TEST(HttpServer, AnswersWhatIsUnderWayBeforeItStops) {
  std::latch asked(1);
  auto server = HttpServer::start(quick(), [&](HttpRequest, HttpServer::Respond respond) {
    asked.count_down();
    std::this_thread::sleep_for(100ms);
    respond({200, "drained", "text/plain", {}});
  });
  auto client = HttpClient::connect("127.0.0.1", (*server)->port(), 5s);
  std::jthread stopper([&] {
    asked.wait();
    server->reset();
  });
  const auto answer = client->send({});
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ("drained", answer->body);
}

TEST(HttpServer, SurvivesAnswersThatComeAfterItStopped) {
  HttpServer::Respond late;
  std::latch asked(1);
  HttpServerOptions options = quick();
  options.drain_timeout = 10ms;
  {
    auto server = HttpServer::start(options, [&](HttpRequest, HttpServer::Respond respond) {
      late = std::move(respond);
      asked.count_down();
    });
    std::jthread([port = (*server)->port()] {
      auto client = HttpClient::connect("127.0.0.1", port, 200ms);
      EXPECT_FALSE(client->send({}));
    }).join();
    asked.wait();
  }
  late({});
}

TEST(HttpServer, SaysWhyItCannotListen) {
  const auto server = HttpServer::start({}, echo());
  HttpServerOptions taken;
  taken.port = (*server)->port();
  const auto second = HttpServer::start(taken, echo());
  ASSERT_FALSE(second);
  EXPECT_NE(std::string::npos, second.error().message().find("cannot listen on 127.0.0.1:"));
  HttpServerOptions nowhere;
  nowhere.address = "not an address";
  EXPECT_FALSE(HttpServer::start(nowhere, echo()));
}

TEST(HttpServer, ServesManyConnectionsAtOnce) {
  const auto server = HttpServer::start({}, echo());
  std::atomic<int> answered = 0;
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 16; ++i) {
      clients.emplace_back([&] {
        auto client = HttpClient::connect("127.0.0.1", (*server)->port(), 5s);
        for (int n = 0; client && n < 200; ++n) {
          if (const auto answer = client->send({}); answer && answer->status == 200) ++answered;
        }
      });
    }
  }
  EXPECT_EQ(16 * 200, answered);
}

TEST(PercentCoding, RoundTripsAndRefusesWhatIsNoCode) {
  EXPECT_EQ("g%2b%2b%2d%2f", percent_encode("g++") + "%2d%2f");
  EXPECT_EQ("g++ /", percent_decode("g%2B%2b%20%2F"));
  EXPECT_FALSE(percent_decode("%"));
  EXPECT_FALSE(percent_decode("%4"));
  EXPECT_FALSE(percent_decode("%zz"));
}

}  // namespace
}  // namespace guestlist
