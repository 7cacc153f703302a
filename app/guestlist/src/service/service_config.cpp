#include "service/service_config.hpp"

#define TOML_EXCEPTIONS 0
#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <sstream>

#include "guestlist/base/file.hpp"
#include "guestlist/filter/filter_plan.hpp"
#include "service/config_value.hpp"

namespace guestlist {
namespace {

constexpr std::uint64_t max_config_bytes = std::uint64_t{1} << 20;

/// One line of the reference, and what reads it.
template <class T>
struct Field {
  std::string_view name;
  std::string_view example;
  std::string_view fallback;  ///< `required` where there is none
  std::string_view meaning;
  Result<void> (*read)(T&, const ConfigValue&);
};

constexpr std::string_view required = "required";

Result<void> read_listen(ServerConfig& server, const ConfigValue& value) {
  std::string text;
  if (auto read = value.read(text); !read) return read;
  const auto colon = text.rfind(':');
  std::uint64_t port = 0;
  const std::string_view digits =
      colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1);
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc() || stop != digits.data() + digits.size() ||
      port > std::numeric_limits<std::uint16_t>::max())
    return value.refuse(R"(address and port, as in "127.0.0.1:8700")");
  server.address = text.substr(0, colon);
  if (server.address.starts_with('[') && server.address.ends_with(']'))
    server.address = server.address.substr(1, server.address.size() - 2);
  if (server.address.empty()) server.address = "0.0.0.0";
  server.port = static_cast<std::uint16_t>(port);
  return {};
}

Result<void> read_key(FilterConfig& filter, const ConfigValue& value) {
  std::vector<std::string> names;
  if (auto read = value.read(names); !read) return read;
  filter.key.clear();
  for (const std::string& name : names) {
    const auto type = key_type_from_name(name);
    if (!type)
      return value.refuse(R"("int", "uuid", "text", "bytes", "decimal", or a list of them)");
    filter.key.push_back(*type);
  }
  return {};
}

Result<void> read_name(FilterConfig& filter, const ConfigValue& value) {
  if (auto read = value.read(filter.name); !read) return read;
  constexpr std::size_t most = 100;
  const bool is_plain =
      !filter.name.empty() && filter.name.size() <= most && filter.name.front() != '.' &&
      std::ranges::all_of(filter.name, [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
      });
  return is_plain ? Result<void>() : value.refuse("1 to 100 letters, digits, '-', '_', '.'");
}

constexpr Field<ServerConfig> server_fields[] = {
    {"listen", R"("127.0.0.1:8700")", R"("127.0.0.1:8700")",
     "Address and port; port 0 takes a free one.", read_listen},
    {"threads", "2", "one a core", "Event loops that answer.",
     [](ServerConfig& c, const ConfigValue& v) { return v.read_as(c.threads, 1, 256); }},
    {"token", R"("${GUESTLIST_TOKEN}")", "none",
     "What changes state (rebuild, mode, add) needs `Authorization: Bearer TOKEN`. Without it "
     "nothing "
     "may be changed over HTTP.",
     [](ServerConfig& c, const ConfigValue& v) { return v.read(c.token); }},
    {"state", R"("/var/lib/guestlist")", "`$STATE_DIRECTORY`, else the file's name and `.state`",
     "Folder of the filters' files and journals; a relative one is beside this file.",
     [](ServerConfig& c, const ConfigValue& v) { return v.read(c.state_folder); }},
    {"max_connections", "10000", "10000", "Connections beyond it are closed at once.",
     [](ServerConfig& c, const ConfigValue& v) {
       return v.read_as(c.max_connections, 1, 1'000'000);
     }},
    {"idle_timeout", R"("60s")", R"("60s")", "A connection without a request is closed after it.",
     [](ServerConfig& c, const ConfigValue& v) {
       return v.read(c.idle_timeout, std::chrono::milliseconds(100));
     }},
    {"drain_timeout", R"("10s")", R"("10s")",
     "How long SIGTERM waits for requests that are answered.",
     [](ServerConfig& c, const ConfigValue& v) {
       return v.read(c.drain_timeout, Duration::zero());
     }},
    {"log", R"("json")", R"("text")", "Lines on stderr: `text` or `json`.",
     [](ServerConfig& c, const ConfigValue& v) {
       return v.read_word<bool>(c.json_log, {{"text", false}, {"json", true}});
     }},
};

