#pragma once

// The catalogue as a service over HTTP, with and without a guard in front of its database:
//
//   GET  /packages/{name}   200 with the package, or 404
//   POST /packages          201; the body is JSON: {"name": "…", "version": "…", "description":
//   "…"} GET  /stats             what the service has counted
//
// Both forms have the same value cache and the same database. Without a guard it is plain
// cache-aside: a name that does not exist is in no cache, so each request for it reaches the
// database.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "guestlist/guard/guard.hpp"
#include "guestlist/guard/local_membership.hpp"
#include "guestlist/guard/lru_value_cache.hpp"
#include "guestlist/http/http_server.hpp"
#include "guestlist/sqlite/sqlite_source.hpp"

namespace guestlist::demo {

struct ServiceOptions {
  bool with_guard = true;
  double fpr = 0.01;
  std::uint32_t budget_per_second = 50;
  std::uint64_t cache_bytes = std::uint64_t{8} << 20;
  std::uint16_t port = 0;
};

/// Shared objects: safe.
class CatalogueService {
 public:
  /// Serves the database at `path`; with a guard, after its filter has been filled from it.
  static Result<std::unique_ptr<CatalogueService>> start(const std::string& path,
                                                         const ServiceOptions& options);
  ~CatalogueService();

  std::uint16_t port() const noexcept { return server_->port(); }
  /// Lookups that reached the database, as counted where they are executed.
  std::uint64_t database_queries() const noexcept { return source_->queries(); }
  /// Requests that the database was asked for and had nothing.
  std::uint64_t absent_lookups() const noexcept {
    return absent_lookups_.load(std::memory_order_relaxed);
  }
  /// All zero without a guard.
  GuardStatistics guard_statistics() const;
  LocalMembership::Status filter_status() const { return membership_.status(); }
  std::uint64_t null_cache_bytes() const { return guard_ ? guard_->null_cache_bytes() : 0; }
  /// What the filter alone says; for measuring its rate.
  bool filter_denies(std::string_view name);

 private:
  explicit CatalogueService(const ServiceOptions& options);
  Result<void> open(const std::string& path);
  void handle(HttpRequest request, HttpServer::Respond respond);
  void read(std::string name, HttpServer::Respond respond);
  void read_unguarded(const std::string& name, HttpServer::Respond respond);
  HttpResponse create(const HttpRequest& request);
  HttpResponse statistics() const;

  const ServiceOptions options_;
  const SteadyClock clock_;
  LocalMembership membership_;
  LruValueCache cache_;
  std::unique_ptr<SqliteSource> source_;
  std::atomic<std::uint64_t> absent_lookups_{0};
  std::optional<Database> writing_;
  std::mutex writing_mutex_;
  std::optional<Guard> guard_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace guestlist::demo
