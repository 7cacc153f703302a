#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <thread>

#include "commands.hpp"
#include "service/service.hpp"

namespace guestlist {
namespace {

struct Options {
  std::string config;
};

void declare(CLI::App& command, Options& options) {
  command.add_option("CONFIG", options.config, "The configuration file (TOML)")->required();
}

/// What the service is told by signals. Blocked before any thread starts, so that all of them are.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGHUP, SIGTERM, SIGINT}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  int wait() const {
    int signal = 0;
    while (sigwait(&set_, &signal) != 0) {
    }
    return signal;
  }

 private:
  sigset_t set_{};
};

HttpServerOptions server_options(const ServerConfig& config) {
  HttpServerOptions options;
  options.address = config.address;
  options.port = config.port;
  options.threads =
      config.threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : config.threads;
  options.max_connections = config.max_connections;
  options.idle_timeout = std::chrono::duration_cast<std::chrono::milliseconds>(config.idle_timeout);
  options.drain_timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(config.drain_timeout);
  return options;
}

void reload(Service& service, const ServiceLog& log, const std::string& path) {
  auto config = read_service_config(path);
  const auto reloaded =
      config ? service.reload(*std::move(config)) : Result<void>(fail(config.error()));
  if (reloaded)
    log(Severity::good, "", path + ": taken over");
  else
    log(Severity::error, "", "not taken over: " + reloaded.error().message());
}

CallResult run(const Options& options) {
  const Signals signals;
  auto config = read_service_config(options.config);
  if (!config) return fail(std::move(config).error());
  const ServerConfig server_config = config->server;
  ServiceLog log(server_config.json_log);
  auto service = Service::start(*std::move(config), log);
  if (!service) return fail(std::move(service).error());
  Service* const serving = service->get();
  auto server = HttpServer::start(
      server_options(server_config),
      [serving](const HttpRequest& request, const HttpServer::Respond& respond) {
        serving->handle(request, respond);
      },
      [serving](const HttpRequestView& request, const HttpServer::Respond& respond) {
        return serving->answer_proxy(request, respond);
      });
  if (!server) return fail(std::move(server).error());
  serving->set_connections([&server] { return (*server)->connections(); });
  log(Severity::good, "",
      fmt::format("listening on http://{}:{}", server_config.address, (*server)->port()));
  int signal = signals.wait();
  for (; signal == SIGHUP; signal = signals.wait()) reload(*serving, log, options.config);
  log(Severity::good, "", fmt::format("ending ({})", strsignal(signal)));
  serving->drain();
  serving->set_connections({});
  server->reset();
  service->reset();
  log(Severity::good, "", "ended");
  return Exit::success;
}

}  // namespace

void add_serve(CallTable& calls) {
  calls.add<Options>("serve", "Follow databases and answer proxies; SIGHUP reads CONFIG again",
                     declare, run);
}

}  // namespace guestlist
