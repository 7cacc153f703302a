#include "guestlist/servers/tcp_gate.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "guestlist/servers/redis_server.hpp"
#include "guestlist/servers/required.hpp"

namespace guestlist::servers {
namespace {

using namespace std::chrono_literals;

/// A client that speaks to Redis in bytes, so that a test sees what the network does to them.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int yes = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      connect_error_ = errno;
    }
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(socket_); }

  int connect_error() const { return connect_error_; }
  bool send(const std::string& bytes) const {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  /// What one read returns; errno tells of an error, EAGAIN of nothing within `at_most`.
  std::string receive(std::chrono::milliseconds at_most = 2000ms) const {
    const timeval limit{at_most.count() / 1000, at_most.count() % 1000 * 1000};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    char buffer[4096];
    errno = 0;
    const ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
    return count <= 0 ? "" : std::string(buffer, static_cast<std::size_t>(count));
  }
  std::string ask(const std::string& command) const {
    send(command + "\r\n");
    return receive();
  }

 private:
  int socket_;
  int connect_error_ = 0;
};

class TcpGateTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new RedisServer(required(RedisServer::start())); }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override { server_->command({"FLUSHALL"}); }

  static RedisServer* server_;
  TcpGate gate_ = required(TcpGate::open(server_->port()));
};

RedisServer* TcpGateTest::server_ = nullptr;

TEST_F(TcpGateTest, LetsEverythingPassAtFirst) {
  const Client client(gate_.port());
  EXPECT_EQ("+PONG\r\n", client.ask("PING"));
  EXPECT_EQ("+OK\r\n", client.ask("SET key value"));
  EXPECT_EQ("value", server_->command({"GET", "key"}).text);
  EXPECT_EQ(1u, gate_.connections_accepted());
  EXPECT_EQ(12u, gate_.reply_bytes());
}

TEST_F(TcpGateTest, CarriesMoreThanItsBuffersHold) {
  const Client client(gate_.port());
  const std::string value(3'000'000, 'v');
  server_->command({"SET", "key", value});
  std::string reply = client.ask("GET key");
  const std::string expected = "$3000000\r\n" + value + "\r\n";
  while (reply.size() < expected.size()) {
    const std::string more = client.receive();
    ASSERT_FALSE(more.empty());
    reply += more;
  }
  EXPECT_EQ(expected, reply);
}

TEST_F(TcpGateTest, RefusesNewConnectionsUntilItIsHealed) {
  const Client before(gate_.port());
  EXPECT_EQ("+PONG\r\n", before.ask("PING"));
  gate_.inject({.refuse = true});
  EXPECT_EQ(ECONNREFUSED, Client(gate_.port()).connect_error());
  EXPECT_EQ("+PONG\r\n", before.ask("PING"));
  gate_.heal();
  EXPECT_EQ("+PONG\r\n", Client(gate_.port()).ask("PING"));
}

TEST_F(TcpGateTest, ARequestThatIsHeldReachesTheServerWhenHealed) {
  gate_.inject({.hold_requests = true});
  const Client client(gate_.port());
  EXPECT_EQ(0, client.connect_error());
  client.send("SET key 1\r\n");
  EXPECT_EQ("", client.receive(50ms));
  EXPECT_EQ(EAGAIN, errno);
  EXPECT_TRUE(server_->command({"GET", "key"}).is_nil());
  gate_.heal();
  EXPECT_EQ("+OK\r\n", client.receive());
  EXPECT_EQ("1", server_->command({"GET", "key"}).text);
}

TEST_F(TcpGateTest, AReplyThatIsHeldBelongsToACommandThatWasCarriedOut) {
  gate_.inject({.hold_replies = true});
  const Client client(gate_.port());
  client.send("SET key 1\r\n");
  EXPECT_EQ("", client.receive(50ms));
  EXPECT_EQ("1", server_->command({"GET", "key"}).text);
  gate_.heal();
  EXPECT_EQ("+OK\r\n", client.receive());
}

TEST_F(TcpGateTest, DelaysBothDirections) {
  gate_.inject({.delay = 30ms});
  const Client client(gate_.port());
  const TimePoint before = SteadyClock().now();
  EXPECT_EQ("+PONG\r\n", client.ask("PING"));
  const Duration round_trip = SteadyClock().now() - before;
  EXPECT_GE(round_trip, 60ms);
  EXPECT_LT(round_trip, 1s);
}

