#pragma once

// The views of a filter's shards: read from Redis when they are wanted, shared by all calls until
// one of them finds that a view no longer holds.
//
// Distinct objects: safe. Shared objects: safe.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "guestlist/redis/redis_client.hpp"
#include "shard_view.hpp"

namespace guestlist::redis {

class ShardViews : public std::enable_shared_from_this<ShardViews> {
 public:
  using View = std::shared_ptr<const ShardView>;
  using Ready = std::function<void(Result<View>)>;

  ShardViews(std::shared_ptr<RedisClient> client, std::string filter)
      : client_(std::move(client)), filter_(std::move(filter)) {}

  const std::string& filter() const noexcept { return filter_; }
  const std::shared_ptr<RedisClient>& client() const noexcept { return client_; }

  /// What is known now, or nullptr.
  View known(std::uint32_t shard) const;
  /// The known view, or one read now, by one caller for all who wait no less long than it does.
  /// `ready` may be called before the return.
  /// Errors: `not_found` where there is no such filter; of the client and of the state.
  void get(std::uint32_t shard, Deadline deadline, Ready ready);
  /// This view no longer holds; whoever asks next reads again.
  void forget(std::uint32_t shard, const View& view);

 private:
  struct Waiter {
    Deadline deadline;
    Ready ready;
  };
  struct Shard {
    View view;
    std::vector<Waiter> waiting;
    bool is_read = false;      ///< by somebody at this moment
    Deadline read_until = {};  ///< the earliest deadline of those who read
  };
  struct Reading;

  void read_state(std::uint32_t shard, Deadline deadline);
  void read_segments(const std::shared_ptr<Reading>& reading);
  void finish(std::uint32_t shard, Deadline deadline, const Result<View>& view);
  Shard& at(std::uint32_t shard);

  const std::shared_ptr<RedisClient> client_;
  const std::string filter_;
  mutable std::mutex mutex_;
  std::vector<Shard> shards_;
};

}  // namespace guestlist::redis
