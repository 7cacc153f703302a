#include "guestlist/servers/free_port.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

namespace guestlist::servers {
namespace {

constexpr std::uint16_t first_port = 12'000;
constexpr std::uint16_t last_port = 32'000;

bool can_bind(std::uint16_t port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  // As the servers do: a port whose last connections have not faded is free.
  const int yes = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound =
      ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(descriptor, 1) == 0;
  ::close(descriptor);
  return bound;
}

}  // namespace

Result<std::uint16_t> free_port() {
  constexpr int attempts = 200;
  std::random_device random;
  std::uniform_int_distribution<std::uint16_t> any(first_port, last_port);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (const std::uint16_t port = any(random); can_bind(port)) return port;
  }
  return fail(Errc::unavailable,
              "no free port on 127.0.0.1 between 12000 and 32000; end what "
              "listens there");
}

}  // namespace guestlist::servers
