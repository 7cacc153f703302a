#include "session_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace guestlist::postgres {
namespace {

using Parameters = std::map<std::string, std::string>;

struct FreeOptions {
  void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};

Result<Parameters> parse(const std::string& address) {
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> options(
      PQconninfoParse(address.c_str(), &message));
  PQfreemem(message);
  if (options == nullptr) {
    return fail(Errc::invalid_argument,
                "the address of PostgreSQL cannot be read; it is postgresql://user@host/database, "
                "or host=… port=… dbname=… user=…, and % is written as %25 in the first form");
  }
  Parameters given;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) given.emplace(option->keyword, option->val);
  }
  return given;
}

std::string pinned_settings(Duration statement_timeout) {
  return fmt::format(
      "-c datestyle=ISO -c intervalstyle=postgres -c timezone=UTC -c extra_float_digits=3 "
      "-c bytea_output=hex -c default_transaction_isolation=read\\ committed -c row_security=off "
      "-c statement_timeout={}",
      std::chrono::ceil<std::chrono::milliseconds>(statement_timeout).count());
}

}  // namespace

Result<SessionParameters> SessionParameters::make(const PostgresOptions& options,
                                                  SessionKind kind) {
  auto parsed = parse(options.address);
  if (!parsed) return fail(std::move(parsed).error());
  Parameters& all = *parsed;
  // What the address says wins over these.
  all.emplace("target_session_attrs", "primary");
  all.emplace("application_name", options.application_name);
  all.emplace("keepalives_idle", "30");
  all.emplace("keepalives_interval", "10");
  all.emplace("keepalives_count", "3");
  // These win, as the server takes the last.
  all["options"] += " " + pinned_settings(options.statement_timeout);
  all["client_encoding"] = "UTF8";
  if (kind == SessionKind::logical_replication) all["replication"] = "database";
  if (kind == SessionKind::physical_replication) all["replication"] = "true";

  SessionParameters made;
  made.connect_timeout_ = options.connect_timeout;
  for (const auto& [keyword, value] : all) {
    made.keywords_.push_back(keyword);
    made.values_.push_back(value);
  }
  return made;
}

ConnectionPointer SessionParameters::begin_connect() const {
  const auto pointers = [](const std::vector<std::string>& strings) {
    std::vector<const char*> made;
    for (const std::string& string : strings) made.push_back(string.c_str());
    made.push_back(nullptr);
    return made;
  };
  const int without_expansion = 0;
  ConnectionPointer connection(PQconnectStartParams(pointers(keywords_).data(),
                                                    pointers(values_).data(), without_expansion));
  // libpq would print what the server remarks.
  PQsetNoticeReceiver(
      connection.get(), [](void*, const PGresult*) {}, nullptr);
  return connection;
}

}  // namespace guestlist::postgres
