#include "demo/catalogue_store.hpp"

#include <mutex>
#include <utility>

#include "guestlist/postgres/postgres_connection.hpp"
#include "guestlist/postgres/postgres_source.hpp"
#include "guestlist/sqlite/sqlite_source.hpp"

namespace guestlist::demo {
namespace {

using namespace std::chrono_literals;

class SqliteStore final : public CatalogueStore {
 public:
  SqliteStore(std::unique_ptr<SqliteSource> source, Database writing)
      : source_(std::move(source)), writing_(std::move(writing)) {}

  Source& source() override { return *source_; }
  std::uint64_t queries() const override { return source_->queries(); }

  Result<void> insert(const Package& package) override {
    const std::lock_guard lock(mutex_);
    auto insert = writing_.prepare("INSERT OR REPLACE INTO packages VALUES (?1, ?2, ?3, ?4)");
    if (!insert) return fail(std::move(insert).error());
    int parameter = 0;
    for (const std::string* value :
         {&package.name, &package.version, &package.section, &package.description}) {
      if (auto bound = insert->bind_text(++parameter, *value); !bound) return bound;
    }
    if (auto done = insert->step(); !done) return fail(std::move(done).error());
    return {};
  }

 private:
  std::unique_ptr<SqliteSource> source_;
  std::mutex mutex_;
  Database writing_;
};

class PostgresStore final : public CatalogueStore {
 public:
  PostgresStore(std::unique_ptr<PostgresSource> source, std::string address)
      : source_(std::move(source)), address_(std::move(address)) {}

  Source& source() override { return *source_; }
  std::uint64_t queries() const override { return source_->queries(); }

  Result<void> insert(const Package& package) override {
    const std::lock_guard lock(mutex_);
    const auto deadline = Deadline::after(5s, clock_);
    if (!writing_ || !writing_->is_open()) {
      PostgresOptions options;
      options.address = address_;
      auto opened = PostgresConnection::open(options, deadline);
      if (!opened) return fail(std::move(opened).error());
      writing_.emplace(std::move(*opened));
    }
    const auto done = writing_->execute(
        "INSERT INTO packages VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO UPDATE SET "
        "version = excluded.version, description = excluded.description",
        {package.name, package.version, package.section, package.description}, deadline);
    return done ? Result<void>() : Result<void>(fail(done.error()));
  }

 private:
  const SteadyClock clock_;
  std::unique_ptr<PostgresSource> source_;
  const std::string address_;
  std::mutex mutex_;
  std::optional<PostgresConnection> writing_;
};

}  // namespace

Result<std::unique_ptr<CatalogueStore>> open_sqlite_store(const std::string& path) {
  SqliteTable table;
  table.path = path;
  table.table = "packages";
  table.key_column = "name";
  table.value_expression =
      "json_object('name', name, 'version', version, 'section', section, 'description', "
      "description)";
  auto source = SqliteSource::open(table);
  if (!source) return fail(std::move(source).error());
  auto writing = Database::open(path, Database::Access::read_write);
  if (!writing) return fail(std::move(writing).error());
  return std::unique_ptr<CatalogueStore>(
      std::make_unique<SqliteStore>(std::move(*source), std::move(*writing)));
}

Result<std::unique_ptr<CatalogueStore>> open_postgres_store(const std::string& address) {
  PostgresOptions options;
  options.address = address;
  PostgresTable table;
  table.table = "packages";
  table.key_columns = {"name"};
  auto source = PostgresSource::open(options, table);
  if (!source) return fail(std::move(source).error());
  return std::unique_ptr<CatalogueStore>(
      std::make_unique<PostgresStore>(std::move(*source), address));
}

}  // namespace guestlist::demo
