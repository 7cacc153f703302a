#pragma once

// A connection that shows replies as they are on the wire, so that tests can tell an integer from a
// boolean and a map from an array.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace guestlist::server {

using Words = std::vector<std::string>;

inline Words words_of(const std::string& text) {
  Words words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

inline std::string request(const Words& words) {
  std::string text = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words)
    text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return text;
}

class Wire {
 public:
  explicit Wire(const std::string& unix_socket) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, unix_socket.c_str(), sizeof address.sun_path - 1);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("no connection to " + unix_socket);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire() { ::close(socket_); }

  /// The reply, byte for byte.
  std::string ask(const Words& words) {
    // What comes back from ECHO shows where the reply ends.
    static constexpr std::string_view end = "$17\r\nthe-reply-is-over\r\n";
    send(request(words) + request({"ECHO", "the-reply-is-over"}));
    std::string reply;
    while (!std::string_view(reply).ends_with(end)) {
      char bytes[65536];
      const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
      if (count <= 0) throw std::runtime_error("the server closed the connection");
      reply.append(bytes, static_cast<std::size_t>(count));
    }
    reply.resize(reply.size() - end.size());
    return reply;
  }
  /// The same for words without spaces in them.
  std::string ask(const std::string& text) { return ask(words_of(text)); }

 private:
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) throw std::runtime_error("the server closed the connection");
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  int socket_;
};

}  // namespace guestlist::server
