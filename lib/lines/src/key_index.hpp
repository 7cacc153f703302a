#pragma once

// Which keys a file held, as keyed 128-bit fingerprints in order: 16 bytes a key. Two keys share
// one with chance n^2 / 2^129, and nobody can make that happen without the secrets.
//
// Threads: immutable once built.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "guestlist/hash/hash128.hpp"
#include "guestlist/hash/key_hasher.hpp"

namespace guestlist::lines {

class Fingerprinter {
 public:
  Fingerprinter()
      : first_(KeyHasher::siphash(Secret::random())),
        second_(KeyHasher::siphash(Secret::random())) {}
  Hash128 operator()(std::string_view key) const noexcept {
    return {first_(key).value, second_(key).value};
  }

 private:
  KeyHasher first_;
  KeyHasher second_;
};

class KeyIndex {
 public:
  KeyIndex() = default;
  explicit KeyIndex(std::vector<Hash128> fingerprints);

  std::size_t size() const noexcept { return sorted_.size(); }
  /// Its place in the order.
  std::optional<std::size_t> find(const Hash128& fingerprint) const noexcept;
  bool contains(const Hash128& fingerprint) const noexcept { return find(fingerprint).has_value(); }
  /// How many of these `other` does not have.
  std::uint64_t missing_in(const KeyIndex& other) const noexcept;

 private:
  std::vector<Hash128> sorted_;
};

}  // namespace guestlist::lines
