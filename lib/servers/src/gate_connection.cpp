#include "gate_connection.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace guestlist::servers {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t stream_limit_bytes = 256 << 10;
/// Long enough for a receiver on the same machine to read one slice before the next one comes.
constexpr Duration slice_pause = 50us;

using Buffer = std::array<char, 16 << 10>;

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

ResetSocket::~ResetSocket() {
  if (descriptor_ < 0) return;
  const linger at_once{1, 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(descriptor_);
}

void ResetSocket::close() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

bool GateConnection::advance(const Faults& faults, TimePoint now, Wait& wait,
                             std::uint64_t& reply_bytes) {
  if (!server_.is_open()) return swallow_requests(wait);
  const Rules for_requests{faults.hold_requests, faults.delay, faults.slice, {}, {}};
  const Rules for_replies{faults.hold_replies, faults.delay, faults.slice,
                          faults.close_after_reply_bytes, faults.corrupt_reply_byte};
  const int client = client_.descriptor();
  const int server = server_.descriptor();
  const std::uint64_t before = replies_.passed;
  const bool open = take_in(requests_, client, for_requests, now) &&
                    hand_out(requests_, server, for_requests, now, wait) &&
                    take_in(replies_, server, for_replies, now) &&
                    hand_out(replies_, client, for_replies, now, wait);
  reply_bytes += replies_.passed - before;
  if (open && requests_.end_was_passed && replies_.end_was_passed) {
    client_.close();
    server_.close();
    return false;
  }
  if (has_room(requests_, for_requests)) wait.for_event(client, POLLIN);
  if (has_room(replies_, for_replies)) wait.for_event(server, POLLIN);
  return open;
}

bool GateConnection::has_room(const Stream& stream, const Rules& rules) {
  return !rules.hold && !stream.ended && stream.waiting < stream_limit_bytes;
}

bool GateConnection::take_in(Stream& stream, int from, const Rules& rules, TimePoint now) {
  while (has_room(stream, rules)) {
    Buffer buffer;
    const ssize_t count = ::recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0) return would_block();
    if (count == 0) {
      stream.ended = true;
      return true;
    }
    const auto size = static_cast<std::size_t>(count);
    stream.chunks.push_back({now + rules.delay, std::string(buffer.data(), size)});
    stream.waiting += size;
  }
  return true;
}

bool GateConnection::hand_out(Stream& stream, int to, const Rules& rules, TimePoint now,
                              Wait& wait) {
  if (rules.hold) return true;
  while (!stream.chunks.empty()) {
    Chunk& chunk = stream.chunks.front();
    if (const TimePoint at = std::max(chunk.due, stream.next_slice); at > now) {
      wait.for_time(at);
      return true;
    }
    std::size_t size = chunk.bytes.size();
    if (rules.slice != 0) size = std::min(size, rules.slice);
    if (rules.close_after) {
      if (stream.passed >= *rules.close_after) return false;
      size = std::min<std::uint64_t>(size, *rules.close_after - stream.passed);
    }
    std::string piece = chunk.bytes.substr(0, size);
    if (rules.corrupt && *rules.corrupt >= stream.passed && *rules.corrupt - stream.passed < size) {
      char& byte = piece[*rules.corrupt - stream.passed];
      byte = static_cast<char>(~byte);
    }
    const ssize_t sent = ::send(to, piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (!would_block()) return false;
      wait.for_event(to, POLLOUT);
      return true;
    }
    const auto count = static_cast<std::size_t>(sent);
    stream.passed += count;
    stream.waiting -= count;
    if (count == chunk.bytes.size()) {
      stream.chunks.pop_front();
    } else {
      chunk.bytes.erase(0, count);
    }
    if (rules.slice != 0) stream.next_slice = now + slice_pause;
    if (rules.close_after && stream.passed >= *rules.close_after) return false;
  }
  if (stream.ended && !stream.end_was_passed) {
    ::shutdown(to, SHUT_WR);
    stream.end_was_passed = true;
  }
  return true;
}

bool GateConnection::swallow_requests(Wait& wait) {
  Buffer buffer;
  ssize_t count = 0;
  while ((count = ::recv(client_.descriptor(), buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0) {
  }
  wait.for_event(client_.descriptor(), POLLIN);
  return count < 0 && would_block();
}

}  // namespace guestlist::servers
