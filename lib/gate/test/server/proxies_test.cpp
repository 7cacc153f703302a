#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "fake_membership.hpp"
#include "guestlist/gate/proxy_gate.hpp"
#include "guestlist/http/http_client.hpp"
#include "guestlist/http/http_server.hpp"
#include "guestlist/servers/free_port.hpp"
#include "guestlist/servers/proxy_server.hpp"
#include "guestlist/servers/required.hpp"

// The configurations that are shipped, run by the real proxies.

namespace guestlist {
namespace {

using namespace std::chrono_literals;
using servers::ProxyKind;
using servers::required;

std::string shipped(const std::string& name) {
  std::ifstream file(std::string(GUESTLIST_PROXIES) + "/" + name, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

std::string replaced(std::string text, const std::string& old, std::uint16_t port) {
  const std::string now = "127.0.0.1:" + std::to_string(port);
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += now.size())
    text.replace(at, old.size(), now);
  return text;
}

/// Answers whoever connects with the same bytes, whatever they ask.
class Babbler {
 public:
  explicit Babbler(std::string bytes) : bytes_(std::move(bytes)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(listener_, 64);
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      for (int peer; (peer = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(peer)) {
        char buffer[4096];
        if (::recv(peer, buffer, sizeof buffer, 0) > 0)
          ::send(peer, bytes_.data(), bytes_.size(), MSG_NOSIGNAL);
      }
    });
  }
  ~Babbler() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  Babbler(const Babbler&) = delete;
  Babbler& operator=(const Babbler&) = delete;
  std::uint16_t port() const noexcept { return port_; }

 private:
  const std::string bytes_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

class Proxies : public testing::TestWithParam<ProxyKind> {
 protected:
  Proxies() {
    const std::vector<std::string_view> present = {"7"};
    membership_.add(present, Deadline::never(), [](const Result<void>&) {});
    RouteSpec route{.match = "/products/{id}", .filter = "ids"};
    route.mode = Mode::enforce;
    gate_ = ProxyGate::make(*RouteTable::make({route}, [this](const std::string&) {
      return std::make_shared<GatedFilter>("ids", std::vector{KeyType::integer}, false,
                                           membership_);
    }));
    gate_server_ = *HttpServer::start(
        {},
        [](HttpRequest, HttpServer::Respond respond) {
          respond({400, "", "", {}});
        },
        [this](const HttpRequestView& request, const HttpServer::Respond& respond) {
          if (is_slow_) {
            const std::lock_guard lock(mutex_);
            kept_.push_back(respond);
            return true;
          }
          return gate_->answer(request, Deadline::never(), respond);
        });
    upstream_ = *HttpServer::start({}, [this](HttpRequest request, HttpServer::Respond respond) {
      ++asked_;
      HttpResponse response{request.target == "/forbidden" ? 403u : 200u,
                            request.method + " " + request.target + "\n" + request.body,
                            "application/x-anything",
                            {{"X-Upstream", "yes"}, {"ETag", "\"1\""}}};
      for (int i = 0; i < 100'000; ++i) response.body += static_cast<char>(i * 7);
      respond(std::move(response));
    });
  }

  void start(std::uint16_t gate_port) {
    const bool is_nginx = GetParam() == ProxyKind::nginx;
    const std::uint16_t port = required(servers::free_port());
    servers::ProxyOptions options{GetParam(), {}, port};
    const std::vector<std::string> names =
        is_nginx ? std::vector<std::string>{"nginx.conf"}
                 : std::vector<std::string>{"haproxy.cfg", "haproxy.lua"};
    for (const std::string& name : names) {
      std::string text = shipped(name);
      text = replaced(std::move(text), "127.0.0.1:8700", gate_port);
      text = replaced(std::move(text), "127.0.0.1:8080", upstream_->port());
      text = replaced(std::move(text), "127.0.0.1:8000", port);
      options.files.emplace_back(name, std::move(text));
    }
    proxy_.emplace(required(servers::ProxyServer::start(options)));
  }
  HttpResponse ask(const HttpRequest& request) {
    auto client = HttpClient::connect("127.0.0.1", proxy_->port(), 20s);
    auto answer = client ? client->send(request) : Result<HttpResponse>(fail(client.error()));
    EXPECT_TRUE(answer) << answer.error().message() << proxy_->log();
    return answer ? *answer : HttpResponse{};
  }
  void expect_all_pass() {
    for (const std::string target :
         {"/products/8", "/products/7", "/a%2Fb/../c//d%252Fe;x=1?y=%20"}) {
      const int before = asked_;
      const HttpResponse answer = ask({.target = target});
      EXPECT_EQ(200u, answer.status) << target << proxy_->log();
      EXPECT_TRUE(answer.body.starts_with("GET " + target + "\n")) << answer.body.substr(0, 100);
      EXPECT_EQ(before + 1, asked_) << target;
    }
    EXPECT_TRUE(ask({.method = "POST", .target = "/products/8", .body = "{}"})
                    .body.starts_with("POST /products/8\n{}"));
  }

  fake::FakeMembership membership_;
  std::shared_ptr<const ProxyGate> gate_;
  std::mutex mutex_;
  std::vector<HttpServer::Respond> kept_;
  std::atomic<bool> is_slow_ = false;
  std::atomic<int> asked_ = 0;
  std::unique_ptr<HttpServer> upstream_;
  std::unique_ptr<HttpServer> gate_server_;
  std::optional<servers::ProxyServer> proxy_;
};

TEST_P(Proxies, RejectWhatIsAbsentAtNoCostToTheUpstream) {
  start(gate_server_->port());
  for (int i = 0; i < 50; ++i) {
    const HttpResponse answer = ask({.target = "/products/" + std::to_string(100 + i)});
    EXPECT_EQ(404u, answer.status) << proxy_->log();
    EXPECT_EQ(R"({"error":"not found"})", answer.body);
    EXPECT_TRUE(std::ranges::any_of(answer.fields,
                                    [](const auto& field) { return field.second == "no-store"; }));
  }
  EXPECT_EQ(0, asked_);
}

TEST_P(Proxies, LeaveValidTrafficUnchangedByteForByte) {
  start(gate_server_->port());
  auto direct = HttpClient::connect("127.0.0.1", upstream_->port(), 20s);
  for (const HttpRequest& request : {
           HttpRequest{.target = "/products/7"},
           HttpRequest{.target = "/products/%37?a=b%20c&d=%2F"},
           HttpRequest{.target = "/a%2Fb/../c//d%252Fe;x=1?y"},
           HttpRequest{.target = "/forbidden"},
           HttpRequest{.method = "POST", .target = "/products/8", .body = "{\"a\":1}"},
           HttpRequest{.method = "DELETE", .target = "/products/8"},
       }) {
    const HttpResponse through = ask(request);
    const auto expected = direct->send(request);
    ASSERT_TRUE(expected);
    EXPECT_EQ(expected->status, through.status) << request.target << proxy_->log();
    EXPECT_TRUE(expected->body == through.body) << request.target << through.body.substr(0, 200);
    EXPECT_EQ(expected->content_type, through.content_type);
    for (const char* name : {"X-Upstream", "ETag"}) {
      EXPECT_TRUE(std::ranges::any_of(through.fields, [&](const auto& field) {
        return ::strcasecmp(field.first.c_str(), name) == 0;
      })) << name;
    }
  }
}

TEST_P(Proxies, PassAllWhereTheGateIsSlow) {
  start(gate_server_->port());
  is_slow_ = true;
  const auto before = std::chrono::steady_clock::now();
  expect_all_pass();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
  is_slow_ = false;
  EXPECT_EQ(404u, ask({.target = "/products/8"}).status);
}

TEST_P(Proxies, PassAllWhereTheGateIsDead) {
  start(required(servers::free_port()));
  expect_all_pass();
}

TEST_P(Proxies, PassAllWhereTheGateAnswersGarbage) {
  for (const char* bytes :
       {"", "garbage\r\n\r\n", "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "\x16\x03\x01"}) {
    const Babbler babbler(bytes);
    start(babbler.port());
    SCOPED_TRACE(bytes);
    expect_all_pass();
    proxy_.reset();
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Proxies, testing::Values(ProxyKind::nginx, ProxyKind::haproxy),
                         [](const auto& kind) {
                           return kind.param == ProxyKind::nginx ? "nginx" : "haproxy";
                         });

}  // namespace
}  // namespace guestlist
