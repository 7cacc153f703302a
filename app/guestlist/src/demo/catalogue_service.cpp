#include "demo/catalogue_service.hpp"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <utility>

namespace guestlist::demo {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view collection = "/packages";
constexpr std::size_t max_name_bytes = 200;
constexpr Duration request_time = 5s;

HttpResponse problem(unsigned status, std::string_view title) {
  return {status,
          fmt::format(R"({{"title":"{}","status":{}}})", title, status),
          "application/problem+json",
          {{"Cache-Control", "no-store"}}};
}

HttpResponse found(std::string package) {
  return {200, std::move(package), "application/json", {}};
}

std::string text_of(const boost::json::object& fields, std::string_view name) {
  const auto* const value = fields.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

Result<Package> parse_new_package(const std::string& body) {
  boost::system::error_code error;
  const auto parsed = boost::json::parse(body, error);
  if (error || !parsed.is_object()) return fail(Errc::invalid_argument, "the body is not JSON");
  const auto& fields = parsed.get_object();
  Package package{text_of(fields, "name"), text_of(fields, "version"), "new",
                  text_of(fields, "description")};
  if (package.name.empty() || package.name.size() > max_name_bytes) {
    return fail(Errc::invalid_argument, "the body needs a name of 1 to 200 bytes");
  }
  return package;
}

}  // namespace

CatalogueService::CatalogueService(std::unique_ptr<CatalogueStore> store,
                                   std::unique_ptr<ServiceParts> parts,
                                   const ServiceOptions& options)
    : options_(options), store_(std::move(store)), parts_(std::move(parts)) {}

// The filter's keeper reads from the store, so it ends first; the guard asks both.
CatalogueService::~CatalogueService() {
  server_.reset();
  guard_.reset();
  parts_.reset();
}

Result<std::unique_ptr<CatalogueService>> CatalogueService::start(
    std::unique_ptr<CatalogueStore> store, std::unique_ptr<ServiceParts> parts,
    const ServiceOptions& options) {
  std::unique_ptr<CatalogueService> service(
      new CatalogueService(std::move(store), std::move(parts), options));
  if (auto opened = service->open(); !opened) return fail(std::move(opened).error());
  HttpServerOptions server_options;
  server_options.port = options.port;
  auto server = HttpServer::start(
      server_options, [service = service.get()](HttpRequest request, HttpServer::Respond respond) {
        service->handle(std::move(request), std::move(respond));
      });
  if (!server) return fail(std::move(server).error());
  service->server_ = std::move(*server);
  return service;
}

Result<void> CatalogueService::open() {
  if (!options_.with_guard) return {};
  if (auto warmed = parts_->warm_up(store_->source()); !warmed) return warmed;
  GuardOptions guard;
  guard.budget_per_second = options_.budget_per_second;
  guard.is_cache_shared = parts_->is_shared();
  // A builder of the shared filter waits for writes that are open.
  guard.write_without_filter = parts_->is_shared();
  guard_.emplace(std::move(guard), parts_->membership(), parts_->cache(), store_->source(), clock_);
  return {};
}

void CatalogueService::handle(HttpRequest request, HttpServer::Respond respond) {
  std::string_view path = request.target;
  if (request.method == "GET" && path == "/stats") return respond(statistics());
  if (request.method == "POST" && path == collection) return respond(create(request));
  if (!path.starts_with(collection) || path.size() < collection.size() + 2 ||
      path[collection.size()] != '/') {
    return respond(problem(404, "try GET /packages/bash"));
  }
  if (request.method != "GET") return respond(problem(405, "only GET here"));
  // What does not decode is no name of ours, and the filter is not asked about it.
  auto name = percent_decode(path.substr(collection.size() + 1));
  if (!name || name->size() > max_name_bytes) return respond(problem(400, "not a package name"));
  read(std::move(*name), std::move(respond));
}

void CatalogueService::read(std::string name, HttpServer::Respond respond) {
  if (!guard_) return read_unguarded(name, std::move(respond));
  guard_->get(name, Deadline::after(request_time, clock_),
              [this, respond = std::move(respond)](Result<Lookup> lookup) {
                if (!lookup) return respond(problem(503, "try again later"));
                const bool was_asked = lookup->origin == Lookup::Origin::source;
                if (was_asked && !lookup->found())
                  absent_lookups_.fetch_add(1, std::memory_order_relaxed);
                if (!lookup->found()) return respond(problem(404, "no such package"));
                respond(found(std::move(lookup->value)));
              });
}

void CatalogueService::read_unguarded(const std::string& name, HttpServer::Respond respond) {
  const Deadline deadline = Deadline::after(request_time, clock_);
  parts_->cache().get(
      name, deadline,
      [this, name, deadline,
       respond = std::move(respond)](Result<std::optional<std::string>> cached) {
        if (cached && *cached) return respond(found(std::move(**cached)));
        parts_->cache().lease(name, deadline, [](const Result<void>&) {});
        store_->source().load(
            name, deadline,
            [this, name, deadline, respond](Result<std::optional<std::string>> loaded) {
              if (!loaded) return respond(problem(503, "try again later"));
              if (!*loaded) {
                absent_lookups_.fetch_add(1, std::memory_order_relaxed);
                return respond(problem(404, "no such package"));
              }
              parts_->cache().put(name, **loaded, 30min, deadline, [](const Result<void>&) {});
              respond(found(std::move(**loaded)));
            });
      });
}

HttpResponse CatalogueService::create(const HttpRequest& request) {
  const auto package = parse_new_package(request.body);
  if (!package) return problem(400, package.error().message());
  const auto commit = [&] { return store_->insert(*package); };
  const Deadline deadline = Deadline::after(request_time, clock_);
  const auto written = guard_ ? guard_->write(package->name, commit, deadline) : commit();
  if (!written) return problem(503, "the package was not written");
  if (!guard_) parts_->cache().erase(package->name, deadline, [](const Result<void>&) {});
  return {
      201, "{}", "application/json", {{"Location", "/packages/" + percent_encode(package->name)}}};
}

HttpResponse CatalogueService::statistics() const {
  const GuardStatistics statistics = guard_statistics();
  std::string body =
      fmt::format(R"({{"database_queries":{},"guard":{})", database_queries(), guard_.has_value());
  for (std::size_t event = 0; event < guard_event_count; ++event) {
    const auto known = static_cast<GuardEvent>(event);
    body += fmt::format(R"(,"{}":{})", name(known), statistics[known]);
  }
  return {200, body + "}\n", "application/json", {{"Cache-Control", "no-store"}}};
}

GuardStatistics CatalogueService::guard_statistics() const {
  return guard_ ? guard_->statistics() : GuardStatistics();
}

bool CatalogueService::filter_denies(std::string_view name) {
  const auto verdict = wait_for<Verdict>([&](const Completion<Verdict>& done) {
    parts_->membership().check(
        std::span(&name, 1), Deadline::after(request_time, clock_),
        [done](std::span<const Verdict> verdicts) { done(verdicts.front()); });
  });
  return verdict->is_absent();
}

}  // namespace guestlist::demo
