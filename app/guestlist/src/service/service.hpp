#pragma once

// The service: filters that follow their sources, routes that ask them, and the answers to proxies
// and people. Configuration is replaced whole or not at all: what is served at any moment is one
// immutable value.
//
//   /auth/…     verdicts for proxies (guestlist/gate/proxy_gate.hpp)
//   everything else   service_api.hpp
//
// Distinct objects: safe. Shared objects: safe; `reload` by one thread at a time.

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "guestlist/gate/proxy_gate.hpp"
#include "guestlist/http/http_server.hpp"
#include "service/metrics.hpp"
#include "service/served_filter.hpp"
#include "service/service_config.hpp"

namespace guestlist {

/// What is served between two changes of the configuration.
struct Serving {
  ServiceConfig config;
  std::map<std::string, std::shared_ptr<ServedFilter>> filters;
  std::shared_ptr<const ProxyGate> gate;

  std::vector<FilterReport> report() const;
};

class Service {
 public:
  /// Connects every source. Errors: one line that says what to do; nothing is left behind then.
  static Result<std::unique_ptr<Service>> start(ServiceConfig config, ServiceLog& log);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Filters whose configuration is the same go on as they are; those that changed end before they
  /// begin anew, and their routes pass meanwhile. Of `[server]` only token and log are taken.
  /// Errors: as `start`; what was served before is served still, but for a filter that has ended
  /// and did not begin again: its routes pass.
  Result<void> reload(ServiceConfig config);

  /// To be called as HttpServer::FastHandler: true where a proxy asked, and was answered.
  bool answer_proxy(const HttpRequestView& request, const HttpServer::Respond& respond);
  /// Answers whatever else is asked. To be called as HttpServer::Handler.
  void handle(const HttpRequest& request, const HttpServer::Respond& respond);

  std::shared_ptr<const Serving> serving() const;
  ServiceCounts counts() const;
  /// Says 503 on /readyz from here on.
  void drain() noexcept { is_draining_.store(true, std::memory_order_relaxed); }
  bool is_ready() const;
  /// Gets the state of all filters once a second, until either side ends it.
  void show_state_to(EventStream stream);
  void set_connections(std::function<std::size_t()> connections);

 private:
  explicit Service(ServiceLog& log);
  void publish(std::shared_ptr<const Serving> serving);
  void watch();
  void show_state();

  ServiceLog& log_;
  const SteadyClock clock_;
  const TimePoint began_;
  mutable std::shared_mutex mutex_;
  std::shared_ptr<const Serving> serving_;
  std::function<std::size_t()> connections_;
  std::atomic<bool> is_draining_ = false;
  std::atomic<std::uint64_t> verdict_requests_ = 0;
  std::atomic<std::uint64_t> api_requests_ = 0;

  std::mutex ending_mutex_;  ///< of all below
  std::vector<EventStream> viewers_;
  std::condition_variable ending_changed_;
  bool is_ending_ = false;
  /// Looks at the filters, so that changes of their state are logged, and shows them.
  std::thread watcher_;
};

}  // namespace guestlist
