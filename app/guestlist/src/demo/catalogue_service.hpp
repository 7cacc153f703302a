#pragma once

// The catalogue as a service over HTTP, with and without a guard in front of its database:
//
//   GET  /packages/{name}   200 with the package, or 404
//   POST /packages          201; the body is JSON: {"name": "…", "version": "…", "description":
//   "…"} GET  /stats             what the service has counted
//
// Both forms have the same kind of value cache and the same database. Without a guard it is plain
// cache-aside: a name that does not exist is in no cache, so each request for it reaches the
// database.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "demo/catalogue_store.hpp"
#include "demo/service_parts.hpp"
#include "guestlist/guard/guard.hpp"
#include "guestlist/http/http_server.hpp"

namespace guestlist::demo {

struct ServiceOptions {
  bool with_guard = true;
  std::uint32_t budget_per_second = 50;
  std::uint16_t port = 0;
};

/// Shared objects: safe.
class CatalogueService {
 public:
  /// Serves what is in the store; with a guard, after its filter has been filled from it.
  static Result<std::unique_ptr<CatalogueService>> start(std::unique_ptr<CatalogueStore> store,
                                                         std::unique_ptr<ServiceParts> parts,
                                                         const ServiceOptions& options);
  ~CatalogueService();

  std::uint16_t port() const noexcept { return server_->port(); }
  /// Lookups that reached the database, as counted where they are executed.
  std::uint64_t database_queries() const noexcept { return store_->queries(); }
  /// Requests that the database was asked for and had nothing.
  std::uint64_t absent_lookups() const noexcept {
    return absent_lookups_.load(std::memory_order_relaxed);
  }
  /// All zero without a guard.
  GuardStatistics guard_statistics() const;
  std::uint64_t filter_bytes() { return parts_->filter_bytes(); }
  std::uint64_t null_cache_bytes() const { return guard_ ? guard_->null_cache_bytes() : 0; }
  /// What the filter alone says; for measuring its rate.
  bool filter_denies(std::string_view name);

 private:
  CatalogueService(std::unique_ptr<CatalogueStore> store, std::unique_ptr<ServiceParts> parts,
                   const ServiceOptions& options);
  Result<void> open();
  void handle(HttpRequest request, HttpServer::Respond respond);
  void read(std::string name, HttpServer::Respond respond);
  void read_unguarded(const std::string& name, HttpServer::Respond respond);
  HttpResponse create(const HttpRequest& request);
  HttpResponse statistics() const;

  const ServiceOptions options_;
  const SteadyClock clock_;
  std::unique_ptr<CatalogueStore> store_;
  std::unique_ptr<ServiceParts> parts_;
  std::atomic<std::uint64_t> absent_lookups_{0};
  std::optional<Guard> guard_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace guestlist::demo
