#pragma once

// One client's connection through a TcpGate: two sockets and the two streams of bytes between them.
// Sockets never block; `advance` moves what can move now, and says when and for what to call again.
//
// Distinct objects: safe. Shared objects: one thread at a time.

#include <poll.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "guestlist/servers/tcp_gate.hpp"

namespace guestlist::servers {

/// A socket that is reset, not closed in order, when it goes: the peer sees what a crash looks
/// like.
class ResetSocket {
 public:
  explicit ResetSocket(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  ResetSocket(ResetSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  ResetSocket& operator=(ResetSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ResetSocket(const ResetSocket&) = delete;
  ResetSocket& operator=(const ResetSocket&) = delete;
  ~ResetSocket();

  int descriptor() const noexcept { return descriptor_; }
  bool is_open() const noexcept { return descriptor_ >= 0; }
  /// Ends in order, so that the peer reads the end and no error.
  void close() noexcept;

 private:
  int descriptor_;
};

/// What a loop waits for before it advances its connections again.
struct Wait {
  std::vector<pollfd> events;
  TimePoint until = TimePoint::max();

  void for_event(int descriptor, short event) { events.push_back({descriptor, event, 0}); }
  void for_time(TimePoint at) { until = std::min(until, at); }
};

class GateConnection {
 public:
  GateConnection(ResetSocket client, ResetSocket server) noexcept
      : client_(std::move(client)), server_(std::move(server)) {}

  /// Moves what the faults let move at `now`, adds what it waits for, and counts the bytes of
  /// replies. False once the connection is over.
  bool advance(const Faults& faults, TimePoint now, Wait& wait, std::uint64_t& reply_bytes);
  /// Faults count bytes from here on.
  void restart_counts() noexcept { requests_.passed = replies_.passed = 0; }
  /// The server's side is reset; the client's stays.
  void lose_server() { server_ = ResetSocket(); }

 private:
  struct Chunk {
    TimePoint due;
    std::string bytes;
  };
  struct Stream {
    std::deque<Chunk> chunks;
    std::size_t waiting = 0;
    std::uint64_t passed = 0;
    TimePoint next_slice = TimePoint::min();
    bool ended = false;
    bool end_was_passed = false;
  };
  /// The part of Faults that holds for one direction.
  struct Rules {
    bool hold;
    Duration delay;
    std::size_t slice;
    std::optional<std::uint64_t> close_after;
    std::optional<std::uint64_t> corrupt;
  };

  static bool has_room(const Stream& stream, const Rules& rules);
  static bool take_in(Stream& stream, int from, const Rules& rules, TimePoint now);
  static bool hand_out(Stream& stream, int to, const Rules& rules, TimePoint now, Wait& wait);
  bool swallow_requests(Wait& wait);

  ResetSocket client_;
  ResetSocket server_;
  Stream requests_;
  Stream replies_;
};

}  // namespace guestlist::servers
