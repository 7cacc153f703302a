#include "guestlist/postgres/postgres_source.hpp"

#include <cassert>
#include <utility>

#include "guestlist/hash/composite_key.hpp"
#include "key_table.hpp"
#include "lookup_loop.hpp"
#include "session.hpp"
#include "session_parameters.hpp"

namespace guestlist {
namespace {

using postgres::KeyTable;
using postgres::LookupLoop;
using postgres::Session;
using postgres::SessionParameters;

// What a server that ends a statement may need to say so.
constexpr Duration grace = std::chrono::seconds(1);

Result<KeyTable> describe(const PostgresOptions& options, const PostgresTable& table) {
  if (auto fits = KeyTable::check(table); !fits) return fail(std::move(fits).error());
  const Deadline deadline = Deadline::after(options.connect_timeout, SteadyClock());
  auto session = Session::open(options, deadline);
  if (!session) return fail(std::move(session).error());
  const auto answer =
      session->run(KeyTable::catalog_query(), KeyTable::catalog_values(table), deadline);
  if (!answer) return fail(answer.error());
  auto described = KeyTable::read(table, answer->get());
  if (!described) return described;
  // Also the value expression must be SQL that this role may run.
  const auto tried =
      session->run("PREPARE guestlist AS " + described->lookup_query(), {}, deadline);
  if (!tried) return fail(tried.error());
  return described;
}

}  // namespace

Result<std::unique_ptr<PostgresSource>> PostgresSource::open(const PostgresOptions& options,
                                                             const PostgresTable& table,
                                                             const PostgresSourceOptions& how) {
  auto parameters = SessionParameters::make(options);
  if (!parameters) return fail(std::move(parameters).error());
  auto described = describe(options, table);
  if (!described) return fail(std::move(described).error());
  const bool ends = options.statement_timeout > Duration::zero();
  auto loop = LookupLoop::start(
      *std::move(parameters), table,
      {.connections = how.connections,
       .waiting = how.max_waiting_loads,
       .batch = std::max<std::size_t>(1, how.max_batch),
       .statement = ends ? options.statement_timeout + grace : std::chrono::hours(24)});
  if (!loop) return fail(std::move(loop).error());
  return std::unique_ptr<PostgresSource>(
      new PostgresSource(options, table, how, *std::move(described), *std::move(loop)));
}

PostgresSource::PostgresSource(const PostgresOptions& options, const PostgresTable& table,
                               const PostgresSourceOptions& how, KeyTable described,
                               std::unique_ptr<LookupLoop> loop)
    : options_(options),
      table_(table),
      how_(how),
      described_(std::make_unique<const KeyTable>(std::move(described))),
      loop_(std::move(loop)) {}

PostgresSource::~PostgresSource() = default;

void PostgresSource::load(std::string_view key, Deadline deadline,
                          Completion<std::optional<std::string>> done) {
  loop_->load(key, deadline, std::move(done));
}

Result<std::unique_ptr<Snapshot>> PostgresSource::snapshot() {
  auto opened = open_snapshot(how_.snapshot);
  if (!opened) return fail(std::move(opened).error());
  return std::unique_ptr<Snapshot>(*std::move(opened));
}

Result<std::unique_ptr<PostgresSnapshot>> PostgresSource::open_snapshot(
    const PostgresSnapshotOptions& how) const {
  return PostgresSnapshot::open(options_, table_, how);
}

std::optional<std::string> PostgresSource::canonical_key(
    std::span<const std::string_view> values) const {
  const auto& columns = described_->columns();
  assert(values.size() == columns.size());
  std::vector<std::string> parts;
  std::string buffer;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto canonical = columns[i].canonical(values[i], buffer);
    if (!canonical) return std::nullopt;
    parts.emplace_back(*canonical);
  }
  return join_key(parts);
}

std::vector<KeyType> PostgresSource::key_types() const {
  std::vector<KeyType> types;
  for (const auto& column : described_->columns()) types.push_back(column.type());
  return types;
}

std::uint64_t PostgresSource::queries() const noexcept {
  return loop_->lookups();
}

std::uint64_t PostgresSource::round_trips() const noexcept {
  return loop_->round_trips();
}

}  // namespace guestlist
