#pragma once

// One writer of the chaos test: transactions of every kind on keys that nobody else touches, and a
// ledger of those that exist, which the filter must never call absent.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "guestlist/base/clock.hpp"
#include "guestlist/postgres/postgres_connection.hpp"

namespace guestlist::chaos {

using Key = std::uint64_t;

/// Keys that exist, each with the moment from which nobody may call it absent.
class Ledger {
 public:
  void put(Key key, TimePoint from) {
    if (const auto [at, is_new] = places_.emplace(key, entries_.size()); is_new)
      entries_.push_back({key, from});
  }
  void remove(Key key) {
    const auto at = places_.find(key);
    if (at == places_.end()) return;
    places_[entries_.back().key] = at->second;
    entries_[at->second] = entries_.back();
    entries_.pop_back();
    places_.erase(key);
  }
  struct Entry {
    Key key;
    TimePoint from;
  };
  const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::unordered_map<Key, std::size_t> places_;
};

class Writer {
 public:
  struct Options {
    std::string address;
    std::size_t number = 0;
    std::uint64_t seed = 0;
    /// From an acknowledged commit to the moment at which its keys are known.
    Duration known_after = Duration::zero();
    /// From a commit whose answer was lost, once its rows are seen.
    Duration seen_after = Duration::zero();
    std::function<bool()> is_over;
    /// Keys that exist and must not be called absent now.
    std::function<void(const std::vector<Key>& keys)> check;
  };
  explicit Writer(Options options)
      : options_(std::move(options)),
        random_(options_.seed + options_.number),
        next_((options_.number + 1) * 1'000'000'000'000) {}

  void run() {
    while (!options_.is_over()) {
      if (!connection_ && !connect()) continue;
      const Transaction transaction = choose();
      // From here on they may be gone.
      for (const Key key : transaction.removed) ledger_.remove(key);
      if (execute(transaction.statements)) {
        ++commits_;
        const TimePoint from = clock_.now() + options_.known_after;
        for (const Key key : transaction.added) ledger_.put(key, from);
        if (options_.known_after == Duration::zero()) options_.check(transaction.added);
      } else {
        recover(transaction);
      }
      options_.check(sample());
    }
    connection_.reset();
  }
  const Ledger& ledger() const noexcept { return ledger_; }
  std::uint64_t commits() const noexcept { return commits_; }
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  struct Transaction {
    std::vector<std::string> statements;
    std::vector<Key> added;
    std::vector<Key> removed;
  };

  static constexpr std::size_t samples = 500;

  std::vector<Key> new_keys(std::size_t count) {
    std::vector<Key> keys;
    for (std::size_t i = 0; i < count; ++i) keys.push_back(next_++);
    return keys;
  }
  std::vector<Key> some_of_ours(std::size_t count) {
    std::vector<Key> keys;
    const auto& entries = ledger_.entries();
    for (std::size_t i = 0; i < count && i < entries.size(); ++i)
      keys.push_back(entries[random_() % entries.size()].key);
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
  }
  std::vector<Key> sample() {
    std::vector<Key> keys;
    const TimePoint now = clock_.now();
    const auto& entries = ledger_.entries();
    for (std::size_t i = 0; i < samples && !entries.empty(); ++i) {
      const auto& entry = entries[random_() % entries.size()];
      if (entry.from <= now) keys.push_back(entry.key);
    }
    return keys;
  }
  static std::string insert(const std::vector<Key>& keys) {
    return fmt::format("INSERT INTO chaos VALUES ({})", fmt::join(keys, "), ("));
  }

