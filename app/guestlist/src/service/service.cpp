#include "service/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "service/configured_routes.hpp"
#include "service/service_api.hpp"

namespace guestlist {
namespace {

using FilterMap = std::map<std::string, std::shared_ptr<ServedFilter>>;
using OpenedSources = std::map<std::string, OpenedSource>;

/// Below Envoy's default for such a call (200 ms), which is the shortest of all proxies'.
constexpr Duration verdict_patience = std::chrono::milliseconds(150);
constexpr Duration look_every = std::chrono::milliseconds(250);
constexpr int looks_a_showing = 4;
constexpr std::size_t max_viewers = 100;

/// The strongest mode that a route of the filter has; `shadow` where no route asks it.
Mode strongest_mode(const ServiceConfig& config, const std::string& filter) {
  bool has_route = false;
  bool all_pass = true;
  for (const RouteConfig& route : config.routes) {
    if (route.filter != filter) continue;
    has_route = true;
    if (route.mode == Mode::enforce && route.percent > 0) return Mode::enforce;
    all_pass = all_pass && route.mode == Mode::pass;
  }
  return has_route && all_pass ? Mode::pass : Mode::shadow;
}

FilterMap unchanged_filters(const ServiceConfig& config, const FilterMap& before) {
  FilterMap kept;
  for (const FilterConfig& filter : config.filters) {
    const auto same = before.find(filter.name);
    if (same != before.end() && same->second->config() == filter) kept.insert(*same);
  }
  return kept;
}

/// Of all filters that are not kept.
Result<OpenedSources> open_sources(const ServiceConfig& config, const FilterMap& kept) {
  OpenedSources opened;
  for (const FilterConfig& filter : config.filters) {
    if (kept.contains(filter.name)) continue;
    auto source = open_source(filter);
    if (!source) return fail(std::move(source).error());
    opened.emplace(filter.name, *std::move(source));
  }
  return opened;
}

Result<void> check_routes(const ServiceConfig& config, const FilterMap& kept,
                          const OpenedSources& opened) {
  FilterKeys keys;
  for (const auto& [name, filter] : kept) keys[name] = filter->gate().key();
  for (const auto& [name, source] : opened) keys[name] = source.key;
  const auto routes = OfflineRoutes::make(config, keys);
  return routes ? Result<void>() : fail(routes.error());
}

/// Starts what is opened; routes of filters that are neither kept nor opened are left out.
Result<std::shared_ptr<const Serving>> make_serving(ServiceConfig config, FilterMap kept,
                                                    OpenedSources opened, const ServiceLog& log) {
  FilterMap filters = std::move(kept);
  for (const FilterConfig& filter : config.filters) {
    const auto source = opened.find(filter.name);
    if (source == opened.end()) continue;
    auto served =
        ServedFilter::start(filter, config.server.state_folder, std::move(source->second), log);
    if (!served) return fail(std::move(served).error());
    filters[filter.name] = *std::move(served);
  }
  std::vector<RouteConfig> served_routes;
  for (const RouteConfig& route : config.routes)
    if (filters.contains(route.filter)) served_routes.push_back(route);
  auto routes = make_routes(served_routes, [&](const std::string& name) {
    const auto& filter = filters.at(name);
    return std::shared_ptr<GatedFilter>(filter, &filter->gate());
  });
  if (!routes) return fail(std::move(routes).error());
  for (const auto& [name, filter] : filters) filter->set_route_mode(strongest_mode(config, name));
  return std::make_shared<const Serving>(
      Serving{std::move(config), std::move(filters), ProxyGate::make(*std::move(routes))});
}

}  // namespace

std::vector<FilterReport> Serving::report() const {
  std::vector<FilterReport> reports;
  reports.reserve(filters.size());
  for (const auto& [name, filter] : filters) reports.push_back(filter->report());
  return reports;
}

Service::Service(ServiceLog& log) : log_(log), began_(clock_.now()) {}

Result<std::unique_ptr<Service>> Service::start(ServiceConfig config, ServiceLog& log) {
  auto opened = open_sources(config, {});
  if (!opened) return fail(std::move(opened).error());
  if (auto checked = check_routes(config, {}, *opened); !checked)
    return fail(std::move(checked).error());
  auto serving = make_serving(std::move(config), {}, *std::move(opened), log);
  if (!serving) return fail(std::move(serving).error());
  std::unique_ptr<Service> service(new Service(log));
  service->serving_ = *std::move(serving);
  service->watcher_ = std::thread([self = service.get()] { self->watch(); });
  return service;
}

Service::~Service() {
  {
    const std::lock_guard lock(ending_mutex_);
    is_ending_ = true;
  }
  ending_changed_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

Result<void> Service::reload(ServiceConfig config) {
  auto before = serving();
  const ServerConfig& server = before->config.server;
  if (config.server.address != server.address || config.server.port != server.port ||
      config.server.threads != server.threads || config.server.state_folder != server.state_folder)
    log_(Severity::warning, "", "listen, threads and state are taken at the next restart");
  config.server.state_folder = server.state_folder;

  FilterMap kept = unchanged_filters(config, before->filters);
  auto opened = open_sources(config, kept);
  if (!opened) return fail(std::move(opened).error());
  if (auto checked = check_routes(config, kept, *opened); !checked)
    return fail(std::move(checked).error());
  log_.set_json(config.server.json_log);

  // A filter's file belongs to one: who had it before must have let it go.
  std::vector<std::weak_ptr<ServedFilter>> ending;
  for (const auto& [name, filter] : before->filters) {
    if (kept.contains(name)) continue;
    ending.emplace_back(filter);
    const bool is_gone =
        std::ranges::find(config.filters, name, &FilterConfig::name) == config.filters.end();
    if (is_gone && !filter->config().source.postgres.empty())
      log_(Severity::warning, name,
           fmt::format(
               "is served no more. In PostgreSQL its slot stays, and keeps the server's log: "
               "SELECT pg_drop_replication_slot('{0}'); DROP PUBLICATION {1}",
               filter->config().source.slot, filter->config().source.publication));
  }
  before.reset();
  if (!ending.empty()) {
    auto between = make_serving(config, kept, {}, log_);
    if (!between) return fail(std::move(between).error());
    publish(*std::move(between));
    for (const auto& filter : ending)
      while (!filter.expired()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  auto next = make_serving(std::move(config), std::move(kept), *std::move(opened), log_);
  if (!next) return fail(std::move(next).error());
  publish(*std::move(next));
  return {};
}

void Service::publish(std::shared_ptr<const Serving> serving) {
  // What is replaced ends with the argument, after the lock: a filter saves itself then.
  const std::unique_lock lock(mutex_);
  serving_.swap(serving);
}

std::shared_ptr<const Serving> Service::serving() const {
  const std::shared_lock lock(mutex_);
  return serving_;
}

void Service::set_connections(std::function<std::size_t()> connections) {
  const std::unique_lock lock(mutex_);
  connections_ = std::move(connections);
}

bool Service::is_ready() const {
  if (is_draining_.load(std::memory_order_relaxed)) return false;
  const auto now = serving();
  for (const auto& [name, filter] : now->filters)
    if (filter->followed().status().reason != Reason::none) return false;
  return true;
}

ServiceCounts Service::counts() const {
  ServiceCounts counts;
  counts.verdict_requests = verdict_requests_.load(std::memory_order_relaxed);
  counts.api_requests = api_requests_.load(std::memory_order_relaxed);
  counts.uptime_seconds = std::chrono::duration<double>(clock_.now() - began_).count();
  counts.is_ready = is_ready();
  const std::shared_lock lock(mutex_);
  if (connections_) counts.connections = connections_();
  return counts;
}

bool Service::answer_proxy(const HttpRequestView& request, const HttpServer::Respond& respond) {
  if (!serving()->gate->answer(request, Deadline::after(verdict_patience, clock_), respond))
    return false;
  verdict_requests_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void Service::handle(const HttpRequest& request, const HttpServer::Respond& respond) {
  api_requests_.fetch_add(1, std::memory_order_relaxed);
  answer_api(*this, request, respond);
}

void Service::show_state_to(EventStream stream) {
  if (!stream.send("", state_json(*this))) return;
  const std::lock_guard lock(ending_mutex_);
  // Whoever is turned away asks again by itself.
  if (viewers_.size() < max_viewers) viewers_.push_back(std::move(stream));
}

void Service::show_state() {
  std::vector<EventStream> viewers;
  {
    const std::lock_guard lock(ending_mutex_);
    viewers.swap(viewers_);
  }
  if (viewers.empty()) return;
  const std::string state = state_json(*this);
  std::erase_if(viewers, [&](const EventStream& viewer) { return !viewer.send("", state); });
  const std::lock_guard lock(ending_mutex_);
  std::ranges::move(viewers, std::back_inserter(viewers_));
}

void Service::watch() {
  std::unique_lock lock(ending_mutex_);
  for (int look = 0; !ending_changed_.wait_for(lock, look_every, [&] { return is_ending_; });
       ++look) {
    lock.unlock();
    static_cast<void>(serving()->report());
    if (look % looks_a_showing == 0) show_state();
    lock.lock();
  }
}

}  // namespace guestlist
