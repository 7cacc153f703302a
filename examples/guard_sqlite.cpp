// A guard in front of SQLite: names that do not exist never reach the database, and new ones are
// found at once.

#include <cstdio>
#include <filesystem>
#include <string>

#include "guestlist/guard/guard.hpp"
#include "guestlist/guard/local_membership.hpp"
#include "guestlist/guard/lru_value_cache.hpp"
#include "guestlist/guard/warm_up.hpp"
#include "guestlist/sqlite/sqlite_source.hpp"

using namespace guestlist;

namespace {

int end_with(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message().c_str());
  return 1;
}

}  // namespace

int main() {
  const std::string path = std::filesystem::temp_directory_path() / "guestlist-example.db";
  std::filesystem::remove(path);
  auto database = Database::open(path, Database::Access::read_write);
  if (!database) return end_with(database.error());
  if (auto made = database->execute("CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT);"
                                    "INSERT INTO products VALUES (1, 'hammer'), (2, 'saw')");
      !made) {
    return end_with(made.error());
  }

  const auto source = SqliteSource::open({path, "products", "id", KeyType::integer, "name"});
  if (!source) return end_with(source.error());
  LocalMembership membership;
  if (const auto warmed = warm_up(membership, **source); !warmed) return end_with(warmed.error());

  const SteadyClock clock;
  LruValueCache cache(1 << 20, clock);
  GuardOptions options;
  options.budget_per_second = 0;  // reject from the first absent key on, for this example's sake
  Guard guard(options, membership, cache, **source, clock);
  const auto soon = [&] { return Deadline::after(std::chrono::seconds(1), clock); };

  const auto hammer = guard.get("1", soon());
  const auto nothing = guard.get("999", soon());
  if (!hammer || !nothing) return 1;
  std::printf("1: %s\n999: %s\n", hammer->value.c_str(),
              nothing->found() ? nothing->value.c_str() : "rejected");

  const auto commit = [&] {
    return database->execute("INSERT INTO products VALUES (999, 'drill')");
  };
  if (const auto written = guard.write("999", commit, soon()); !written)
    return end_with(written.error());
  const auto drill = guard.get("999", soon());
  if (!drill) return end_with(drill.error());
  std::printf("999: %s\n", drill->value.c_str());
  std::filesystem::remove(path);
  return hammer->found() && drill->found() && nothing->outcome == Lookup::Outcome::rejected ? 0 : 1;
}
