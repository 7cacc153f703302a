#pragma once

// The memory that the bits of a filter live in: 64-byte aligned, zeroed, and taken from the
// server's own allocator, so that its limits, its statistics and its defragmentation see it. In
// tests and fuzzers, where there is no server, it comes from the C library.
//
// An allocation that fails is an error and never the end of the server.
//
// Distinct objects: safe. Shared objects: as the filter that holds it says.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "guestlist/base/bytes.hpp"
#include "guestlist/base/result.hpp"

namespace guestlist::server {

/// Where memory comes from. The module points these at the server's functions when it is loaded.
struct MemorySource {
  void* (*try_zeroed)(std::size_t bytes);  ///< null where there is none
  void (*release)(void*);
  std::size_t (*usable_bytes)(void*);
};

class BitMemory {
 public:
  static constexpr std::size_t alignment = 64;  ///< bytes

  /// The source of all memory from here on. Requires: no BitMemory is alive.
  static void use(const MemorySource& source) noexcept;

  /// Errors: `too_large`; nothing is allocated then.
  static Result<BitMemory> zeroed(std::uint64_t size_bytes);

  BitMemory() noexcept = default;
  BitMemory(BitMemory&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  BitMemory& operator=(BitMemory&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }
  BitMemory(const BitMemory&) = delete;
  BitMemory& operator=(const BitMemory&) = delete;
  ~BitMemory();

  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  ByteView bytes() const noexcept { return {data_, static_cast<std::size_t>(size_bytes_)}; }
  MutableByteView mutable_bytes() noexcept {
    return {data_, static_cast<std::size_t>(size_bytes_)};
  }
  /// What the allocator spent on it.
  std::uint64_t allocated_bytes() const noexcept;

  /// Defragmentation: `relocate` takes an allocation and returns its copy elsewhere, the original
  /// released, or null where it stays. Whether it moved.
  template <class Relocate>
  bool move_by(Relocate relocate) noexcept {
    if (start_ == nullptr) return false;
    const std::size_t offset = static_cast<std::size_t>(data_ - static_cast<std::byte*>(start_));
    void* const moved = relocate(start_);
    if (moved == nullptr) return false;
    adopt_moved(moved, offset);
    return true;
  }

 private:
  void adopt_moved(void* moved, std::size_t old_offset) noexcept;

  void* start_ = nullptr;      ///< as the allocator gave it
  std::byte* data_ = nullptr;  ///< aligned
  std::uint64_t size_bytes_ = 0;
};

}  // namespace guestlist::server
