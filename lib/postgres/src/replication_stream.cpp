#include "replication_stream.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "guestlist/base/bytes.hpp"

namespace guestlist::postgres {
namespace {

void store_big_endian(char* to, std::uint64_t value) {
  store_little_endian(to, byte_swap(value));
}

constexpr std::size_t data_header = 1 + 3 * sizeof(std::uint64_t);
constexpr std::size_t keepalive_size = 1 + 2 * sizeof(std::uint64_t) + 1;

}  // namespace

Error replication_error(Error error) {
  const auto has = [&](std::string_view state) {
    return error.detail.ends_with(fmt::format("({})", state));
  };
  // object_in_use; undefined_object, undefined_file; object_not_in_prerequisite_state.
  if (has("55006")) error.code = make_error_code(Errc::overloaded);
  if (has("42704") || has("58P01") || has("55000")) error.code = make_error_code(Errc::not_found);
  return error;
}

Result<ReplicationStream> ReplicationStream::start(Session session, const std::string& command,
                                                   Deadline deadline) {
  if (auto begun = session.begin_both_ways(command, deadline); !begun)
    return fail(replication_error(std::move(begun).error()));
  return ReplicationStream(session.release());
}

Result<std::optional<ReplicationStream::Message>> ReplicationStream::try_next() {
  constexpr int without_waiting = 1;
  char* line = nullptr;
  const int size = PQgetCopyData(connection_.get(), &line, without_waiting);
  line_.reset(line);
  if (size == 0) return std::optional<Message>();
  if (size < 0) return fail(ended());
  const std::string_view bytes(line, static_cast<std::size_t>(size));
  const auto number = [&](std::size_t at) { return load_big_endian<std::uint64_t>(line + at); };
  if (bytes.front() == 'w' && bytes.size() >= data_header)
    return Message{.lsn = number(1), .payload = bytes.substr(data_header)};
  if (bytes.front() == 'k' && bytes.size() == keepalive_size)
    return Message{.is_keepalive = true, .wants_reply = bytes.back() != 0, .lsn = number(1)};
  return fail(Errc::unavailable, "PostgreSQL sent what is no message of replication");
}

Error ReplicationStream::ended() {
  const ResultPointer result(PQgetResult(connection_.get()));
  if (result == nullptr || succeeded(result.get())) return connection_error(connection_.get());
  if (sql_state(result.get()).empty()) return connection_error(connection_.get());
  return replication_error(statement_error(result.get()));
}

Result<void> ReplicationStream::read_input() {
  if (PQconsumeInput(connection_.get()) == 1) return {};
  return fail(connection_error(connection_.get()));
}

Result<void> ReplicationStream::confirm(std::uint64_t lsn) {
  // Kind; written, flushed, applied; the time, which the server only shows; no reply wanted.
  std::array<char, 1 + 4 * sizeof(std::uint64_t) + 1> update{};
  update[0] = 'r';
  for (const std::size_t at : {1U, 9U, 17U}) store_big_endian(&update[at], lsn);
  if (PQputCopyData(connection_.get(), update.data(), static_cast<int>(update.size())) != 1 ||
      PQflush(connection_.get()) < 0)
    return fail(connection_error(connection_.get()));
  return {};
}

Result<bool> ReplicationStream::flush() {
  const int rest = PQflush(connection_.get());
  if (rest < 0) return fail(connection_error(connection_.get()));
  return rest == 0;
}

}  // namespace guestlist::postgres
