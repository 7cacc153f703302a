#pragma once

// Redisson's RBloomFilter, shared with Java: the same two keys, the same bits. For teams that have
// Java beside C++; a filter of one's own is better kept as a SharedBloomFilter, which is several
// times faster and knows when it is incomplete.
//
// The parameters are read from Redis with every call and never computed again, so a filter that
// somebody deleted and made anew with others is `unknown` for a moment, not absent. An add to a
// filter whose parameters changed fails. Redis is never held longer than some milliseconds,
// whatever the number of keys.
//
// What this format cannot tell, and nobody can therefore: which codec it was filled with (redisson_
// codec.hpp), whether a failover or a restart lost writes (noticed only by an object that lived
// through it: `unknown(incomplete)` from then on), whether somebody deleted the filter and is
// filling it again.
//
// Distinct objects: safe. Shared objects: safe. Tested by: RedissonBloomFilterTest.*, interop/.

#include <memory>
#include <string>

#include "guestlist/redis/redis_client.hpp"
#include "guestlist/redis/redisson_codec.hpp"
#include "guestlist/redis/redisson_layout.hpp"
#include "guestlist/redis/remote_filter.hpp"

namespace guestlist {

namespace redis {
class BitmapFilter;
}

class RedissonBloomFilter final : public RemoteFilter {
 public:
  /// Errors: `invalid_argument` for an empty name, or one whose two keys a Cluster keeps apart.
  static Result<std::shared_ptr<RedissonBloomFilter>> make(std::shared_ptr<RedisClient> client,
                                                           std::string name,
                                                           RedissonEncoding encoding);

  void check(std::span<const std::string_view> keys, Deadline deadline, Verdicts done) override;
  /// Errors, beside those of the port: `invalid_argument` for a key that the codec has no form for;
  /// nothing is added then. `mismatched` where the parameters changed meanwhile; `corrupt` where
  /// the bitmap is gone and may have been evicted.
  void add_counted(std::span<const std::string_view> keys, Deadline deadline,
                   Completion<std::uint64_t> done) override;
  Result<KeyType> open(Deadline deadline) override;
  /// As tryInit; also makes the bitmap, so that an empty filter can be told from an evicted one.
  Result<bool> create(std::uint64_t items, double fpr, Deadline deadline) override;
  Result<RemoteFilterFacts> inspect(Deadline deadline) override;
  Result<std::uint64_t> drop(Deadline deadline) override;

  /// Errors: `not_found`, `corrupt`; `mismatched` for a key of another type.
  Result<RedissonParameters> parameters(Deadline deadline);
  /// Redisson's count(). Errors: as parameters; `full` where every bit is set.
  Result<std::uint64_t> count(Deadline deadline);
  /// On both keys, or on none. Errors: `not_found`.
  Result<void> expire(Duration time_to_live, Deadline deadline);
  /// Both keys in one step. Errors: `already_exists` where the new name is taken; `not_found`;
  /// `invalid_argument` where a Cluster keeps the two names apart.
  Result<void> rename(const std::string& new_name, Deadline deadline);

 private:
  RedissonBloomFilter(std::shared_ptr<redis::BitmapFilter> bitmap, std::string name)
      : bitmap_(std::move(bitmap)), name_(std::move(name)) {}

  std::shared_ptr<redis::BitmapFilter> bitmap_;
  std::string name_;
};

}  // namespace guestlist
