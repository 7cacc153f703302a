#include "guestlist/http/http_server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <thread>

#include "guestlist/http/http_client.hpp"

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
  options.drain_timeout = 2s;
  options.max_body_bytes = 1000;
  return options;
}

/// Sends bytes as they are and returns all that comes until the server closes or 2 s have passed.
std::string exchange(std::uint16_t port, std::string_view bytes) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  const timeval limit{2, 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    char buffer[4096];
    for (ssize_t n = 0; (n = ::recv(descriptor, buffer, sizeof buffer, 0)) > 0;) {
      answer.append(buffer, static_cast<std::size_t>(n));
    }
  }
  ::close(descriptor);
  return answer;
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

TEST(HttpServer, RefusesWhatIsAmbiguousOrTooLarge) {
  const auto server = HttpServer::start(quick(), echo());
  const std::string host = " HTTP/1.1\r\nHost: a\r\n";
  const std::string requests[] = {
      "POST /" + host + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /" + host + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
      "POST /" + host + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
      "POST /" + host + "Content-Length: +4\r\n\r\nabcd",
      "POST /" + host + "Content-Length: 2000\r\n\r\n",
      "GET / HTTP/1.1\nHost: a\n\n",
      "GET /" + host + "X: " + std::string(20'000, 'x') + "\r\n\r\n",
      "nonsense\r\n\r\n",
      std::string("\0\0\0\0\r\n\r\n", 8),
  };
  for (const std::string& request : requests) {
    const std::string answer = exchange((*server)->port(), request);
    EXPECT_EQ(0u, answer.find("HTTP/1.1 400")) << request.substr(0, 120) << "\n-> " << answer;
  }
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
