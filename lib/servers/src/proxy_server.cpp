#include "guestlist/servers/proxy_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "guestlist/servers/program.hpp"
#include "log_tail.hpp"

namespace guestlist::servers {
namespace {

using namespace std::chrono_literals;

constexpr Duration start_limit = 20s;

bool accepts(std::uint16_t port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool accepted =
      ::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(descriptor);
  return accepted;
}

/// One process, nothing outside of the folder.
std::string around_nginx(const std::string& included) {
  return fmt::format(
      "daemon off; master_process off; pid nginx.pid; error_log stderr notice;\n"
      "events {{ worker_connections 1024; }}\n"
      "http {{\n"
      "access_log off; keepalive_requests 1000000;\n"
      "client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;\n"
      "uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n"
      "include {};\n"
      "}}\n",
      included);
}

}  // namespace

Result<ProxyServer> ProxyServer::start(const ProxyOptions& options) {
  const bool is_nginx = options.kind == ProxyKind::nginx;
  const auto program = find_program(is_nginx ? Program::nginx : Program::haproxy);
  if (!program) return fail(program.error());
  auto folder = TemporaryFolder::create(is_nginx ? "nginx" : "haproxy");
  if (!folder) return fail(std::move(folder).error());
  ProxyServer server(*std::move(folder), options.port);
  for (const auto& [name, text] : options.files)
    std::ofstream(server.folder_.file(name), std::ios::binary) << text;
  const std::string configuration = server.folder_.file(options.files.front().first);
  ChildOptions child;
  child.folder = server.folder_.path().string();
  child.log = server.folder_.file("log");
  if (is_nginx) {
    const std::string whole = server.folder_.file("main.conf");
    std::ofstream(whole, std::ios::binary) << around_nginx(configuration);
    child.command = {*program, "-p", child.folder, "-e", "stderr", "-c", whole};
  } else {
    child.command = {*program, "-db", "-f", configuration};
  }
  auto process = ChildProcess::start(child);
  if (!process) return fail(std::move(process).error());
  server.process_ = *std::move(process);
  const auto end = std::chrono::steady_clock::now() + start_limit;
  while (!accepts(options.port)) {
    const bool is_running = server.process_.is_running();
    if (!is_running || std::chrono::steady_clock::now() > end) {
      return fail(Errc::unavailable,
                  fmt::format("{} {}: {}", *program,
                              is_running ? "does not accept" : "did not start", server.log()));
    }
    std::this_thread::sleep_for(1ms);
  }
  return server;
}

std::string ProxyServer::log() const {
  return log_tail(folder_.file("log"));
}

}  // namespace guestlist::servers
