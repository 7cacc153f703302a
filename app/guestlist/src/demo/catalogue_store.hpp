#pragma once

// The database that holds the catalogue: SQLite in a file, or PostgreSQL.
//
// Distinct objects: safe. Shared objects: safe.

#include <cstdint>
#include <memory>
#include <string>

#include "demo/catalogue.hpp"
#include "guestlist/base/result.hpp"
#include "guestlist/port/source.hpp"

namespace guestlist::demo {

class CatalogueStore {
 public:
  virtual ~CatalogueStore() = default;
  /// Values are JSON objects: name, version, section, description.
  virtual Source& source() = 0;
  virtual Result<void> insert(const Package& package) = 0;
  /// Lookups that reached the database, as counted where they are executed.
  virtual std::uint64_t queries() const = 0;

 protected:
  CatalogueStore() = default;
  CatalogueStore(const CatalogueStore&) = default;
  CatalogueStore& operator=(const CatalogueStore&) = default;
};

/// Requires: write_catalogue has filled the file.
Result<std::unique_ptr<CatalogueStore>> open_sqlite_store(const std::string& path);

/// Requires: write_catalogue_to_postgres has filled the database.
Result<std::unique_ptr<CatalogueStore>> open_postgres_store(const std::string& address);

}  // namespace guestlist::demo
