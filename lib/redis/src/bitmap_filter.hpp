#pragma once

// A Bloom filter that is one plain string of bits in Redis, as Redisson and the tutorials' Guava
// helper keep it: the part that both have in common. What differs stands in a BitmapFormat.
//
// A check is one round trip: a BITFIELD_RO for some keys at a time, then the string's length, the
// format's parameters and a proof that the server is a master. `absent` is said only where the
// string is there, the parameters are those that placed the bits, and the server is the one that
// this object saw first: neither format can tell of writes that a failover or a restart lost.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/port/completion.hpp"
#include "guestlist/port/membership.hpp"
#include "guestlist/redis/redis_client.hpp"

namespace guestlist::redis {

/// The parameters of a filter at one moment. Immutable.
class BitmapPlaces {
 public:
  virtual ~BitmapPlaces() = default;
  /// Appends the places of an encoded key.
  virtual void of(std::string_view encoded, std::vector<std::uint64_t>& places) const = 0;
  /// Fields of the hash and their texts, which an add requires to be there unchanged.
  virtual std::vector<std::pair<std::string, std::string>> required_fields() const = 0;
  /// Length of the bitmap's string when it is full.
  virtual std::uint64_t size_bytes() const = 0;
};

class BitmapFormat {
 public:
  virtual ~BitmapFormat() = default;
  virtual const std::string& bitmap_key() const = 0;
  /// The hash beside it; empty where the format has none.
  virtual const std::string& parameters_key() const = 0;
  /// The fields that are read with every check.
  virtual std::span<const std::string_view> parameter_fields() const = 0;
  /// `values`: of HMGET, empty where there is no hash. Errors: `not_found`, `corrupt`.
  virtual Result<std::shared_ptr<const BitmapPlaces>> places(const RedisReply& values) const = 0;
  /// Errors: `invalid_argument` for a key that has no form.
  virtual Result<std::string_view> encode(std::string_view key, std::string& buffer) const = 0;
};

class BitmapFilter : public std::enable_shared_from_this<BitmapFilter> {
 public:
  static constexpr std::size_t keys_per_command = 64;

  BitmapFilter(std::shared_ptr<RedisClient> client, std::unique_ptr<const BitmapFormat> format);

  void check(std::span<const std::string_view> keys, Deadline deadline, Membership::Verdicts done);
  void add(std::span<const std::string_view> keys, Deadline deadline,
           Completion<std::uint64_t> done);
  /// Makes the string, all clear, in steps; keeps what is there. Waits.
  Result<void> grow(std::uint64_t bytes, Deadline deadline);
  /// Bits that are set, counted a piece at a time. Waits.
  Result<std::uint64_t> count_bits(Deadline deadline);
  /// Unlinks the string and the parameters. Waits.
  Result<std::uint64_t> drop(Deadline deadline);

  RedisClient& client() noexcept { return *client_; }
  const BitmapFormat& format() const noexcept { return *format_; }
  std::uint16_t slot() const noexcept { return slot_; }

 private:
  using Places = std::shared_ptr<const BitmapPlaces>;
  struct Checking;
  struct Adding;

  void send(const std::shared_ptr<Checking>& checking);
  void received(const std::shared_ptr<Checking>& checking, const RedisReplies& replies);
  void send(const std::shared_ptr<Adding>& adding);
  void received(const std::shared_ptr<Adding>& adding, const RedisReplies& replies);
  void append_parameters(RedisPipeline& pipeline) const;
  Places known() const;
  void learn(Places places);
  /// Whether the connection leads to the server that this object trusts; `info` may be a failure.
  bool is_trusted(std::uint64_t session, const RedisReply& info);

  const std::shared_ptr<RedisClient> client_;
  const std::unique_ptr<const BitmapFormat> format_;
  const std::uint16_t slot_;
  mutable std::mutex mutex_;
  Places places_;
  std::string trusted_server_;
};

}  // namespace guestlist::redis
