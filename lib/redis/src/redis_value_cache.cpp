#include "guestlist/redis/redis_value_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "guestlist/base/bytes.hpp"
#include "guestlist/hash/secret.hpp"
#include "guestlist/redis/key_slot.hpp"

namespace guestlist {
namespace {

constexpr char lease_mark = 'L';
constexpr char value_mark = 'V';

// KEYS key. ARGV lease, value, milliseconds. Returns 1, or 0 where the lease does not hold.
constexpr std::string_view put_text = R"lua(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
)lua";

std::string milliseconds(Duration span) {
  return fmt::format("{}", std::chrono::duration_cast<std::chrono::milliseconds>(span).count());
}

RedisClient::Done ignoring_answer(Completion<void> done) {
  return [done = std::move(done)](const RedisReplies& replies) {
    done(replies.front().is_ok() ? Result<void>() : Result<void>(fail(replies.front().error())));
  };
}

}  // namespace

void RedisValueCache::get(std::string_view key, Deadline deadline,
                          Completion<std::optional<std::string>> done) {
  const auto name = name_of(key);
  RedisPipeline pipeline;
  pipeline.add(key_slot(name), {"GET", name});
  client_->execute(std::move(pipeline), deadline,
                   [done = std::move(done)](const RedisReplies& replies) {
                     const auto& reply = replies.front();
                     if (!reply.is_ok()) return done(fail(reply.error()));
                     const auto text = reply.text();
                     if (text.empty() || text.front() != value_mark) return done(std::nullopt);
                     done(std::string(text.substr(1)));
                   });
}

void RedisValueCache::lease(std::string_view key, Deadline deadline, Completion<void> done) {
  const auto name = name_of(key);
  const Secret random = Secret::random();
  auto token = lease_mark + to_hex(random.bytes());
  RedisPipeline pipeline;
  pipeline.add(key_slot(name), {"SET", name, token, "NX", "PX", milliseconds(lease_time)});
  client_->execute(std::move(pipeline), deadline,
                   [this, key = std::string(key), token = std::move(token),
                    done = std::move(done)](const RedisReplies& replies) {
                     const auto& reply = replies.front();
                     if (!reply.is_ok()) return done(fail(reply.error()));
                     if (!reply.is_null()) {
                       const std::lock_guard lock(mutex_);
                       if (leases_.size() < max_leases) leases_[key] = token;
                     }
                     done({});
                   });
}

void RedisValueCache::put(std::string_view key, std::string_view value, Duration time_to_live,
                          Deadline deadline, Completion<void> done) {
  std::string token;
  {
    const std::lock_guard lock(mutex_);
    const auto held = leases_.find(std::string(key));
    if (held == leases_.end()) return done({});
    token = std::move(held->second);
    leases_.erase(held);
  }
  static const RedisScript script(put_text);
  const auto name = name_of(key);
  const auto marked = value_mark + std::string(value);
  const std::string time =
      milliseconds(std::max(time_to_live, Duration(std::chrono::milliseconds(1))));
  const std::string_view keys[] = {name};
  const std::string_view arguments[] = {token, marked, time};
  RedisPipeline pipeline;
  pipeline.add_script(key_slot(name), script, keys, arguments);
  client_->execute(std::move(pipeline), deadline, ignoring_answer(std::move(done)));
}

void RedisValueCache::erase(std::string_view key, Deadline deadline, Completion<void> done) {
  {
    const std::lock_guard lock(mutex_);
    leases_.erase(std::string(key));
  }
  const auto name = name_of(key);
  RedisPipeline pipeline;
  pipeline.add(key_slot(name), {"UNLINK", name});
  client_->execute(std::move(pipeline), deadline, ignoring_answer(std::move(done)));
}

}  // namespace guestlist
