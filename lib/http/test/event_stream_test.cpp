#include <gtest/gtest.h>

#include <mutex>

#include "guestlist/http/http_server.hpp"
#include "raw_peer.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;

class EventStreamTest : public testing::Test {
 protected:
  explicit EventStreamTest(HttpServerOptions options = {}) {
    server_ = *HttpServer::start(options, [this](HttpRequest, HttpServer::Respond respond) {
      const std::lock_guard lock(mutex_);
      stream_ = respond.stream();
    });
  }
  EventStream stream() {
    EXPECT_TRUE(eventually([this] {
      const std::lock_guard lock(mutex_);
      return stream_.is_open();
    }));
    const std::lock_guard lock(mutex_);
    return std::exchange(stream_, {});
  }
  Peer listen() {
    Peer peer(server_->port(), 4096);
    peer.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n");
    return peer;
  }

  std::mutex mutex_;
  EventStream stream_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(EventStreamTest, PushesEventsFromAnyThread) {
  Peer peer = listen();
  {
    const EventStream stream = this->stream();
    EXPECT_TRUE(stream.send("", "one"));
    EXPECT_TRUE(stream.send("state", "two\nlines"));
  }
  const std::string text = peer.receive_all();
  EXPECT_EQ(0u, text.find("HTTP/1.1 200 OK\r\n"));
  EXPECT_NE(std::string::npos, text.find("Content-Type: text/event-stream\r\n"));
  EXPECT_TRUE(text.ends_with("\r\n\r\ndata: one\n\nevent: state\ndata: two\ndata: lines\n\n"));
}

TEST_F(EventStreamTest, EndsWhereTheReaderLeaves) {
  Peer peer = listen();
  const EventStream stream = this->stream();
  peer.close();
  EXPECT_TRUE(eventually([&] { return !stream.is_open(); }));
  EXPECT_FALSE(stream.send("", "to nobody"));
}

TEST_F(EventStreamTest, DropsAReaderThatIsTooSlow) {
  Peer peer = listen();
  const EventStream stream = this->stream();
  const std::string large(64 * 1024, 'x');
  int sent = 0;
  while (stream.send("", large)) ASSERT_LT(++sent, 10'000);
  EXPECT_FALSE(stream.is_open());
  EXPECT_TRUE(eventually([&] { return server_->connections() == 0; }));
}

TEST_F(EventStreamTest, EndsWithTheServer) {
  Peer peer = listen();
  const EventStream stream = this->stream();
  const auto before = std::chrono::steady_clock::now();
  server_->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, HttpServerOptions().drain_timeout);
  EXPECT_FALSE(stream.send("", "late"));
  server_.reset();
  EXPECT_FALSE(stream.send("", "later"));
}

TEST_F(EventStreamTest, AnswersHeadWithoutAStream) {
  Peer peer(server_->port());
  peer.send("HEAD /events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_NE(std::string::npos, peer.receive_all().find("text/event-stream"));
}

class QuietStreamTest : public EventStreamTest {
 protected:
  static HttpServerOptions impatient() {
    HttpServerOptions options;
    options.idle_timeout = 100ms;
    return options;
  }
  QuietStreamTest() : EventStreamTest(impatient()) {}
};

TEST_F(QuietStreamTest, LivesLongerThanAConnectionMayIdle) {
  Peer peer = listen();
  const EventStream stream = this->stream();
  EXPECT_NE(std::string::npos, peer.receive_until(":\n\n:\n\n:\n\n").find(":\n\n:\n\n"));
  EXPECT_TRUE(stream.send("", "still here"));
  EXPECT_NE(std::string::npos, peer.receive_until("still here").find("still here"));
}

}  // namespace
}  // namespace guestlist