TEST_F(TcpGateTest, SlicesArriveOneByOne) {
  gate_.inject({.slice = 1});
  const Client client(gate_.port());
  client.send("PING\r\n");
  std::string reply;
  int reads = 0;
  while (reply.size() < 7) {
    const std::string part = client.receive();
    ASSERT_FALSE(part.empty());
    reply += part;
    ++reads;
  }
  EXPECT_EQ("+PONG\r\n", reply);
  EXPECT_GE(reads, 3);
}

TEST_F(TcpGateTest, ResetsAfterTheAskedNumberOfReplyBytes) {
  const Client client(gate_.port());
  EXPECT_EQ("+PONG\r\n", client.ask("PING"));
  gate_.inject({.close_after_reply_bytes = 4});
  EXPECT_EQ("+PON", client.ask("PING"));
  EXPECT_EQ("", client.receive());
  EXPECT_EQ(ECONNRESET, errno);
  EXPECT_EQ("", Client(gate_.port()).ask("SET key 1").substr(4));
  EXPECT_EQ("1", server_->command({"GET", "key"}).text);
}

TEST_F(TcpGateTest, ResetsAtTheEndOfAReply) {
  gate_.inject({.close_after_reply_bytes = 7});
  const Client client(gate_.port());
  EXPECT_EQ("+PONG\r\n", client.ask("PING"));
  EXPECT_EQ("", client.receive());
  EXPECT_EQ(ECONNRESET, errno);
}

TEST_F(TcpGateTest, CorruptsOneByteOfTheReplies) {
  gate_.inject({.corrupt_reply_byte = 2});
  const Client client(gate_.port());
  std::string expected = "+PONG\r\n";
  expected[2] = static_cast<char>(~expected[2]);
  EXPECT_EQ(expected, client.ask("PING"));
  EXPECT_EQ("+PONG\r\n", client.ask("PING"));
}

TEST_F(TcpGateTest, FaultsCombine) {
  gate_.inject({.delay = 10ms, .slice = 2, .close_after_reply_bytes = 5});
  const Client client(gate_.port());
  client.send("PING\r\n");
  std::string reply;
  for (std::string part; !(part = client.receive()).empty();) reply += part;
  EXPECT_EQ("+PONG", reply);
  EXPECT_EQ(ECONNRESET, errno);
}

TEST_F(TcpGateTest, ResetsWhatIsOpen) {
  const Client client(gate_.port());
  EXPECT_EQ("+PONG\r\n", client.ask("PING"));
  gate_.reset_connections();
  EXPECT_EQ("", client.receive());
  EXPECT_EQ(ECONNRESET, errno);
  EXPECT_EQ("+PONG\r\n", Client(gate_.port()).ask("PING"));
}

TEST_F(TcpGateTest, AHalfOpenConnectionTakesRequestsAndAnswersNothing) {
  const Client client(gate_.port());
  EXPECT_EQ("+PONG\r\n", client.ask("PING"));
  gate_.lose_servers();
  EXPECT_TRUE(client.send("SET key 1\r\n"));
  EXPECT_EQ("", client.receive(50ms));
  EXPECT_EQ(EAGAIN, errno);
  EXPECT_TRUE(server_->command({"GET", "key"}).is_nil());
  EXPECT_EQ("+PONG\r\n", Client(gate_.port()).ask("PING"));
}

TEST_F(TcpGateTest, PassesTheEndOfAConnectionOn) {
  const Client client(gate_.port());
  EXPECT_EQ("+OK\r\n", client.ask("QUIT"));
  EXPECT_EQ("", client.receive());
  EXPECT_EQ(0, errno);
}

TEST_F(TcpGateTest, ResetsClientsOfAServerThatIsGone) {
  RedisServer mortal = required(RedisServer::start());
  const TcpGate gate = required(TcpGate::open(mortal.port()));
  mortal.kill();
  const Client client(gate.port());
  EXPECT_EQ("", client.receive());
  EXPECT_EQ(ECONNRESET, errno);
}

}  // namespace
}  // namespace guestlist::servers