  Transaction choose() {
    const std::vector<Key> fresh = new_keys(1 + random_() % 20);
    const std::vector<Key> old = some_of_ours(5);
    switch (random_() % 9) {
      case 0:
        return {{insert(fresh)}, fresh, {}};
      case 1: {
        std::vector<Key> both = fresh;
        both.insert(both.end(), old.begin(), old.end());
        return {{insert(both) + " ON CONFLICT (key) DO UPDATE SET value = 'again'"}, both, {}};
      }
      case 2: {
        const std::vector<Key> many = new_keys(500 + random_() % 3000);
        return {
            {fmt::format("COPY chaos (key) FROM PROGRAM 'seq {} {}'", many.front(), many.back())},
            many,
            {}};
      }
      case 3: {
        const std::vector<Key> undone = new_keys(5);
        std::vector<Key> kept = fresh;
        const std::vector<Key> after = new_keys(5);
        kept.insert(kept.end(), after.begin(), after.end());
        return {{"BEGIN", insert(fresh), "SAVEPOINT one", insert(undone), "ROLLBACK TO one",
                 "SAVEPOINT two", insert(after), "RELEASE two", "COMMIT"},
                kept,
                {}};
      }
      case 4:
        return {{"BEGIN", insert(fresh), "ROLLBACK"}, {}, {}};
      case 5:
        return {{"BEGIN", insert(fresh), fmt::format("PREPARE TRANSACTION '{}'", name()),
                 fmt::format("COMMIT PREPARED '{}'", name())},
                fresh,
                {}};
      case 6: {
        if (old.empty()) return {};
        const Key key = fresh.front();
        return {{fmt::format("UPDATE chaos SET key = {} WHERE key = {}", key, old.front())},
                {key},
                {old.front()}};
      }
      case 7: {
        if (old.empty()) return {};
        gone_.insert(gone_.end(), old.begin(), old.end());
        return {
            {fmt::format("DELETE FROM chaos WHERE key IN ({})", fmt::join(old, ", "))}, {}, old};
      }
      default: {
        // What was deleted is created again, unless a deletion was undone.
        const std::vector<Key> again(gone_.begin(), gone_.end());
        gone_.clear();
        if (again.empty()) return {};
        return {{insert(again) + " ON CONFLICT (key) DO NOTHING"}, again, again};
      }
    }
  }

  std::string name() const { return fmt::format("writer {}", options_.number); }
  Deadline soon() const { return Deadline::after(std::chrono::seconds(60), clock_); }

  bool execute(const std::vector<std::string>& statements) {
    for (const std::string& statement : statements) {
      if (!connection_->execute(statement, soon())) return false;
    }
    return true;
  }

  bool connect() {
    auto opened = PostgresConnection::open({.address = options_.address,
                                            .application_name = name(),
                                            .statement_timeout = Duration::zero()},
                                           Deadline::after(std::chrono::seconds(5), clock_));
    if (opened) connection_.emplace(*std::move(opened));
    return opened.has_value();
  }

  /// Nobody said what became of it. Once our old session is gone, the table says so.
  void recover(const Transaction& transaction) {
    ++lost_;
    std::vector<Key> doubtful = transaction.added;
    doubtful.insert(doubtful.end(), transaction.removed.begin(), transaction.removed.end());
    while (!options_.is_over()) {
      connection_.reset();
      if (!connect()) continue;
      const auto others = connection_->execute(
          fmt::format("SELECT count(*) FROM pg_stat_activity WHERE application_name = '{}'",
                      name()),
          soon());
      if (!others || others->text(0, 0) != "1") continue;
      const auto prepared = connection_->execute(
          fmt::format("SELECT gid FROM pg_prepared_xacts WHERE gid = '{}'", name()), soon());
      if (!prepared) continue;
      if (prepared->size() == 1 &&
          !connection_->execute(fmt::format("COMMIT PREPARED '{}'", name()), soon()))
        continue;
      if (doubtful.empty()) return;
      const auto seen = connection_->execute(
          fmt::format("SELECT key FROM chaos WHERE key IN ({})", fmt::join(doubtful, ", ")),
          soon());
      if (!seen) continue;
      const TimePoint from = clock_.now() + options_.seen_after;
      for (std::size_t row = 0; row < seen->size(); ++row)
        ledger_.put(std::stoull(std::string(seen->text(row, 0))), from);
      return;
    }
  }

  const Options options_;
  const SteadyClock clock_;
  std::mt19937_64 random_;
  Key next_;
  Ledger ledger_;
  std::vector<Key> gone_;
  std::uint64_t commits_ = 0;
  std::uint64_t lost_ = 0;
  std::optional<PostgresConnection> connection_;
};

}  // namespace guestlist::chaos
