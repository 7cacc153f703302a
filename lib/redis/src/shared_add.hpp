#pragma once

// One add to a shared filter on its way: per shard scripts of bounded length, which change nothing
// where the epoch is another by then; the rest goes again with what is known then.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/port/completion.hpp"
#include "shard_views.hpp"

namespace guestlist::redis {

class SharedAdd : public std::enable_shared_from_this<SharedAdd> {
 public:
  /// How many keys one script takes: it holds the server for about 10 us a key.
  static constexpr std::size_t keys_per_script = 128;
  /// A swap moves the epoch four times; more changes than this in a row are somebody's mistake.
  static constexpr int max_rounds = 8;

  SharedAdd(std::shared_ptr<ShardViews> views, std::span<const std::string_view> keys,
            std::uint64_t log_entries, Deadline deadline, Completion<std::uint64_t> done);

  void start();

 private:
  /// The keys of one shard that go into one script.
  struct Part {
    std::uint32_t shard = 0;
    ShardViews::View view;
    std::vector<std::string_view> keys;
  };

  void begin();
  void assign_shards(ShardViews::View first);
  void look_up(std::vector<Part> parts);
  void send(std::vector<Part> parts);
  static void append_script(RedisPipeline& pipeline, const Part& part, const std::string& filter,
                            std::uint64_t log_entries);
  void answered(const std::vector<Part>& parts, const RedisReplies& replies);
  void again(const Part& part);
  void failed(Error error);
  void finish_or_repeat();

  const std::shared_ptr<ShardViews> views_;
  const std::vector<std::string> keys_;
  const std::uint64_t log_entries_;
  const Deadline deadline_;
  Completion<std::uint64_t> done_;
  std::vector<std::string_view> pending_;  ///< into keys_
  ShardViews::View first_;                 ///< whose count of shards and secret assigned the keys
  std::uint64_t changed_ = 0;
  std::optional<Error> error_;
  int rounds_ = 0;
};

}  // namespace guestlist::redis
