#pragma once

// From a key to the 64 bits that a filter works on. The hash and its secret are part of a filter:
// two filters can be merged, and a key found again, only under one and the same hasher.
//
// siphash (SipHash-2-4, keyed) is for everything shared or served: without the secret nobody can
// craft keys that pass. xxh3 (seeded) is for offline work where speed matters and no attacker is
// near. xxh64 has a fixed seed of zero and is there for one purpose: split-block filters that
// Parquet readers understand.
//
// Cost: see `hash/*` of hash_bench. Distinct objects: safe. Shared objects: safe, a hasher is read
// only. Source: libsodium crypto_shorthash; xxHash 0.8; the Parquet specification, "Bloom Filter".

#include <cstdint>
#include <string_view>

#include "guestlist/hash/secret.hpp"

namespace guestlist {

/// What a filter works on. A type of its own, so that a key is never mistaken for its hash.
struct KeyHash {
  std::uint64_t value = 0;
  friend constexpr bool operator==(KeyHash, KeyHash) noexcept = default;
};

/// The numbers are those of the file format.
enum class HashKind : std::uint8_t { siphash = 1, xxh3 = 2, xxh64 = 3 };

/// `siphash`, `xxh3`, `xxh64`.
std::string_view name(HashKind kind) noexcept;

class KeyHasher {
 public:
  static KeyHasher siphash(const Secret& secret) noexcept;
  /// The seed is the first eight bytes of `secret`, little-endian.
  static KeyHasher xxh3(const Secret& secret) noexcept;
  static KeyHasher xxh64() noexcept;

  HashKind kind() const noexcept { return kind_; }
  const Secret& secret() const noexcept { return secret_; }

  /// The key's exact bytes: canonicalise first (key_type.hpp) where a key has more than one
  /// spelling.
  KeyHash operator()(std::string_view key) const noexcept;

  friend bool operator==(const KeyHasher&, const KeyHasher&) noexcept = default;

 private:
  KeyHasher(HashKind kind, const Secret& secret) noexcept : kind_(kind), secret_(secret) {}

  HashKind kind_;
  Secret secret_;
};

}  // namespace guestlist
