#include "request_reader.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "smuggling_corpus.hpp"

namespace guestlist::http {
namespace {

using State = RequestReader::State;

/// Gives the reader `bytes` in pieces of `piece` bytes, until it has come to a state.
State feed(RequestReader& reader, std::string_view bytes, std::size_t piece) {
  State state = reader.read();
  while (!bytes.empty() && state == State::needs_more) {
    const auto room = reader.room();
    const std::size_t size = std::min({piece, bytes.size(), room.size()});
    std::memcpy(room.data(), bytes.data(), size);
    reader.received(size);
    bytes.remove_prefix(size);
    state = reader.read();
  }
  return state;
}

TEST(RequestReader, RefusesWhatIsAmbiguousHoweverItArrives) {
  for (const Ambiguous& one : smuggling_corpus()) {
    for (const std::size_t piece : {1, 2, 3, 7, 4096, 100'000}) {
      RequestReader reader(16 * 1024, 1000);
      EXPECT_EQ(State::refused, feed(reader, one.bytes, piece)) << one.name << " by " << piece;
      EXPECT_EQ(one.status, reader.refusal()) << one.name;
    }
  }
}

TEST(RequestReader, ReadsRequestsHoweverTheyArrive) {
  const std::string bytes =
      "POST /a HTTP/1.1\r\nHost: a\r\nX-Empty:\r\nContent-Length: 5\r\n\r\nhello"
      "PUT /b?c HTTP/1.1\r\nhost:b\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\nA\r\n"
      "0123456789\r\n0\r\n\r\n"
      "GET /c HTTP/1.0\r\n\r\n"
      "GET /" +
      std::string(9000, 'x') + " HTTP/1.1\r\nHost: d\r\nConnection: close\r\n\r\n";
  for (std::size_t piece = 1; piece < bytes.size(); piece += 1 + piece / 8) {
    RequestReader reader(16 * 1024, 1000);
    std::vector<HttpRequest> requests;
    std::vector<bool> keeps_alive;
    std::string_view left = bytes;
    while (requests.size() < 4) {
      State state = reader.read();
      if (state == State::needs_more) {
        ASSERT_FALSE(left.empty()) << piece;
        const auto room = reader.room();
        const std::size_t size = std::min({piece, left.size(), room.size()});
        std::memcpy(room.data(), left.data(), size);
        reader.received(size);
        left.remove_prefix(size);
        continue;
      }
      ASSERT_EQ(State::complete, state) << piece;
      requests.push_back(reader.request().owned());
      keeps_alive.push_back(reader.keeps_alive());
      reader.next();
    }
    EXPECT_EQ("hello", requests[0].body);
    EXPECT_EQ("", requests[0].field("x-empty"));
    EXPECT_EQ("5", requests[0].field("Content-Length"));
    EXPECT_EQ("abc0123456789", requests[1].body);
    EXPECT_EQ("/b?c", requests[1].target);
    EXPECT_EQ("b", requests[1].field("Host"));
    EXPECT_EQ("/c", requests[2].target);
    EXPECT_EQ(9001u, requests[3].target.size());
    EXPECT_EQ("d", requests[3].field("Host"));
    EXPECT_EQ((std::vector<bool>{true, true, false, false}), keeps_alive);
  }
}

TEST(RequestReader, KeepsItsBufferSmallForAnyNumberOfRequests) {
  RequestReader reader(1024, 1000);
  const std::string request = "GET /abcdefg HTTP/1.1\r\nHost: a\r\n\r\n";
  std::string stream;
  for (int i = 0; i < 1000; ++i) stream += request;
  std::string_view left = stream;
  int complete = 0;
  while (complete < 1000) {
    if (reader.read() == State::complete) {
      ++complete;
      reader.next();
      continue;
    }
    const auto room = reader.room();
    ASSERT_LE(room.size(), 8192u);
    const std::size_t size = std::min(room.size(), left.size());
    std::memcpy(room.data(), left.data(), size);
    reader.received(size);
    left.remove_prefix(size);
  }
}

}  // namespace
}  // namespace guestlist::http
