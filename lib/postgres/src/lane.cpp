#include "lane.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <utility>

namespace guestlist::postgres {
namespace {

constexpr const char* lookup_name = "guestlist_lookup";
constexpr int text_format = 0;

}  // namespace

std::optional<Lane::Outcome> Lane::advance(TimePoint now, bool socket_is_ready) {
  switch (state_) {
    case State::down:
      if (now >= wakes_at_) connect(now);
      return std::nullopt;
    case State::connecting:
      if (socket_is_ready) {
        go_on_connecting(now);
      } else if (now >= wakes_at_) {
        return fall({make_error_code(Errc::unavailable),
                     fmt::format("PostgreSQL at '{}' did not accept a connection in time",
                                 PQhost(connection_.get()))},
                    now);
      }
      return std::nullopt;
    default:
      if (socket_is_ready) return exchange(now);
      if (now >= wakes_at_) {
        if (PQstatus(connection_.get()) != CONNECTION_OK)
          return fall(connection_error(connection_.get()), now);
        return fall({make_error_code(Errc::unavailable),
                     "PostgreSQL answers no more, not even by ending a statement that takes too "
                     "long; the connection was given up"},
                    now);
      }
      return std::nullopt;
  }
}

void Lane::connect(TimePoint now) {
  connection_ = parameters_.begin_connect();
  if (connection_ == nullptr || PQstatus(connection_.get()) == CONNECTION_BAD) {
    fall(connection_error(connection_.get()), now);
    return;
  }
  state_ = State::connecting;
  events_ = POLLOUT;
  wakes_at_ = now + parameters_.connect_timeout();
}

void Lane::go_on_connecting(TimePoint now) {
  switch (PQconnectPoll(connection_.get())) {
    case PGRES_POLLING_READING:
      events_ = POLLIN;
      return;
    case PGRES_POLLING_WRITING:
      events_ = POLLOUT;
      return;
    case PGRES_POLLING_OK:
      PQsetnonblocking(connection_.get(), 1);
      ask_catalog(State::describing, now);
      return;
    default:
      fall(connection_error(connection_.get()), now);
  }
}

void Lane::ask_catalog(State state, TimePoint now) {
  const auto values = KeyTable::catalog_values(table_);
  std::vector<const char*> pointers;
  pointers.reserve(values.size());
  for (const auto& value : values) pointers.push_back(value->c_str());
  const bool ok = PQsendQueryParams(connection_.get(), KeyTable::catalog_query().c_str(),
                                    static_cast<int>(pointers.size()), nullptr, pointers.data(),
                                    nullptr, nullptr, text_format) == 1;
  sent(ok, state, now);
}

void Lane::prepare(TimePoint now) {
  const bool ok = PQsendPrepare(connection_.get(), lookup_name, described_->lookup_query().c_str(),
                                0, nullptr) == 1;
  sent(ok, State::preparing, now);
}

void Lane::ask(const std::vector<std::string>& arrays, TimePoint now) {
  std::vector<const char*> pointers;
  pointers.reserve(arrays.size());
  for (const std::string& array : arrays) pointers.push_back(array.c_str());
  const bool ok =
      PQsendQueryPrepared(connection_.get(), lookup_name, static_cast<int>(pointers.size()),
                          pointers.data(), nullptr, nullptr, text_format) == 1;
  sent(ok, State::asking, now);
}

void Lane::sent(bool ok, State state, TimePoint now) {
  state_ = state;
  answer_.reset();
  events_ = PQflush(connection_.get()) == 1 ? POLLIN | POLLOUT : POLLIN;
  // What could not be sent has no answer to wait for.
  wakes_at_ = ok ? now + statement_limit_ : now;
}

std::optional<Lane::Outcome> Lane::exchange(TimePoint now) {
  if (PQconsumeInput(connection_.get()) != 1) return fall(connection_error(connection_.get()), now);
  events_ = PQflush(connection_.get()) == 1 ? POLLIN | POLLOUT : POLLIN;
  while (PQisBusy(connection_.get()) == 0) {
    ResultPointer next(PQgetResult(connection_.get()));
    if (next == nullptr) {
      if (PQstatus(connection_.get()) != CONNECTION_OK)
        return fall(connection_error(connection_.get()), now);
      return state_ == State::idle ? std::nullopt : on_answer(now);
    }
    // The first failure says more than what follows from it.
    if (answer_ == nullptr || succeeded(answer_.get())) answer_ = std::move(next);
  }
  return std::nullopt;
}

std::optional<Lane::Outcome> Lane::on_answer(TimePoint now) {
  ResultPointer answer = std::move(answer_);
  if (answer == nullptr) return fall(connection_error(connection_.get()), now);
  const bool ok = succeeded(answer.get());
  if (state_ == State::describing || state_ == State::verifying) {
    if (ok) {
      take_description(answer.get(), now);
      return std::nullopt;
    }
    return fall(statement_error(answer.get()), now);
  }
  if (state_ == State::preparing) {
    if (!ok) return fall(statement_error(answer.get()), now);
    ask_catalog(State::verifying, now);
    return std::nullopt;
  }
  state_ = State::idle;
  wakes_at_ = TimePoint::max();
  Error failure;
  if (!ok) failure = statement_error(answer.get());
  return Outcome{std::move(answer), std::move(failure)};
}

void Lane::take_description(const PGresult* answer, TimePoint now) {
  auto described = KeyTable::read(table_, answer);
  if (!described) {
    fall(std::move(described).error(), now);
  } else if (state_ == State::describing) {
    described_ = *std::move(described);
    prepare(now);
  } else if (*described != *described_) {
    start_again(now);
  } else {
    backoff_.succeeded();
    state_ = State::idle;
    wakes_at_ = TimePoint::max();
  }
}

void Lane::start_again(TimePoint now) {
  fall({make_error_code(Errc::unavailable), "the table has changed"}, now);
}

std::optional<Lane::Outcome> Lane::fall(Error why, TimePoint now) {
  const bool had_worked = state_ == State::idle || state_ == State::asking;
  const bool was_asking = state_ == State::asking;
  connection_.reset();
  state_ = State::down;
  failure_ = std::move(why);
  wakes_at_ = had_worked ? now : backoff_.failed(now);
  events_ = 0;
  if (!was_asking) return std::nullopt;
  return Outcome{nullptr, failure_};
}

}  // namespace guestlist::postgres
