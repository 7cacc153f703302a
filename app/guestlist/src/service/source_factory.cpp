#include "service/source_factory.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "guestlist/lines/lines_source.hpp"
#include "guestlist/postgres/postgres_followed_source.hpp"

namespace guestlist {
namespace {

std::string names_of(const std::vector<KeyType>& key) {
  std::string names;
  for (const KeyType type : key)
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", name(type));
  return key.size() == 1 ? names : fmt::format("[{}]", names);
}

Error at(const FilterConfig& filter, const Error& error) {
  return Error{error.code, fmt::format("{}: filter '{}': {}", filter.source.place.text(),
                                       filter.name, error.detail)};
}

Result<OpenedSource> open_postgres(const FilterConfig& filter) {
  const SourceConfig& config = filter.source;
  PostgresOptions options;
  options.address = config.postgres;
  options.application_name = config.application_name;
  PostgresTable table;
  table.schema = config.schema;
  table.table = config.table;
  table.key_columns = config.columns;
  PostgresFollowOptions follow;
  follow.slot = config.slot;
  follow.publication = config.publication;
  follow.is_synchronous = config.is_synchronous;
  follow.max_retained_bytes = config.max_retained_bytes;
  PostgresSourceOptions how;
  auto source = PostgresFollowedSource::open(options, table, follow, how);
  if (!source) return fail(at(filter, source.error()));
  std::vector<KeyType> key = (*source)->table().key_types();
  if (!filter.key.empty() && filter.key != key) {
    return fail(Errc::invalid_argument,
                fmt::format("{}: filter '{}': the columns are {}; write key = {}, or leave it out",
                            filter.place.text(), filter.name, names_of(key), names_of(key)));
  }
  return OpenedSource{*std::move(source), std::move(key)};
}

/// A file is named as seen from the configuration.
std::filesystem::path beside_configuration(const FilterConfig& filter, const std::string& path) {
  return std::filesystem::path(filter.source.place.file).parent_path() / path;
}

Result<OpenedSource> open_lines(const FilterConfig& filter) {
  const SourceConfig& config = filter.source;
  if (filter.key.size() != 1) {
    return fail(Errc::invalid_argument,
                fmt::format("{}: filter '{}': a line is a key of one column; write key = \"text\"",
                            filter.place.text(), filter.name));
  }
  LinesFile file;
  file.path = beside_configuration(filter, config.lines);
  file.csv_column = config.csv_column;
  file.json_field = config.json_field;
  file.key_type = filter.key.front();
  auto source = LinesSource::open(file);
  if (!source) return fail(at(filter, source.error()));
  return OpenedSource{*std::move(source), filter.key};
}

}  // namespace

Result<OpenedSource> open_source(const FilterConfig& filter) {
  if (!filter.source.postgres.empty()) return open_postgres(filter);
  if (!filter.source.lines.empty()) return open_lines(filter);
  return fail(Errc::invalid_argument,
              filter.source.place.text() +
                  ": SQLite is not followed by this version; use postgres or lines");
}

}  // namespace guestlist
