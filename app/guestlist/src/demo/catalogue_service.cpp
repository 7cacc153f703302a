#include "demo/catalogue_service.hpp"

#include <fmt/format.h>

#include <utility>

#include "guestlist/guard/warm_up.hpp"

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

struct NewPackage {
  std::string name;
  std::string version;
  std::string description;
};

/// SQLite reads the JSON: it is there already, and is well kept.
Result<NewPackage> parse_new_package(Database& database, const std::string& body) {
  auto fields = database.prepare(
      "SELECT json_extract(?1, '$.name'), json_extract(?1, '$.version'), json_extract(?1, "
      "'$.description')");
  if (!fields) return fail(std::move(fields).error());
  if (auto bound = fields->bind_text(1, body); !bound) return fail(std::move(bound).error());
  if (auto row = fields->step(); !row) return fail(Errc::invalid_argument, "the body is not JSON");
  NewPackage package{std::string(fields->text(0)), std::string(fields->text(1)),
                     std::string(fields->text(2))};
  if (package.name.empty() || package.name.size() > max_name_bytes) {
    return fail(Errc::invalid_argument, "the body needs a name of 1 to 200 bytes");
  }
  return package;
}

Result<void> insert(Database& database, const NewPackage& package) {
  auto insert = database.prepare("INSERT OR REPLACE INTO packages VALUES (?1, ?2, 'new', ?3)");
  if (!insert) return fail(std::move(insert).error());
  int parameter = 0;
  for (const std::string* value : {&package.name, &package.version, &package.description}) {
    if (auto bound = insert->bind_text(++parameter, *value); !bound) return bound;
  }
  if (auto done = insert->step(); !done) return fail(std::move(done).error());
  return {};
}

}  // namespace

CatalogueService::CatalogueService(const ServiceOptions& options)
    : options_(options), cache_(options.cache_bytes, clock_) {}

CatalogueService::~CatalogueService() = default;

Result<std::unique_ptr<CatalogueService>> CatalogueService::start(const std::string& path,
                                                                  const ServiceOptions& options) {
  std::unique_ptr<CatalogueService> service(new CatalogueService(options));
  if (auto opened = service->open(path); !opened) return fail(std::move(opened).error());
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

Result<void> CatalogueService::open(const std::string& path) {
  SqliteTable table;
  table.path = path;
  table.table = "packages";
  table.key_column = "name";
  table.value_expression =
      "json_object('name', name, 'version', version, 'section', section, 'description', "
      "description)";
  auto source = SqliteSource::open(table);
  if (!source) return fail(std::move(source).error());
  source_ = std::move(*source);
  auto writing = Database::open(path, Database::Access::read_write);
  if (!writing) return fail(std::move(writing).error());
  writing_.emplace(std::move(*writing));
  if (!options_.with_guard) return {};
  WarmUpOptions warm;
  warm.fpr = options_.fpr;
  if (auto warmed = warm_up(membership_, *source_, warm); !warmed) return fail(warmed.error());
  GuardOptions guard;
  guard.budget_per_second = options_.budget_per_second;
  guard_.emplace(std::move(guard), membership_, cache_, *source_, clock_);
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
  cache_.get(name, deadline,
             [this, name, deadline,
              respond = std::move(respond)](Result<std::optional<std::string>> cached) {
               if (cached && *cached) return respond(found(std::move(**cached)));
               source_->load(
                   name, deadline,
                   [this, name, deadline, respond](Result<std::optional<std::string>> loaded) {
                     if (!loaded) return respond(problem(503, "try again later"));
                     if (!*loaded) {
                       absent_lookups_.fetch_add(1, std::memory_order_relaxed);
                       return respond(problem(404, "no such package"));
                     }
                     cache_.put(name, **loaded, 30min, deadline, [](const Result<void>&) {});
                     respond(found(std::move(**loaded)));
                   });
             });
}

HttpResponse CatalogueService::create(const HttpRequest& request) {
  const std::lock_guard lock(writing_mutex_);
  const auto package = parse_new_package(*writing_, request.body);
  if (!package) return problem(400, package.error().message());
  const auto commit = [&] { return insert(*writing_, *package); };
  const Deadline deadline = Deadline::after(request_time, clock_);
  const auto written = guard_ ? guard_->write(package->name, commit, deadline) : commit();
  if (!written) return problem(503, "the package was not written");
  if (!guard_) cache_.erase(package->name, deadline, [](const Result<void>&) {});
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
  bool denies = false;
  membership_.check(std::span(&name, 1), Deadline::never(), [&](std::span<const Verdict> verdicts) {
    denies = verdicts.front().is_absent();
  });
  return denies;
}

}  // namespace guestlist::demo