constexpr Field<std::string> redis_fields[] = {
    {"url", R"("redis://127.0.0.1:6379")", required,
     "Where the filters are published for other processes: `redis://`, `rediss://`, "
     "`redis+cluster://`, `redis+sentinel://`.",
     [](std::string& url, const ConfigValue& v) { return v.read(url); }},
};

constexpr Field<FilterConfig> filter_fields[] = {
    {"name", R"("products")", required, "As routes, metrics, files and Redis call it.", read_name},
    {"fpr", "0.001", "0.01", "Share of the keys that do not exist and pass all the same.",
     [](FilterConfig& c, const ConfigValue& v) {
       return v.read(c.fpr, FilterPlan::min_fpr, FilterPlan::max_fpr);
     }},
    {"key", R"("int")", R"("text"; PostgreSQL: as the columns are)",
     "Type of the key: `int`, `uuid`, `text`, `bytes`, `decimal`; a list for a key of several "
     "columns.",
     read_key},
    {"headroom", "0.25", "0.25",
     "Room for keys that come later, as a share of those that are there.",
     [](FilterConfig& c, const ConfigValue& v) { return v.read(c.headroom, 0, 100); }},
    {"lease", R"("3s")", R"("3s")",
     "Nothing is called absent when the source was last in step longer ago than this.",
     [](FilterConfig& c, const ConfigValue& v) {
       return v.read(c.lease, std::chrono::milliseconds(100));
     }},
    {"strict", "true", "false", "What is no spelling of a key is rejected too, and does not pass.",
     [](FilterConfig& c, const ConfigValue& v) { return v.read(c.is_strict); }},
    {"audits_per_second", "10", "10",
     "So many verdicts a second are compared with the source: false negatives, measured fpr. 0: "
     "none.",
     [](FilterConfig& c, const ConfigValue& v) {
       return v.read_as(c.audits_per_second, 0, 100'000);
     }},
    {"rebuild_full_at", "1.0", "1.0", "Built anew at so many keys, as a share of the capacity.",
     [](FilterConfig& c, const ConfigValue& v) { return v.read(c.rebuild_full_at, 0.1, 100); }},
    {"rebuild_deletes_at", "0.2", "0.2", "Built anew at so many deleted keys, as a share of all.",
     [](FilterConfig& c, const ConfigValue& v) {
       return v.read(c.rebuild_deletes_at, 0.001, 100);
     }},
    {"rebuild_every", R"("24h")", "never", "Built anew at this age.",
     [](FilterConfig& c, const ConfigValue& v) {
       c.rebuild_oldest.emplace();
       return v.read(*c.rebuild_oldest, std::chrono::seconds(1));
     }},
};

constexpr Field<SourceConfig> source_fields[] = {
    {"postgres", R"("postgresql://app@db/shop")", "one of the three",
     "A PostgreSQL database, as libpq has it; what it leaves out comes from `PGHOST`, "
     "`PGPASSFILE`, ….",
     [](SourceConfig& c, const ConfigValue& v) { return v.read(c.postgres); }},
    {"sqlite", R"("shop.db")", "one of the three",
     "An SQLite database. Not followed by this version.",
     [](SourceConfig& c, const ConfigValue& v) { return v.read(c.sqlite); }},
    {"lines", R"("ids.txt")", "one of the three",
     "A file with a key a line, read again when it changes.",
     [](SourceConfig& c, const ConfigValue& v) { return v.read(c.lines); }},
    {"table", R"("products")", "required with a database", "The table, in exact spelling.",
     [](SourceConfig& c, const ConfigValue& v) { return v.read(c.table); }},
    {"schema", R"("public")", "where the session finds the table",
     "PostgreSQL: the table's schema.",
     [](SourceConfig& c, const ConfigValue& v) { return v.read(c.schema); }},
    {"column", R"("id")", "required with a database",
     "The key column; a list for a key of several (PostgreSQL).",
     [](SourceConfig& c, const ConfigValue& v) { return v.read(c.columns); }},
    {"csv", R"("sku")", "none", "Lines: the file is CSV with a head, and this is the column.",
     [](SourceConfig& c, const ConfigValue& v) { return v.read(c.csv_column); }},
    {"json", R"("id")", "none", "Lines: each line is a JSON object, and this is the field.",
     [](SourceConfig& c, const ConfigValue& v) { return v.read(c.json_field); }},
    {"follow", R"("sync")", R"("async")",
     "PostgreSQL: `sync` is a synchronous standby, a commit is visible only after its key is on "
     "the list; "
     "`async` follows as fast as it can.",
     [](SourceConfig& c, const ConfigValue& v) {
       return v.read_word<bool>(c.is_synchronous, {{"async", false}, {"sync", true}});
     }},
    {"slot", R"("guestlist_products")", "`guestlist_` and the filter's name",
     "PostgreSQL: the replication slot; one a service.",
     [](SourceConfig& c, const ConfigValue& v) { return v.read(c.slot); }},
    {"publication", R"("guestlist_products")", "as the slot", "PostgreSQL: the publication.",
     [](SourceConfig& c, const ConfigValue& v) { return v.read(c.publication); }},
    {"application_name", R"("guestlist_a")", "as the slot",
     "PostgreSQL: the name that `synchronous_standby_names` has for us.",
     [](SourceConfig& c, const ConfigValue& v) { return v.read(c.application_name); }},
    {"max_retained", R"("4GiB")", R"("4GiB")",
     "PostgreSQL: more of its log is never kept for us; the slot is dropped, and the table read "
     "again.",
     [](SourceConfig& c, const ConfigValue& v) { return v.read_bytes(c.max_retained_bytes); }},
};

constexpr Field<RouteConfig> route_fields[] = {
    {"match", R"("GET /products/{id}")", required,
     "Methods and path with the key's place; without a method GET and HEAD. `/u/{tenant}/o/{id}` "
     "has a "
     "key of two columns, `/search?sku={sku}` a parameter.",
     [](RouteConfig& c, const ConfigValue& v) { return v.read(c.match); }},
    {"host", R"("shop.example")", "any", "Only requests for this host.",
     [](RouteConfig& c, const ConfigValue& v) { return v.read(c.host); }},
    {"header", R"("X-Tenant: {tenant}")", "none", "A part of the key that comes in a header field.",
     [](RouteConfig& c, const ConfigValue& v) { return v.read(c.header); }},
    {"filter", R"("products")", required, "Which filter is asked.",
     [](RouteConfig& c, const ConfigValue& v) { return v.read(c.filter); }},
    {"mode", R"("enforce")", R"("shadow")",
     "`shadow` counts and rejects nothing, `enforce` rejects, `pass` is the kill switch.",
     [](RouteConfig& c, const ConfigValue& v) {
       return v.read_word<Mode>(
           c.mode, {{"shadow", Mode::shadow}, {"enforce", Mode::enforce}, {"pass", Mode::pass}});
     }},
    {"percent", "5", "100", "`enforce`: for this share of the keys, always the same ones.",
     [](RouteConfig& c, const ConfigValue& v) { return v.read_as(c.percent, 0, 100); }},
    {"reject_status", "404", "404",
     "Status of a rejection. nginx has it from its own configuration.",
     [](RouteConfig& c, const ConfigValue& v) { return v.read_as(c.reject_status, 400, 499); }},
    {"reject_body", R"('{"error":"not found"}')", "empty",
     "Body of a rejection; as the backend's own, else it tells who rejects.",
     [](RouteConfig& c, const ConfigValue& v) { return v.read(c.reject_body); }},
    {"reject_content_type", R"("application/json")", R"("text/plain")", "Its type.",
     [](RouteConfig& c, const ConfigValue& v) { return v.read(c.reject_content_type); }},
};

/// Reads tables of one file.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  ConfigPlace place(const toml::source_region& region) const {
    return {file_, region.begin.line, region.begin.column};
  }
  tl::unexpected<Error> refuse(const ConfigPlace& at, const std::string& what) const {
    return fail(Errc::invalid_argument, at.text() + ": " + what);
  }

  /// Every field of the table by the one of its name; `inner` are tables within, read elsewhere.
  template <class T>
  Result<void> read(const toml::table& table, std::string_view title,
                    std::span<const Field<T>> fields, T& into,
                    const std::vector<std::string_view>& inner = {}) const {
    std::vector<std::string_view> known(inner);
    for (const Field<T>& field : fields) known.push_back(field.name);
    for (const auto& [key, node] : table) {
      const std::string_view name = key.str();
      if (std::ranges::find(inner, name) != inner.end()) continue;
      const auto field = std::ranges::find(fields, name, &Field<T>::name);
      if (field == fields.end()) return unknown(key, title, known);
      auto value = read_value(node, std::string(name));
      if (!value) return fail(std::move(value).error());
      if (auto read_it = field->read(into, *value); !read_it) return read_it;
    }
    for (const Field<T>& field : fields) {
      if (field.fallback == required && !table.contains(field.name)) {
        return refuse(place(table.source()), fmt::format("{} needs {}, as in {} = {}", title,
                                                         field.name, field.name, field.example));
      }
    }
    return {};
  }

  tl::unexpected<Error> unknown(const toml::key& key, std::string_view title,
                                const std::vector<std::string_view>& known) const {
    const std::string_view near = nearest(key.str(), known);
    return refuse(place(key.source()), near.empty()
                                           ? fmt::format("{} has no field '{}'; it has {}", title,
                                                         key.str(), fmt::join(known, ", "))
                                           : fmt::format("{} has no field '{}'; did you mean '{}'?",
                                                         title, key.str(), near));
  }

 private:
  Result<ConfigValue> read_value(const toml::node& node, std::string name) const {
    ConfigValue value;
    value.name = std::move(name);
    value.place = place(node.source());
    if (const auto* text = node.as_string()) {
      auto substituted = substitute_environment(text->get());
      if (!substituted)
        return fail(Errc::invalid_argument, value.place.text() + ": " + substituted.error().detail);
      value.kind = ConfigValue::Kind::text;
      value.content = *std::move(substituted);
      return value;
    }
    std::ostringstream shown;
    if (const auto* integer = node.as_integer()) {
      value.kind = ConfigValue::Kind::integer;
      value.integer = integer->get();
      shown << value.integer;
    } else if (const auto* number = node.as_floating_point()) {
      value.kind = ConfigValue::Kind::number;
      value.number = number->get();
      shown << value.number;
    } else if (const auto* flag = node.as_boolean()) {
      value.kind = ConfigValue::Kind::flag;
      value.flag = flag->get();
      shown << (value.flag ? "true" : "false");
    } else if (const auto* list = node.as_array()) {
      value.kind = ConfigValue::Kind::list;
      shown << "a list";
      for (const toml::node& item : *list) {
        auto read_it = read_value(item, value.name);
        if (!read_it) return read_it;
        value.items.push_back(*std::move(read_it));
      }
    } else {
      shown << "a " << node.type();
    }
    value.content = shown.str();
    return value;
  }

  std::string file_;
};

