#pragma once

// A client that sends any bytes, and waits for what a test expects.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace guestlist {

inline constexpr std::chrono::seconds patience{20};

/// Whether `condition` holds before a deadline that only a broken program misses.
template <class Condition>
bool eventually(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

class Peer {
 public:
  explicit Peer(std::uint16_t port, int receive_buffer = 0)
      : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval limit{patience.count(), 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (receive_buffer > 0)
      ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) close();
  }
  Peer(Peer&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Peer& operator=(Peer&&) = delete;
  ~Peer() { close(); }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// All that comes until the other side closes.
  std::string receive_all() { return receive_until({}); }
  /// All that comes until `mark` has come, or the other side closes.
  std::string receive_until(std::string_view mark) {
    std::string text;
    char buffer[4096];
    while (mark.empty() || text.find(mark) == std::string::npos) {
      const ssize_t size = ::recv(descriptor_, buffer, sizeof buffer, 0);
      if (size <= 0) break;
      text.append(buffer, static_cast<std::size_t>(size));
    }
    return text;
  }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

}  // namespace guestlist
