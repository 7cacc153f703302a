#pragma once

// Filters that a module keeps inside the server: BF.* and CF.* of Redis 8, Redis Stack and
// valkey-bloom (which has no CF.*). The server hashes and answers; this is a client that adds what
// the commands leave out: a filter that is not there is `unknown`, not absent, and nothing is ever
// created by an add.
//
// As for the other foreign formats, writes that a failover or a restart lost are noticed only by an
// object that lived through it.
//
// Distinct objects: safe. Shared objects: safe.

#include <memory>
#include <string>

#include "guestlist/redis/redis_client.hpp"
#include "guestlist/redis/remote_filter.hpp"

namespace guestlist {

class ModuleFilter : public RemoteFilter {
 public:
  /// The words that differ between the two families.
  struct Family {
    std::string_view structure;  ///< `bf`, `cf`
    std::string_view reserve;
    std::string_view insert;
    std::string_view exists;
    std::string_view info;
  };

  ~ModuleFilter() override;

  void check(std::span<const std::string_view> keys, Deadline deadline, Verdicts done) override;
  /// Errors, beside those of the port: `full`, for a cuckoo filter or one that does not scale.
  void add_counted(std::span<const std::string_view> keys, Deadline deadline,
                   Completion<std::uint64_t> done) override;
  Result<KeyType> open(Deadline deadline) override;
  Result<bool> create(std::uint64_t items, double fpr, Deadline deadline) override;
  Result<RemoteFilterFacts> inspect(Deadline deadline) override;
  Result<std::uint64_t> drop(Deadline deadline) override;

 protected:
  ModuleFilter(const Family& family, std::shared_ptr<RedisClient> client, std::string key);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

/// BF.RESERVE, BF.INSERT, BF.MEXISTS, BF.INFO.
class ModuleBloomFilter final : public ModuleFilter {
 public:
  ModuleBloomFilter(std::shared_ptr<RedisClient> client, std::string key);
};

/// CF.RESERVE, CF.INSERTNX, CF.MEXISTS, CF.INFO. The rate of false positives is the server's: `fpr`
/// of create is not used.
class ModuleCuckooFilter final : public ModuleFilter {
 public:
  ModuleCuckooFilter(std::shared_ptr<RedisClient> client, std::string key);
};

}  // namespace guestlist