Result<void> check_source(const Reader& reader, const SourceConfig& source) {
  const int kinds = static_cast<int>(!source.postgres.empty()) +
                    static_cast<int>(!source.sqlite.empty()) +
                    static_cast<int>(!source.lines.empty());
  if (kinds != 1)
    return reader.refuse(source.place, "[filter.source] needs one of postgres, sqlite, lines");
  const bool is_database = source.lines.empty();
  if (is_database && (source.table.empty() || source.columns.empty()))
    return reader.refuse(source.place, "[filter.source] of a database needs table and column");
  if (!is_database && (!source.table.empty() || !source.columns.empty()))
    return reader.refuse(source.place,
                         "[filter.source] lines has no table and column; csv or json names them");
  if (source.postgres.empty() && (source.is_synchronous || !source.slot.empty()))
    return reader.refuse(source.place, "only a postgres source has follow = \"sync\" and a slot");
  if (!source.csv_column.empty() && !source.json_field.empty())
    return reader.refuse(source.place, "[filter.source] takes csv or json, not both");
  return {};
}

/// Replication slots have lower case letters, digits and underscores.
std::string slot_name(const std::string& filter) {
  std::string slot = "guestlist_";
  for (const char c : filter) {
    const auto byte = static_cast<unsigned char>(c);
    slot += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return slot.substr(0, 63);
}

void fill_names(FilterConfig& filter) {
  SourceConfig& source = filter.source;
  if (source.slot.empty()) source.slot = slot_name(filter.name);
  if (source.publication.empty()) source.publication = source.slot;
  if (source.application_name.empty()) source.application_name = source.slot;
  if (filter.key.empty() && source.postgres.empty()) filter.key = {KeyType::text};
}

/// The tables of an array of tables, or an error where it is something else.
Result<std::vector<const toml::table*>> tables_of(const Reader& reader, const toml::table& file,
                                                  std::string_view name) {
  std::vector<const toml::table*> tables;
  const toml::node* const node = file.get(name);
  if (node == nullptr) return tables;
  const toml::array* const list = node->as_array();
  if (list == nullptr || !list->is_array_of_tables())
    return reader.refuse(reader.place(node->source()),
                         fmt::format("write [[{0}]], not [{0}]", name));
  for (const toml::node& item : *list) tables.push_back(item.as_table());
  return tables;
}

Result<void> read_filter(const Reader& reader, const toml::table& table, FilterConfig& filter) {
  filter.place = reader.place(table.source());
  if (auto read = reader.read<FilterConfig>(table, "[[filter]]", filter_fields, filter, {"source"});
      !read)
    return read;
  const toml::table* const source = table["source"].as_table();
  if (source == nullptr)
    return reader.refuse(filter.place,
                         fmt::format("filter '{}' needs [filter.source]", filter.name));
  filter.source.place = reader.place(source->source());
  if (auto read =
          reader.read<SourceConfig>(*source, "[filter.source]", source_fields, filter.source);
      !read)
    return read;
  if (auto checked = check_source(reader, filter.source); !checked) return checked;
  fill_names(filter);
  return {};
}

Result<void> read_section(const Reader& reader, const toml::table& file, std::string_view name,
                          auto read) {
  const toml::node* const node = file.get(name);
  if (node == nullptr) return {};
  const toml::table* const table = node->as_table();
  if (table == nullptr)
    return reader.refuse(reader.place(node->source()), fmt::format("write [{}]", name));
  return read(*table);
}

Result<void> read_all(const Reader& reader, const toml::table& file, ServiceConfig& config) {
  const std::vector<std::string_view> sections = {"server", "redis", "filter", "route"};
  for (const auto& [key, node] : file) {
    if (std::ranges::find(sections, key.str()) == sections.end())
      return reader.unknown(key, "the file", sections);
  }
  auto read = read_section(reader, file, "server", [&](const toml::table& table) {
    return reader.read<ServerConfig>(table, "[server]", server_fields, config.server);
  });
  if (!read) return read;
  read = read_section(reader, file, "redis", [&](const toml::table& table) {
    return reader.read<std::string>(table, "[redis]", redis_fields, config.redis_url);
  });
  if (!read) return read;
  const auto filters = tables_of(reader, file, "filter");
  if (!filters) return fail(filters.error());
  std::vector<std::string_view> names;
  for (const toml::table* const table : *filters) {
    FilterConfig& filter = config.filters.emplace_back();
    if (auto read_it = read_filter(reader, *table, filter); !read_it) return read_it;
  }
  for (const FilterConfig& filter : config.filters) {
    if (std::ranges::find(names, filter.name) != names.end())
      return reader.refuse(filter.place, fmt::format("there are two filters '{}'", filter.name));
    names.push_back(filter.name);
  }
  if (names.empty())
    return fail(Errc::invalid_argument, config.path + ": there is no [[filter]]; nothing to serve");
  const auto routes = tables_of(reader, file, "route");
  if (!routes) return fail(routes.error());
  for (const toml::table* const table : *routes) {
    RouteConfig& route = config.routes.emplace_back();
    route.place = reader.place(table->source());
    if (auto read_it = reader.read<RouteConfig>(*table, "[[route]]", route_fields, route); !read_it)
      return read_it;
    if (std::ranges::find(names, route.filter) != names.end()) continue;
    const std::string_view near = nearest(route.filter, names);
    return reader.refuse(
        route.place, fmt::format("there is no filter '{}'{}", route.filter,
                                 near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
  }
  return {};
}

void fill_state_folder(ServiceConfig& config) {
  namespace files = std::filesystem;
  std::string& folder = config.server.state_folder;
  const char* const given = std::getenv("STATE_DIRECTORY");
  if (folder.empty() && given != nullptr) folder = given;
  if (folder.empty()) folder = files::path(config.path).filename().string() + ".state";
  if (files::path(folder).is_relative())
    folder = (files::path(config.path).parent_path() / folder).string();
}

template <class T>
void describe(std::string& page, std::string_view title, std::string_view about,
              std::span<const Field<T>> fields) {
  page += fmt::format("\n## {}\n\n{}\n\n| field | example | default | |\n|---|---|---|---|\n",
                      title, about);
  for (const Field<T>& field : fields)
    page += fmt::format("| `{}` | `{}` | {} | {} |\n", field.name, field.example, field.fallback,
                        field.meaning);
}

}  // namespace

std::string SourceConfig::description() const {
  const std::string columns_text = fmt::format("{}", fmt::join(columns, ","));
  if (!postgres.empty())
    return fmt::format("postgres {}{}{}({})", schema, schema.empty() ? "" : ".", table,
                       columns_text);
  if (!sqlite.empty()) return fmt::format("sqlite {} {}({})", sqlite, table, columns_text);
  const std::string& field = csv_column.empty() ? json_field : csv_column;
  return fmt::format("lines {}{}{}", lines, field.empty() ? "" : " ", field);
}

Result<ServiceConfig> parse_service_config(const std::string& text, const std::string& path) {
  const Reader reader(path);
  const auto parsed = toml::parse(std::string_view(text), std::string_view(path));
  if (!parsed) {
    return reader.refuse(reader.place(parsed.error().source()),
                         std::string(parsed.error().description()));
  }
  ServiceConfig config;
  config.path = path;
  if (auto read = read_all(reader, parsed.table(), config); !read)
    return fail(std::move(read).error());
  fill_state_folder(config);
  return config;
}

Result<ServiceConfig> read_service_config(const std::string& path) {
  const auto text = read_file(path, max_config_bytes);
  if (!text) return fail(text.error());
  return parse_service_config(*text, path);
}

std::string service_config_reference() {
  std::string page =
      "# The configuration file of `guestlist serve`\n\n"
      "One TOML file. A field that is not known is an error, with its place and the nearest name. "
      "In every "
      "text `${NAME}` is the environment's, `${NAME:-value}` has a fallback, `$$` is a `$`. "
      "`guestlist check CONFIG` reads the file, connects to what it names and says what it "
      "finds.\n\n"
      "This page is written by the program: `guestlist check --reference`.\n";
  describe<ServerConfig>(page, "[server]", "How the service is reached.", server_fields);
  describe<std::string>(page, "[redis]", "Optional.", redis_fields);
  describe<FilterConfig>(page, "[[filter]]", "One set of keys that exist; as many as there are.",
                         filter_fields);
  describe<SourceConfig>(page, "[filter.source]",
                         "Where its keys come from. Belongs to the `[[filter]]` above it.",
                         source_fields);
  describe<RouteConfig>(
      page, "[[route]]",
      "Which requests ask which filter. The first that matches counts; what matches none passes.",
      route_fields);
  return page;
}

}  // namespace guestlist
