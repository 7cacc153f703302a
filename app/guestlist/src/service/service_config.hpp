#pragma once

// What a service's configuration file says, checked: whoever holds one can try to start the
// service. docs/operations/configuration.md is its reference, written from the same table that
// reads it.
//
// Threads: plain values.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guestlist/base/clock.hpp"
#include "guestlist/base/result.hpp"
#include "guestlist/guard/decision.hpp"
#include "guestlist/hash/key_type.hpp"

namespace guestlist {

/// Where something stands in the file, for messages: `guestlist.toml:12:3`.
struct ConfigPlace {
  std::string file = {};
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string text() const;
  /// Two configurations that say the same are alike wherever they say it.
  friend bool operator==(const ConfigPlace&, const ConfigPlace&) noexcept { return true; }
};

struct ServerConfig {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8700;
  unsigned threads = 0;  ///< 0: one a core
  /// What changes state asks for it; empty: nothing may be changed over HTTP.
  std::string token = {};
  std::string state_folder = {};
  std::size_t max_connections = 10'000;
  Duration idle_timeout = std::chrono::seconds(60);
  Duration drain_timeout = std::chrono::seconds(10);
  bool json_log = false;
  friend bool operator==(const ServerConfig&, const ServerConfig&) = default;
};

struct SourceConfig {
  ConfigPlace place = {};
  /// Exactly one of the three is given.
  std::string postgres = {};
  std::string sqlite = {};
  std::string lines = {};
  std::string schema = {};
  std::string table = {};
  std::vector<std::string> columns = {};
  std::string csv_column = {};
  std::string json_field = {};
  bool is_synchronous = false;
  std::string slot = {};
  std::string publication = {};
  std::string application_name = {};
  std::uint64_t max_retained_bytes = std::uint64_t{4} << 30;

  /// What the keys are of, in words that do not hold a password.
  std::string description() const;
  friend bool operator==(const SourceConfig&, const SourceConfig&) = default;
};

struct FilterConfig {
  ConfigPlace place = {};
  std::string name = {};
  double fpr = 0.01;
  std::vector<KeyType> key = {};
  double headroom = 0.25;
  Duration lease = std::chrono::seconds(3);
  bool is_strict = false;
  std::uint32_t audits_per_second = 10;
  double rebuild_full_at = 1.0;
  double rebuild_deletes_at = 0.2;
  std::optional<Duration> rebuild_oldest = {};
  SourceConfig source = {};
  friend bool operator==(const FilterConfig&, const FilterConfig&) = default;
};

struct RouteConfig {
  ConfigPlace place = {};
  std::string match = {};
  std::string host = {};
  std::string header = {};
  std::string filter = {};
  Mode mode = Mode::shadow;
  std::uint32_t percent = 100;
  std::uint32_t reject_status = 404;
  std::string reject_body = {};
  std::string reject_content_type = "text/plain";
  friend bool operator==(const RouteConfig&, const RouteConfig&) = default;
};

struct ServiceConfig {
  std::string path = {};
  ServerConfig server = {};
  std::string redis_url = {};  ///< empty: nothing is published
  std::vector<FilterConfig> filters = {};
  std::vector<RouteConfig> routes = {};
};

/// Errors: `not_found`, `unreadable`; `invalid_argument` with file, line, column, what is wrong
/// there and what to write instead.
Result<ServiceConfig> read_service_config(const std::string& path);
/// The same for a text; `path` stands for the file in messages.
Result<ServiceConfig> parse_service_config(const std::string& text, const std::string& path);

/// The reference page, in Markdown.
std::string service_config_reference();

}  // namespace guestlist
