#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "demo/catalogue.hpp"
#include "guestlist/postgres/postgres_connection.hpp"

namespace guestlist::demo {
namespace {

constexpr std::size_t packages_per_statement = 5000;

}  // namespace

Result<void> write_catalogue_to_postgres(const Catalogue& catalogue, const std::string& address) {
  const SteadyClock clock;
  const auto soon = [&] { return Deadline::after(std::chrono::seconds(30), clock); };
  PostgresOptions options;
  options.address = address;
  options.statement_timeout = std::chrono::seconds(30);
  auto connection = PostgresConnection::open(options, soon());
  if (!connection) return fail(std::move(connection).error());
  const auto created = connection->execute(
      "SET client_min_messages = warning; DROP TABLE IF EXISTS packages; CREATE TABLE packages "
      "(name text PRIMARY KEY, version text, "
      "section text, description text)",
      soon());
  if (!created) return fail(created.error());
  for (std::size_t first = 0; first < catalogue.packages.size(); first += packages_per_statement) {
    boost::json::array rows;
    const auto last = std::min(first + packages_per_statement, catalogue.packages.size());
    for (auto i = first; i < last; ++i) {
      const Package& package = catalogue.packages[i];
      rows.push_back({{"name", package.name},
                      {"version", package.version},
                      {"section", package.section},
                      {"description", package.description}});
    }
    const auto inserted = connection->execute(
        "INSERT INTO packages SELECT * FROM json_to_recordset($1::json) AS package(name text, "
        "version text, section text, description text)",
        {boost::json::serialize(rows)}, soon());
    if (!inserted) return fail(inserted.error());
  }
  const auto counted = connection->execute("ANALYZE packages", soon());
  return counted ? Result<void>() : Result<void>(fail(counted.error()));
}

}  // namespace guestlist::demo
