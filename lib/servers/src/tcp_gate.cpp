#include "guestlist/servers/tcp_gate.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "gate_connection.hpp"
#include "guestlist/servers/free_port.hpp"

namespace guestlist::servers {
namespace {

constexpr int backlog = 128;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

ResetSocket new_socket() {
  return ResetSocket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void send_at_once(const ResetSocket& socket) {
  const int yes = 1;
  ::setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

ResetSocket listener(std::uint16_t port) {
  ResetSocket socket = new_socket();
  const int yes = 1;
  ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = loopback(port);
  if (::bind(socket.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
          0 ||
      ::listen(socket.descriptor(), backlog) != 0) {
    return ResetSocket();
  }
  return socket;
}

}  // namespace

/// Everything is behind one mutex, which the thread gives up only to sleep: what a caller changes
/// holds for the next byte.
class TcpGate::Loop {
 public:
  Loop(ResetSocket listening, std::uint16_t port, std::uint16_t server_port)
      : port_(port),
        server_port_(server_port),
        listening_(std::move(listening)),
        wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
        thread_([this] { run(); }) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    change([this] { stopping_ = true; });
    thread_.join();
    ::close(wake_);
  }

  std::uint16_t port() const noexcept { return port_; }
  std::uint64_t accepted() const {
    const std::lock_guard lock(mutex_);
    return accepted_;
  }
  /// What a client has received is counted: the lock waits for the bytes that are on their way.
  std::uint64_t reply_bytes() const {
    const std::lock_guard lock(mutex_);
    return reply_bytes_;
  }

  void inject(const Faults& faults) {
    change([this, &faults] {
      // A socket that is bound and does not listen is what a refused connection meets.
      if (faults.refuse && !faults_.refuse) ::shutdown(listening_.descriptor(), SHUT_RDWR);
      if (!faults.refuse && faults_.refuse) ::listen(listening_.descriptor(), backlog);
      faults_ = faults;
      for (GateConnection& connection : connections_) connection.restart_counts();
    });
  }
  void reset_connections() {
    change([this] { connections_.clear(); });
  }
  void lose_servers() {
    change([this] {
      for (GateConnection& connection : connections_) connection.lose_server();
    });
  }

 private:
  template <class Change>
  void change(Change what) {
    const std::lock_guard lock(mutex_);
    what();
    const std::uint64_t one = 1;
    (void)!::write(wake_, &one, sizeof one);
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      Wait wait;
      wait.for_event(wake_, POLLIN);
      accept_clients(wait);
      advance_connections(wait);
      lock.unlock();
      sleep(wait);
      lock.lock();
      std::uint64_t ignored = 0;
      (void)!::read(wake_, &ignored, sizeof ignored);
    }
  }

  void accept_clients(Wait& wait) {
    if (faults_.refuse) return;
    const sockaddr_in address = loopback(server_port_);
    for (;;) {
      ResetSocket client(
          ::accept4(listening_.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!client.is_open()) break;
      ++accepted_;
      // A server that cannot be reached shows when its socket is read.
      ResetSocket server = new_socket();
      (void)::connect(server.descriptor(), reinterpret_cast<const sockaddr*>(&address),
                      sizeof address);
      send_at_once(client);
      send_at_once(server);
      connections_.emplace_back(std::move(client), std::move(server));
    }
    wait.for_event(listening_.descriptor(), POLLIN);
  }

  void advance_connections(Wait& wait) {
    const TimePoint now = SteadyClock().now();
    std::erase_if(connections_, [&](GateConnection& connection) {
      return !connection.advance(faults_, now, wait, reply_bytes_);
    });
  }

  static void sleep(Wait& wait) {
    if (wait.until == TimePoint::max()) {
      ::poll(wait.events.data(), wait.events.size(), -1);
      return;
    }
    const auto span = std::max(Duration::zero(), wait.until - SteadyClock().now()).count();
    const timespec limit{span / 1'000'000'000, span % 1'000'000'000};
    ::ppoll(wait.events.data(), wait.events.size(), &limit, nullptr);
  }

  const std::uint16_t port_;
  const std::uint16_t server_port_;

  mutable std::mutex mutex_;
  bool stopping_ = false;
  std::uint64_t accepted_ = 0;
  std::uint64_t reply_bytes_ = 0;
  Faults faults_;
  ResetSocket listening_;
  std::list<GateConnection> connections_;
  const int wake_;
  /// Last, for it uses all the others.
  std::thread thread_;
};

Result<TcpGate> TcpGate::open(std::uint16_t server_port) {
  constexpr int attempts = 5;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto port = free_port();
    if (!port) return fail(port.error());
    ResetSocket listening = listener(*port);
    if (!listening.is_open()) continue;
    return TcpGate(std::make_unique<Loop>(std::move(listening), *port, server_port));
  }
  return fail(errno_error(Errc::unavailable, "no port of 127.0.0.1 could be listened on"));
}

TcpGate::TcpGate(std::unique_ptr<Loop> loop) noexcept : loop_(std::move(loop)) {}
TcpGate::TcpGate(TcpGate&& other) noexcept = default;
TcpGate& TcpGate::operator=(TcpGate&& other) noexcept = default;
TcpGate::~TcpGate() = default;

std::uint16_t TcpGate::port() const noexcept {
  return loop_->port();
}
std::uint64_t TcpGate::connections_accepted() const {
  return loop_->accepted();
}
std::uint64_t TcpGate::reply_bytes() const {
  return loop_->reply_bytes();
}
void TcpGate::inject(Faults faults) {
  loop_->inject(faults);
}
void TcpGate::reset_connections() {
  loop_->reset_connections();
}
void TcpGate::lose_servers() {
  loop_->lose_servers();
}

}  // namespace guestlist::servers
