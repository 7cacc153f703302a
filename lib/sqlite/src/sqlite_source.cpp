#include "guestlist/sqlite/sqlite_source.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <utility>

namespace guestlist {
namespace {

constexpr std::size_t keys_per_batch = 4096;

enum class Affinity : std::uint8_t { text, numeric, blob };

// The rules of SQLite, in their order: a declared type CONTAINS a word.
Affinity affinity_of(std::string type) {
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  const auto contains = [&](const char* word) { return type.find(word) != std::string::npos; };
  if (contains("INT")) return Affinity::numeric;
  if (contains("CHAR") || contains("CLOB") || contains("TEXT")) return Affinity::text;
  if (contains("BLOB") || type.empty()) return Affinity::blob;
  return Affinity::numeric;
}

Result<void> check_key_column(const Database& database, const SqliteTable& table) {
  const char* type = nullptr;
  const char* collation = nullptr;
  const int code = sqlite3_table_column_metadata(database.handle(), nullptr, table.table.c_str(),
                                                 table.key_column.c_str(), &type, &collation,
                                                 nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    return fail(Errc::not_found, fmt::format("the database '{}' has no column '{}' in a table '{}'",
                                             table.path, table.key_column, table.table));
  }
  const std::string declared = type == nullptr ? "" : type;
  const std::string collating = collation == nullptr ? "BINARY" : collation;
  const Affinity affinity = affinity_of(declared);
  const bool fits = (table.key_type == KeyType::integer && affinity == Affinity::numeric) ||
                    (table.key_type == KeyType::text && affinity == Affinity::text) ||
                    (table.key_type == KeyType::bytes && affinity == Affinity::blob);
  if (!fits) {
    return fail(
        Errc::invalid_argument,
        fmt::format("column '{}' of '{}' is declared '{}', which does not compare as keys of type "
                    "'{}' do; 'int' wants an INTEGER column, 'text' a TEXT column, 'bytes' a BLOB "
                    "column",
                    table.key_column, table.table, declared, name(table.key_type)));
  }
  if (table.key_type == KeyType::text && collating != "BINARY") {
    return fail(
        Errc::invalid_argument,
        fmt::format("column '{}' of '{}' has the collation {}, under which different keys are "
                    "equal; only BINARY is supported",
                    table.key_column, table.table, collating));
  }
  return {};
}

class TableSnapshot final : public Snapshot {
 public:
  TableSnapshot(Database database, Statement keys, std::uint64_t count, KeyType type)
      : database_(std::move(database)), keys_(std::move(keys)), count_(count), type_(type) {}

  std::optional<std::uint64_t> count() const override { return count_; }

  Result<void> next(std::vector<std::string>& keys) override {
    keys.clear();
    while (!at_end_ && keys.size() < keys_per_batch) {
      auto row = keys_.step();
      if (!row) return fail(std::move(row).error());
      at_end_ = !*row;
      if (at_end_ || keys_.is_null(0)) continue;
      if (const auto canonical = canonicalize(type_, keys_.text(0), buffer_))
        keys.emplace_back(*canonical);
    }
    return {};
  }

 private:
  Database database_;
  Statement keys_;
  std::uint64_t count_;
  KeyType type_;
  bool at_end_ = false;
  std::string buffer_;
};

}  // namespace

Result<std::unique_ptr<SqliteSource>> SqliteSource::open(const SqliteTable& table,
                                                         const SqliteSourceOptions& options) {
  std::unique_ptr<SqliteSource> source(new SqliteSource(table, options));
  for (std::size_t worker = 0; worker < std::max<std::size_t>(1, options.workers); ++worker) {
    auto connection = source->connect();
    if (!connection) return fail(std::move(connection).error());
    source->workers_.emplace_back(
        [source = source.get(), connection = std::move(*connection)]() mutable {
          source->work(std::move(connection));
        });
  }
  return source;
}

SqliteSource::~SqliteSource() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

Result<SqliteSource::Connection> SqliteSource::connect() const {
  auto database = Database::open(table_.path, Database::Access::read_only);
  if (!database) return fail(std::move(database).error());
  if (auto fits = check_key_column(*database, table_); !fits) return fail(std::move(fits).error());
  const std::string key = quoted_identifier(table_.key_column);
  auto lookup =
      database->prepare(fmt::format("SELECT {} FROM {} WHERE {} = ?1 LIMIT 1",
                                    table_.value_expression.empty() ? key : table_.value_expression,
                                    quoted_identifier(table_.table), key));
  if (!lookup) {
    return fail(Errc::invalid_argument,
                fmt::format("cannot select '{}' from '{}': {}", table_.value_expression,
                            table_.table, lookup.error().message()));
  }
  return Connection{std::move(*database), std::move(*lookup)};
}

void SqliteSource::load(std::string_view key, Deadline deadline,
                        Completion<std::optional<std::string>> done) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < options_.max_waiting_loads) {
      waiting_.push_back({std::string(key), deadline, std::move(done)});
      arrived_.notify_one();
      return;
    }
  }
  done(fail(Errc::overloaded, "too many lookups are waiting for the database"));
}

void SqliteSource::work(Connection connection) {
  const SteadyClock clock;
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    // What waits is answered also when we stop: every completion is called.
    if (waiting_.empty()) return;
    const Load load = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (load.deadline.is_past(clock.now())) {
      load.done(fail(Errc::deadline_exceeded,
                     "the lookup waited for the database until its time was over"));
    } else {
      load.done(look_up(connection, load));
    }
    lock.lock();
  }
}

Result<std::optional<std::string>> SqliteSource::look_up(Connection& connection, const Load& load) {
  Statement& lookup = connection.lookup;
  connection.database.set_deadline(load.deadline);
  lookup.reset();
  auto bound = table_.key_type == KeyType::bytes ? lookup.bind_blob(1, load.key)
                                                 : lookup.bind_text(1, load.key);
  if (!bound) return fail(std::move(bound).error());
  queries_.fetch_add(1, std::memory_order_relaxed);
  auto row = lookup.step();
  if (!row) return fail(std::move(row).error());
  std::optional<std::string> value;
  if (*row) value = std::string(lookup.text(0));
  // Ends the read transaction, so that the next lookup sees what was committed meanwhile.
  lookup.reset();
  return value;
}

Result<std::unique_ptr<Snapshot>> SqliteSource::snapshot() {
  auto database = Database::open(table_.path, Database::Access::read_only);
  if (!database) return fail(std::move(database).error());
  if (auto begun = database->execute("BEGIN"); !begun) return fail(std::move(begun).error());
  const std::string table = quoted_identifier(table_.table);
  auto counting = database->prepare(fmt::format("SELECT count(*) FROM {}", table));
  if (!counting) return fail(std::move(counting).error());
  // The first read of the transaction fixes what it sees.
  if (auto counted = counting->step(); !counted) return fail(std::move(counted).error());
  const auto count = static_cast<std::uint64_t>(counting->integer(0));
  auto keys = database->prepare(
      fmt::format("SELECT {} FROM {}", quoted_identifier(table_.key_column), table));
  if (!keys) return fail(std::move(keys).error());
  counting->reset();
  return std::unique_ptr<Snapshot>(
      new TableSnapshot(std::move(*database), std::move(*keys), count, table_.key_type));
}

}  // namespace guestlist
