#pragma once

// Bits that are read from a snapshot in pieces. The memory grows with them, at most to twice what
// came: a header that promises much costs nothing until it keeps its word.
//
// Distinct objects: safe. Shared objects: one thread.

#include <algorithm>
#include <cstring>

#include "core/bit_memory.hpp"

namespace guestlist::server {

class ArrivingBits {
 public:
  explicit ArrivingBits(std::uint64_t expected_bytes) noexcept : expected_(expected_bytes) {}

  std::uint64_t missing() const noexcept { return expected_ - arrived_; }

  /// Requires: no more bytes than are missing. Errors: `too_large`.
  Result<void> take(ByteView bytes) {
    if (arrived_ + bytes.size() > memory_.size_bytes()) {
      const std::uint64_t wanted =
          std::min(expected_, std::max<std::uint64_t>(2 * arrived_, arrived_ + bytes.size()));
      auto larger = BitMemory::zeroed(wanted);
      if (!larger) return fail(std::move(larger).error());
      if (arrived_ != 0) std::memcpy(larger->data(), memory_.data(), arrived_);
      memory_ = *std::move(larger);
    }
    if (!bytes.empty()) std::memcpy(memory_.data() + arrived_, bytes.data(), bytes.size());
    arrived_ += bytes.size();
    return {};
  }
  /// Requires: nothing is missing.
  BitMemory finish() noexcept { return std::move(memory_); }

 private:
  std::uint64_t expected_;
  std::uint64_t arrived_ = 0;
  BitMemory memory_;
};

}  // namespace guestlist::server
