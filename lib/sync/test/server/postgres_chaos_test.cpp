// Eight writers, and a filter that follows them while the walsender, the follower and PostgreSQL
// itself are killed and started again: no committed key is ever called absent. With a synchronous
// follower that holds from the moment at which the commit returns, else from a lease later.
//
// GUESTLIST_CHAOS_VERDICTS lets it run until so many verdicts were given.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <shared_mutex>
#include <thread>

#include "chaos_writer.hpp"
#include "guestlist/postgres/postgres_followed_source.hpp"
#include "guestlist/servers/postgres_server.hpp"
#include "guestlist/servers/required.hpp"
#include "guestlist/servers/temporary_folder.hpp"
#include "guestlist/sync/followed_filter.hpp"

namespace guestlist {
namespace {

using namespace std::chrono_literals;
using servers::required;

constexpr std::size_t writers = 8;
constexpr Duration lease = 2s;

class PostgresChaosTest : public testing::Test {
 protected:
  void SetUp() override {
    server_.emplace(required(servers::PostgresServer::start(
        {.logical_replication = true,
         .settings = {"max_prepared_transactions = 16", "client_min_messages = warning",
                      "max_wal_size = '4GB'", "checkpoint_timeout = '1h'",
                      "deadlock_timeout = '100ms'"}})));
    query("CREATE TABLE chaos (key bigint PRIMARY KEY, value text)");
    // A filter that is full says little.
    query("INSERT INTO chaos SELECT i FROM generate_series(1000000, 1300000) i");
  }
  void TearDown() override { filter_.reset(); }

  void query(const std::string& sql) {
    const auto reply = server_->query(sql);
    EXPECT_FALSE(reply.is_error()) << sql << ": " << reply.error;
  }

  std::shared_ptr<FollowedFilter> start_filter() {
    PostgresFollowOptions follow;
    follow.slot = "chaos";
    follow.is_synchronous = is_synchronous_;
    follow.heartbeat = 50ms;
    while (true) {
      // PostgreSQL may be on its way up.
      auto source = PostgresFollowedSource::open(
          {.address = server_->connection_string(), .application_name = "gate"},
          {.table = "chaos", .key_columns = {"key"}}, follow, {.connections = 1});
      if (!source) continue;
      FollowOptions options;
      options.name = "chaos";
      options.origin = "chaos";
      options.key_type = "int";
      options.fpr = 1e-5;
      options.headroom = 4;
      options.lease = lease;
      options.folder = folder_.path().string();
      options.retry_at_most = 200ms;
      options.measure_every = 200ms;
      return required(FollowedFilter::start(options, *std::move(source)));
    }
  }
  void restart_filter() {
    std::shared_ptr<FollowedFilter> old;
    {
      const std::unique_lock lock(mutex_);
      old.swap(filter_);
    }
    old.reset();
    auto started = start_filter();
    const std::unique_lock lock(mutex_);
    filter_ = std::move(started);
  }

  /// Of keys that exist.
  void check(const std::vector<chaos::Key>& keys) {
    std::vector<std::string> texts;
    for (const chaos::Key key : keys) texts.push_back(std::to_string(key));
    each_verdict(texts, [&](std::size_t i, const Verdict& verdict) {
      if (verdict != Verdict::absent()) return;
      if (++wrong_ == 1)
        ADD_FAILURE() << texts[i] << " exists and was called absent, seed " << seed_;
    });
  }
  template <class Each>
  void each_verdict(const std::vector<std::string>& keys, const Each& each) {
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    const std::shared_lock lock(mutex_);
    if (filter_ == nullptr) return;
    filter_->check(views, Deadline::never(), [&](std::span<const Verdict> verdicts) {
      for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const bool is_known = verdicts[i] == Verdict::maybe() || verdicts[i] == Verdict::absent();
        ++(is_known ? known_ : unknown_);
        each(i, verdicts[i]);
      }
    });
  }
  /// The test would be worth nothing if the filter never said so.
  bool calls_absent() {
    bool is_absent = false;
    each_verdict({"12"}, [&](std::size_t, const Verdict& verdict) {
      is_absent = verdict == Verdict::absent();
    });
    return is_absent;
  }
  template <class Condition>
  static bool eventually(Condition holds) {
    const TimePoint limit = SteadyClock().now() + 60s;
    while (!holds()) {
      if (SteadyClock().now() > limit) return false;
      std::this_thread::sleep_for(5ms);
    }
    return true;
  }

