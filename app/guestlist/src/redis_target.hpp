#pragma once

// Filters in Redis as targets of the command:
// redis://[user[:password]@]host[:port][/db]?filter=NAME[&as=native|redisson|guava|bf|cf][&…]

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "call.hpp"
#include "filling.hpp"
#include "guestlist/redis/redis_client.hpp"
#include "guestlist/redis/remote_filter.hpp"
#include "guestlist/redis/shared_filter_builder.hpp"
#include "numbers.hpp"

namespace guestlist {

class RedisTarget {
 public:
  /// Does not connect. `size` is for formats that keep no parameters in Redis; the URL's own
  /// `items` and `fpr` come first. Errors: `invalid_argument` for what the URL says wrong.
  static Result<RedisTarget> parse(const std::string& target,
                                   std::optional<PlannedSize> size = std::nullopt);

  RemoteFilter& filter() const noexcept { return *filter_; }
  const std::shared_ptr<RedisClient>& client() const noexcept { return client_; }
  const std::string& name() const noexcept { return name_; }
  bool is_native() const noexcept { return is_native_; }
  std::uint32_t shards() const noexcept { return shards_; }
  /// For one exchange.
  Deadline deadline() const;
  /// For messages: the URL without user, password and parameters, and the filter's name.
  std::string text() const;

  /// Canonical keys. Errors: of the filter.
  Result<std::uint64_t> add(std::span<const std::string_view> keys) const;
  std::vector<Verdict> check(std::span<const std::string_view> keys) const;

 private:
  RedisTarget() = default;

  std::shared_ptr<RedisClient> client_;
  std::shared_ptr<RemoteFilter> filter_;
  std::string name_;
  bool is_native_ = false;
  std::uint32_t shards_ = 1;
};

/// The key type of a filter in Redis, which `--key-type` may repeat but not change; formats of
/// others know none and take what is said.
Result<KeyType> agreed_key_type(const RedisTarget& target, const std::string& option,
                                KeyType of_filter);

/// Reads all keys and hands them on in canonical form. Errors: of the reader; of `take`.
Result<Filled> for_each_batch(
    KeyReader& reader, KeyType type,
    const std::function<Result<std::uint64_t>(std::span<const std::string_view> keys)>& take);

boost::json::object describe(const RemoteFilterFacts& facts);
std::string text_of(const RemoteFilterFacts& facts);

}  // namespace guestlist
