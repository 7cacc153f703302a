#pragma once

// A TCP gate in front of a server, in the test's own process: it lets bytes pass, or does to them
// what networks do. Give the client the gate's port, then `inject` faults and `heal` them while the
// connection lives.
//
// Cost: one thread that sleeps in poll; about 20 us a round trip. Not for measuring throughput.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "guestlist/base/clock.hpp"
#include "guestlist/base/result.hpp"

namespace guestlist::servers {

/// What the gate does. The default lets everything pass; faults combine.
struct Faults {
  /// New connections are refused, as by a machine on which nothing listens. Those that are open
  /// stay.
  bool refuse = false;
  /// What the client sends stays in the gate until this is healed: the server never hears of it.
  /// With `hold_replies`, a network that hangs; new connections are accepted all the same.
  bool hold_requests = false;
  /// What the server answers stays in the gate until this is healed: the command was carried out,
  /// and the client does not know.
  bool hold_replies = false;
  /// Every byte arrives this much later, in either direction. Throughput is not limited.
  Duration delay = Duration::zero();
  /// Bytes arrive in pieces of at most this many, with a pause in between, so that the receiver
  /// reads them one by one; 0 for as they come.
  std::size_t slice = 0;
  /// The client's connection is reset once this many bytes of replies went through, counted from
  /// when the fault was injected or the connection began.
  std::optional<std::uint64_t> close_after_reply_bytes = {};
  /// The byte of the replies with this index, counted likewise, arrives with all its bits flipped.
  std::optional<std::uint64_t> corrupt_reply_byte = {};
};

/// Distinct objects: safe. Shared objects: safe.
class TcpGate {
 public:
  /// Listens on a free port of 127.0.0.1 and connects each of its clients to `server_port` there; a
  /// client is reset where that fails. Errors: `unavailable`.
  static Result<TcpGate> open(std::uint16_t server_port);

  TcpGate(TcpGate&& other) noexcept;
  TcpGate& operator=(TcpGate&& other) noexcept;
  TcpGate(const TcpGate&) = delete;
  TcpGate& operator=(const TcpGate&) = delete;
  /// Resets what is open.
  ~TcpGate();

  std::uint16_t port() const noexcept;
  /// Accepted since the gate was opened.
  std::uint64_t connections_accepted() const;
  /// Of replies, handed to clients since the gate was opened.
  std::uint64_t reply_bytes() const;

  /// Replaces the faults of before, for open connections and new ones. In force when it returns.
  void inject(Faults faults);
  /// `inject` with no fault.
  void heal() { inject({}); }
  /// Resets every open connection, on both sides.
  void reset_connections();
  /// Every open connection becomes half open: the server's side is reset, and the client's stays
  /// open, takes what is sent and answers nothing, as when a machine loses its power.
  void lose_servers();

 private:
  class Loop;
  explicit TcpGate(std::unique_ptr<Loop> loop) noexcept;
  std::unique_ptr<Loop> loop_;
};

}  // namespace guestlist::servers
