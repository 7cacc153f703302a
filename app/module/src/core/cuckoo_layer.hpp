#pragma once

// One table of a cuckoo filter: buckets of one-byte fingerprints, laid out as RedisBloom lays them.
// Slot `s` of bucket `b` is byte b * bucket_size + s; 0 is a free slot. The number of buckets is a
// power of two, and an item has two of them, of which each can be found from the other and the
// fingerprint alone.
//
// A query touches two cache lines, whatever the size.
//
// Distinct objects: safe. Shared objects: one thread. Source: Fan, Andersen, Kaminsky,
// Mitzenmacher 2014. Tested by: CuckooChain.*, and bit for bit against captured filters.

#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/bit_memory.hpp"
#include "guestlist/hash/murmur2.hpp"

namespace guestlist::server {

/// The distance of a fingerprint's two buckets, before it is cut to the table.
constexpr std::uint64_t bucket_distance(std::uint8_t fingerprint) noexcept {
  return fingerprint * std::uint64_t{0x5bd1e995};
}

/// An item as all tables see it. A table cuts both places to its own number of buckets.
struct CuckooHash {
  std::uint64_t place;
  std::uint64_t other_place;
  std::uint8_t fingerprint;

  static CuckooHash at(std::uint64_t place, std::uint8_t fingerprint) noexcept {
    return {place, place ^ bucket_distance(fingerprint), fingerprint};
  }
  static CuckooHash of(std::string_view item) noexcept { return from(murmur2_64(item, 0)); }
  /// As the versions of before November 2019 had it.
  static CuckooHash of_old(std::string_view item) noexcept { return from(murmur2_32(item, 0)); }

 private:
  static CuckooHash from(std::uint64_t hash) noexcept {
    return at(hash, static_cast<std::uint8_t>(hash % 255 + 1));
  }
};

class CuckooLayer {
 public:
  static constexpr std::uint32_t max_bucket_size = 255;
  static constexpr std::uint64_t max_bytes = std::uint64_t{1} << 48;

  /// Whether a table can have this shape.
  static constexpr bool is_possible(std::uint64_t buckets, std::uint64_t bucket_size) noexcept {
    return bucket_size >= 1 && bucket_size <= max_bucket_size && buckets >= 1 &&
           (buckets & (buckets - 1)) == 0 && buckets <= max_bytes / bucket_size;
  }
  /// Empty. Requires: is_possible. Errors: `too_large`.
  static Result<CuckooLayer> make(std::uint64_t buckets, std::uint32_t bucket_size);
  /// Requires: as many bytes as slots.
  CuckooLayer(std::uint64_t buckets, std::uint32_t bucket_size, BitMemory slots) noexcept
      : slots_(std::move(slots)), mask_(buckets - 1), bucket_size_(bucket_size) {}

  std::uint64_t buckets() const noexcept { return mask_ + 1; }
  std::uint32_t bucket_size() const noexcept { return bucket_size_; }
  BitMemory& bits() noexcept { return slots_; }
  const BitMemory& bits() const noexcept { return slots_; }

  void prefetch(const CuckooHash& hash) const noexcept {
    __builtin_prefetch(bucket(hash.place));
    __builtin_prefetch(bucket(hash.other_place));
  }
  bool has(const CuckooHash& hash) const noexcept {
    // Not a branch: both buckets are fetched at once.
    return static_cast<int>(bucket_has(bucket(hash.place), hash.fingerprint)) |
           static_cast<int>(bucket_has(bucket(hash.other_place), hash.fingerprint));
  }
  /// Equal fingerprints in both buckets; counted twice where the two are one.
  std::uint64_t count(const CuckooHash& hash) const noexcept;

  /// Into a free slot of either bucket; false where there is none.
  bool put(const CuckooHash& hash) noexcept {
    return put_in(hash.place, hash.fingerprint) || put_in(hash.other_place, hash.fingerprint);
  }
  bool put_in(std::uint64_t place, std::uint8_t fingerprint) noexcept;
  /// Takes one equal fingerprint away; false where there is none.
  bool remove(const CuckooHash& hash) noexcept;

  /// The slots of a bucket, which may be any number: it is cut to the table.
  std::uint8_t* bucket(std::uint64_t place) noexcept {
    return reinterpret_cast<std::uint8_t*>(slots_.data()) + (place & mask_) * bucket_size_;
  }
  const std::uint8_t* bucket(std::uint64_t place) const noexcept {
    return reinterpret_cast<const std::uint8_t*>(slots_.data()) + (place & mask_) * bucket_size_;
  }
  std::uint64_t cut(std::uint64_t place) const noexcept { return place & mask_; }

 private:
  bool bucket_has(const std::uint8_t* slots, std::uint8_t fingerprint) const noexcept {
    if (bucket_size_ == 2)
      return static_cast<int>(slots[0] == fingerprint) | static_cast<int>(slots[1] == fingerprint);
    if (bucket_size_ == 4) {
      std::uint32_t word;
      std::memcpy(&word, slots, sizeof word);
      constexpr std::uint32_t every = 0x01010101;
      const std::uint32_t difference = word ^ every * fingerprint;
      return ((difference - every) & ~difference & every << 7) != 0;
    }
    return std::memchr(slots, fingerprint, bucket_size_) != nullptr;
  }

  BitMemory slots_;
  std::uint64_t mask_;
  std::uint32_t bucket_size_;
};

}  // namespace guestlist::server
