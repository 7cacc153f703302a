#pragma once

// The memory that a filter's bits live in: 64-byte aligned, zeroed, and either owned or a read-only
// window on bytes that somebody else keeps (a mapped file). Owned memory of 2 MiB and more asks for
// huge pages, which saves up to 13 % of a batch query's time where the machine grants them.
//
// Distinct objects: safe. Shared objects: as the filter that holds it says.

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "guestlist/base/bytes.hpp"
#include "guestlist/base/result.hpp"

namespace guestlist {

class Storage {
 public:
  static constexpr std::size_t alignment = 64;  ///< bytes

  /// Owned and zeroed. Errors: `too_large`, with the number of bytes asked for, where the machine
  /// has not that much memory; nothing is allocated then.
  static Result<Storage> allocate(std::uint64_t size_bytes);

  /// A window on `bytes`; `keeper` keeps them alive and may be empty where the caller does.
  /// Requires: `bytes` is 64-byte aligned.
  static Storage view(ByteView bytes, std::shared_ptr<const void> keeper);

  Storage() noexcept = default;
  Storage(Storage&& other) noexcept;
  Storage& operator=(Storage&& other) noexcept;
  /// A copy is always owned. Ends the process where memory runs out.
  Storage(const Storage& other);
  Storage& operator=(const Storage& other);
  /// A copy beside threads that set bits by atomic OR: what was set before is in it, what is set
  /// meanwhile may be. Errors: as `allocate`. Requires: a multiple of 8 bytes.
  Result<Storage> copy_beside_writers() const;
  ~Storage();

  std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  const std::byte* data() const noexcept { return data_; }
  ByteView bytes() const noexcept { return {data_, static_cast<std::size_t>(size_bytes_)}; }

  /// Requires: owned; a view is read only and asserts.
  std::byte* mutable_data() noexcept {
    assert(!is_view());
    return mutable_data_;
  }
  bool is_view() const noexcept { return mutable_data_ == nullptr && size_bytes_ != 0; }

 private:
  void release() noexcept;

  const std::byte* data_ = nullptr;
  std::byte* mutable_data_ = nullptr;
  std::uint64_t size_bytes_ = 0;
  std::shared_ptr<const void> keeper_;
};

}  // namespace guestlist
