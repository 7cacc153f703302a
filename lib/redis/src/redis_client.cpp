#include "guestlist/redis/redis_client.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>

#include "execution.hpp"
#include "guestlist/port/completion.hpp"
#include "topology.hpp"

namespace guestlist {

using redis::EventLoop;
using redis::Execution;
using redis::SessionOptions;
using redis::Topology;

namespace {

std::unique_ptr<Topology> make_topology(EventLoop& loop, const RedisUrl& url,
                                        const SessionOptions& options) {
  switch (url.topology) {
    case RedisTopology::cluster:
      return redis::make_cluster(loop, url, options);
    case RedisTopology::sentinel:
      return redis::make_sentinel(loop, url, options);
    case RedisTopology::standalone:
      break;
  }
  return redis::make_standalone(loop, url, options);
}

SessionOptions session_options(const RedisUrl& url, const RedisClient::Options& options) {
  SessionOptions out;
  out.user = url.user;
  out.password = url.password;
  out.database = url.database;
  out.tls = url.tls;
  out.authority_file = url.parameter("ca");
  out.certificate_file = url.parameter("cert");
  out.key_file = url.parameter("key");
  out.connect_timeout = options.connect_timeout;
  out.health_check_interval = options.health_check_interval;
  return out;
}

RedisReplies failures(std::size_t count, const Error& why) {
  return RedisReplies(count, RedisReply(why));
}

}  // namespace

/// What lives on the loop's thread, and the way there.
class RedisClient::Core {
 public:
  Core(const RedisUrl& url, const Options& options)
      : options_(options), topology_(make_topology(loop_, url, session_options(url, options))) {}

  ~Core() {
    if (loop_.is_here()) {
      close();
      return;
    }
    std::mutex mutex;
    std::condition_variable ended;
    bool is_over = false;
    loop_.post([&] {
      close();
      const std::lock_guard lock(mutex);
      is_over = true;
      ended.notify_one();
    });
    std::unique_lock lock(mutex);
    ended.wait(lock, [&] { return is_over; });
  }

  void execute(RedisPipeline pipeline, Deadline deadline, Done done) {
    const auto commands = pipeline.size();
    const auto bytes = pipeline.bytes();
    if (!reserve(bytes)) {
      return done(failures(commands, {Errc::overloaded, "too many calls wait for Redis"}));
    }
    const bool is_here = loop_.is_here();
    const bool is_waited_for = is_here ? loop_.is_helped() : WaitHelper::offer(loop_.helper());
    auto release = [this, bytes, is_waited_for, done = std::move(done)](RedisReplies replies) {
      outstanding_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
      if (outstanding_calls_.fetch_sub(1, std::memory_order_relaxed) == 1 && is_waited_for) {
        loop_.rest();
      }
      done(std::move(replies));
    };
    // Shared only because the loop's tasks must be copyable.
    auto moved = std::make_shared<RedisPipeline>(std::move(pipeline));
    loop_.post([this, moved, deadline,
                release = std::move(release)] { begin(std::move(*moved), deadline, release); },
               is_waited_for && !is_here);
  }

  bool is_loop_thread() const noexcept { return loop_.is_here(); }

 private:
  bool reserve(std::size_t bytes) noexcept {
    const auto calls = outstanding_calls_.fetch_add(1, std::memory_order_relaxed) + 1;
    const auto all = outstanding_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    // A single call may be larger than the limit; it then goes alone.
    if (calls <= options_.max_outstanding_calls &&
        (all <= options_.max_outstanding_bytes || all == bytes)) {
      return true;
    }
    outstanding_calls_.fetch_sub(1, std::memory_order_relaxed);
    outstanding_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }

  void close() {
    topology_->close();
    topology_.reset();
    for (const auto& execution : std::exchange(live_, {})) {
      execution->finish({Errc::cancelled, "the Redis client was closed"});
    }
  }

  void begin(RedisPipeline pipeline, Deadline deadline, const Done& release) {
    // The execution is dropped from live_ by its own completion, which must not own it.
    const auto place = std::make_shared<std::weak_ptr<Execution>>();
    auto execution = std::make_shared<Execution>(loop_, *topology_, std::move(pipeline), deadline,
                                                 [this, place, release](RedisReplies replies) {
                                                   live_.erase(place->lock());
                                                   release(std::move(replies));
                                                 });
    *place = execution;
    live_.insert(execution);
    execution->start();
  }

  Options options_;
  std::atomic<std::size_t> outstanding_bytes_{0};
  std::atomic<std::size_t> outstanding_calls_{0};
  std::set<std::shared_ptr<Execution>> live_;
  EventLoop loop_;
  std::unique_ptr<Topology> topology_;
};

Result<std::shared_ptr<RedisClient>> RedisClient::make(const RedisUrl& url,
                                                       const Options& options) {
  for (const std::string_view file : {"ca", "cert", "key"}) {
    const std::string path(url.parameter(file));
    if (!path.empty() && ::access(path.c_str(), R_OK) != 0) {
      return fail(errno_error(
          Errc::unreadable, fmt::format("cannot read '{}', the {} of the Redis URL", path, file)));
    }
  }
  return std::shared_ptr<RedisClient>(new RedisClient(url, options));
}

RedisClient::RedisClient(const RedisUrl& url, const Options& options)
    : url_(url), core_(std::make_shared<Core>(url, options)) {}

RedisClient::~RedisClient() = default;

void RedisClient::execute(RedisPipeline pipeline, Deadline deadline, Done done) {
  core_->execute(std::move(pipeline), deadline, std::move(done));
}

RedisReplies RedisClient::execute(RedisPipeline pipeline, Deadline deadline) {
  assert(!core_->is_loop_thread());
  auto replies = wait_for<RedisReplies>([&](Completion<RedisReplies> done) {
    execute(std::move(pipeline), deadline,
            [done = std::move(done)](RedisReplies arrived) { done(std::move(arrived)); });
  });
  return *std::move(replies);
}

RedisReply RedisClient::call(std::uint16_t slot, std::initializer_list<std::string_view> words,
                             Deadline deadline) {
  RedisPipeline pipeline;
  pipeline.add(slot, words);
  return execute(std::move(pipeline), deadline).front();
}

}  // namespace guestlist
