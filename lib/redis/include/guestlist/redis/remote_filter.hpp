#pragma once

// What every filter in Redis can do, whatever its format: be asked and added to (Membership), be
// created, looked at and dropped. SharedBloomFilter is the native one; the others are there for
// data that exists already or is shared with other clients.
//
// Calls that return a Result wait for Redis; they are for commands and set-up, not for the request
// path.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "guestlist/hash/key_type.hpp"
#include "guestlist/port/membership.hpp"

namespace guestlist {

/// What a filter says of itself. What its format does not tell is missing.
struct RemoteFilterFacts {
  std::string structure;  ///< `bloom`, `redisson`, `guava`, `bf`, `cf`
  std::uint64_t capacity = 0;
  double fpr = 0;
  std::uint64_t bits = 0;
  std::uint64_t size_bytes = 0;  ///< memory of the bits in Redis
  std::string hash;
  std::uint64_t generation = 0;
  std::optional<std::uint64_t> items;  ///< as counted by whoever filled it
  std::optional<std::uint64_t> estimated_items;
  std::optional<double> fill;
  std::optional<double> fpr_now;
  /// Why its answers are `unknown`, or empty.
  std::string distrust;
};

class RemoteFilter : public Membership {
 public:
  /// As Membership::add; tells how many keys were new.
  virtual void add_counted(std::span<const std::string_view> keys, Deadline deadline,
                           Completion<std::uint64_t> done) = 0;
  void add(std::span<const std::string_view> keys, Deadline deadline,
           Completion<void> done) override;
  std::shared_ptr<const void> begin_write() override { return nullptr; }

  /// Finds the filter and tells how keys must be spelt before they come here. Says in words what a
  /// check could only say by a Reason. Errors: `not_found`; `mismatched`; `unavailable` and its
  /// kind.
  virtual Result<KeyType> open(Deadline deadline) = 0;
  /// Makes an empty filter; true: it was made, false: one with these parameters is there.
  /// Errors: `already_exists` where one with others is there; `invalid_argument`, `too_large`;
  /// `unavailable` and its kind.
  virtual Result<bool> create(std::uint64_t items, double fpr, Deadline deadline) = 0;
  /// Errors: `not_found`; `mismatched`; `unavailable`.
  virtual Result<RemoteFilterFacts> inspect(Deadline deadline) = 0;
  /// Errors: `not_found`; `unavailable`. Returns the number of Redis keys that were removed.
  virtual Result<std::uint64_t> drop(Deadline deadline) = 0;
};

}  // namespace guestlist
