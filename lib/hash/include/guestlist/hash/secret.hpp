#pragma once

// The 128 bits that make the hashes of one filter unlike those of every other. Whoever knows them
// can craft false positives at will, so they come from the system's random source and are never
// printed.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "guestlist/base/bytes.hpp"
#include "guestlist/base/result.hpp"

namespace guestlist {

class Secret {
 public:
  static constexpr std::size_t size = 16;  ///< bytes

  /// All zero: for formats without a secret and for tests.
  constexpr Secret() noexcept = default;
  explicit constexpr Secret(const std::array<std::byte, size>& bytes) noexcept : bytes_(bytes) {}

  /// From the system's random source.
  static Secret random();
  /// Reads 32 hexadecimal digits, or exactly 16 raw bytes; a line end after the digits is accepted.
  /// Errors: as read_file; `invalid_argument` for any other content.
  static Result<Secret> from_file(const std::string& path);

  ByteView bytes() const noexcept { return bytes_; }
  /// 64 bits that identify the secret and do not reveal it (keyed BLAKE2b of libsodium).
  std::uint64_t fingerprint() const;

  friend bool operator==(const Secret&, const Secret&) noexcept = default;

 private:
  std::array<std::byte, size> bytes_{};
};

}  // namespace guestlist
