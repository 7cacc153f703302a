#pragma once

// `guestlist serve` as a child process, on a port of its own.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include "guestlist/http/http_client.hpp"
#include "guestlist/servers/child_process.hpp"
#include "guestlist/servers/required.hpp"
#include "guestlist/servers/temporary_folder.hpp"

namespace guestlist {

/// Until it holds; false where it does not within a time that a loaded machine needs.
inline bool becomes_true(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

class RunningService {
 public:
  /// `sections`: the configuration but for [server]; `files`, by name, are beside it.
  explicit RunningService(const std::string& sections,
                          const std::map<std::string, std::string>& files = {})
      : folder_(servers::required(servers::TemporaryFolder::create("service"))) {
    configure(sections);
    for (const auto& [name, content] : files) append(name, content);
    start();
  }

  void configure(const std::string& sections) const {
    std::ofstream(config()) << "[server]\nlisten = \"127.0.0.1:0\"\ntoken = \"open-sesame\"\n"
                            << sections;
  }
  void start() {
    std::filesystem::remove(folder_.file("log"));
    servers::ChildOptions options;
    options.command = {GUESTLIST_COMMAND, "serve", config()};
    options.log = folder_.file("log");
    process_ = servers::required(servers::ChildProcess::start(options));
    becomes_true([&] { return port() != 0 || !process_.is_running(); });
  }

  void append(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.file(name), std::ios::app) << content;
  }

  std::string config() const { return folder_.file("guestlist.toml"); }
  std::string log() const {
    std::ostringstream content;
    content << std::ifstream(folder_.file("log")).rdbuf();
    return content.str();
  }
  /// 0 until it listens.
  std::uint16_t port() const {
    constexpr std::string_view said = "listening on http://127.0.0.1:";
    const std::string lines = log();
    const auto at = lines.find(said);
    if (at == std::string::npos || lines.find('\n', at) == std::string::npos) return 0;
    return static_cast<std::uint16_t>(std::stoi(lines.substr(at + said.size())));
  }
  servers::ChildProcess& process() noexcept { return process_; }

  HttpResponse send(const HttpRequest& request) const {
    auto client =
        servers::required(HttpClient::connect("127.0.0.1", port(), std::chrono::seconds(20)));
    return servers::required(client.send(request));
  }
  HttpResponse get(const std::string& target) const {
    HttpRequest request;
    request.target = target;
    return send(request);
  }
  /// With the token.
  HttpResponse change(const std::string& method, const std::string& target,
                      const std::string& body) const {
    HttpRequest request;
    request.method = method;
    request.target = target;
    request.body = body;
    request.fields = {{"Authorization", "Bearer open-sesame"}};
    return send(request);
  }
  /// What nginx hears of a GET for `uri`.
  unsigned ask_as_nginx(const std::string& uri) const {
    HttpRequest request;
    request.target = "/auth/nginx";
    request.fields = {{"X-Original-URI", uri}, {"X-Original-Method", "GET"}};
    return send(request).status;
  }
  bool becomes_ready() const {
    return becomes_true([&] { return get("/readyz").status == 200; });
  }

 private:
  servers::TemporaryFolder folder_;
  servers::ChildProcess process_;
};

}  // namespace guestlist