  void hurt(std::mt19937_64& random) {
    const auto roll = random() % 100;
    if (roll < 50) {
      (void)server_->query("SELECT pg_terminate_backend(pid) FROM pg_stat_replication");
    } else if (roll < 75) {
      restart_filter();
    } else if (roll < 85) {
      server_->kill();
      ASSERT_TRUE(server_->restart());
    } else if (roll < 90) {
      (void)server_->query("SELECT pg_terminate_backend(pid) FROM pg_stat_replication");
      (void)server_->query("SELECT pg_drop_replication_slot('chaos')");
    } else {
      const std::shared_lock lock(mutex_);
      filter_->request_rebuild();
    }
  }

  void run() {
    seed_ = std::random_device()();
    const char* const asked = std::getenv("GUESTLIST_CHAOS_VERDICTS");
    const std::uint64_t verdicts = asked == nullptr ? 0 : std::strtoull(asked, nullptr, 10);
    filter_ = start_filter();
    ASSERT_TRUE(eventually([&] { return calls_absent(); }));
    if (is_synchronous_) {
      query("ALTER SYSTEM SET synchronous_standby_names = 'gate'");
      // A reload is taken over some time after it was asked for, and commits do not wait until
      // then.
      ASSERT_TRUE(server_->restart());
      ASSERT_TRUE(eventually([&] {
        return server_->query("SELECT sync_state FROM pg_stat_replication").text() == "sync";
      }));
      ASSERT_TRUE(eventually([&] { return calls_absent(); }));
    }
    std::atomic<bool> is_over = false;
    std::vector<std::unique_ptr<chaos::Writer>> all;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < writers; ++i) {
      all.push_back(std::make_unique<chaos::Writer>(chaos::Writer::Options{
          .address = server_->connection_string(),
          .number = i,
          .seed = seed_,
          .known_after = is_synchronous_ ? Duration::zero() : lease,
          .seen_after = lease,
          .is_over = [&] { return is_over.load(); },
          .check = [this](const std::vector<chaos::Key>& keys) { check(keys); }}));
      threads.emplace_back([writer = all.back().get()] { writer->run(); });
    }
    std::mt19937_64 random(seed_);
    const TimePoint began = SteadyClock().now();
    std::uint64_t hurts = 0;
    std::uint64_t absents = 0;
    while (wrong_ == 0 && (SteadyClock().now() - began < 8s || known_ < verdicts) &&
           SteadyClock().now() - began < 25min) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 1000));
      absents += calls_absent() ? 1 : 0;
      hurt(random);
      ++hurts;
    }
    // Whoever waits for the follower is let go by it.
    is_over = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(eventually([&] { return calls_absent(); }));
    std::uint64_t commits = 0;
    std::uint64_t lost = 0;
    std::size_t rows = 0;
    std::this_thread::sleep_for(lease);
    for (const auto& writer : all) {
      std::vector<chaos::Key> keys;
      for (const auto& entry : writer->ledger().entries()) keys.push_back(entry.key);
      check(keys);
      rows += keys.size();
      commits += writer->commits();
      lost += writer->lost();
    }
    EXPECT_EQ(0u, wrong_) << "seed " << seed_;
    EXPECT_GT(absents, 0u);
    EXPECT_GT(commits, 0u);
    RecordProperty("verdicts", std::to_string(known_));
    printf("%llu verdicts, %llu unknown, %llu commits, %llu lost answers, %zu rows, %llu blows\n",
           static_cast<unsigned long long>(known_), static_cast<unsigned long long>(unknown_),
           static_cast<unsigned long long>(commits), static_cast<unsigned long long>(lost), rows,
           static_cast<unsigned long long>(hurts));
  }

  std::optional<servers::PostgresServer> server_;
  servers::TemporaryFolder folder_ = required(servers::TemporaryFolder::create("chaos"));
  bool is_synchronous_ = false;
  std::uint64_t seed_ = 0;
  std::shared_mutex mutex_;
  std::shared_ptr<FollowedFilter> filter_;
  std::atomic<std::uint64_t> known_ = 0;
  std::atomic<std::uint64_t> unknown_ = 0;
  std::atomic<std::uint64_t> wrong_ = 0;
};

TEST_F(PostgresChaosTest, NoCommittedKeyIsAbsentOnceItsCommitReturned) {
  is_synchronous_ = true;
  run();
}

TEST_F(PostgresChaosTest, NoCommittedKeyIsAbsentAfterALease) {
  run();
}

}  // namespace
}  // namespace guestlist
