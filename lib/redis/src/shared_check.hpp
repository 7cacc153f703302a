#pragma once

// One check of a shared filter on its way: views, one pipeline, a judgement, and once more where a
// view no longer held.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/port/membership.hpp"
#include "shard_views.hpp"

namespace guestlist::redis {

class SharedCheck : public std::enable_shared_from_this<SharedCheck> {
 public:
  using Done = std::function<void(std::vector<Verdict>)>;

  SharedCheck(std::shared_ptr<ShardViews> views, std::span<const std::string_view> keys,
              Deadline deadline, Done done);

  void start();

 private:
  /// What one shard is asked.
  struct Part {
    std::uint32_t shard = 0;
    ShardViews::View view;
    std::vector<std::uint32_t> keys;  ///< indices
    std::vector<LineBits> bits;
    std::size_t first_reply = 0;
  };

  void begin();
  void assign_shards(ShardViews::View first);
  void look_up(std::vector<Part> parts);
  void ask(std::vector<Part> parts);
  void answered(const std::vector<Part>& parts, const RedisReplies& replies);
  void answer(const Part& part, Verdict verdict);
  void give_up(Verdict verdict);

  std::string_view key(std::uint32_t index) const noexcept {
    return std::string_view(bytes_).substr(ends_[index], ends_[index + 1] - ends_[index]);
  }

  const std::shared_ptr<ShardViews> views_;
  const Deadline deadline_;
  Done done_;
  std::string bytes_;
  std::vector<std::size_t> ends_;
  std::vector<Verdict> verdicts_;
  std::vector<std::uint32_t> pending_;  ///< indices of the keys to ask for
  ShardViews::View first_;              ///< whose count of shards and secret assigned the keys
  bool asked_twice_ = false;
};

}  // namespace guestlist::redis
