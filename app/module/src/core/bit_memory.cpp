#include "core/bit_memory.hpp"

#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "guestlist/base/units.hpp"

namespace guestlist::server {
namespace {

MemorySource source = {
    [](std::size_t bytes) { return std::calloc(1, bytes); },
    [](void* memory) { std::free(memory); },
    [](void* memory) { return ::malloc_usable_size(memory); },
};

std::uint64_t machine_memory_bytes() {
  static const std::uint64_t bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                                     static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::byte* aligned(void* start) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::uintptr_t up = (address + BitMemory::alignment - 1) & ~(BitMemory::alignment - 1);
  return static_cast<std::byte*>(start) + (up - address);
}

}  // namespace

void BitMemory::use(const MemorySource& wanted) noexcept {
  source = wanted;
}

Result<BitMemory> BitMemory::zeroed(std::uint64_t size_bytes) {
  BitMemory memory;
  if (size_bytes == 0) return memory;
  // A machine that promises more than it has would end the server later, when the bits are touched.
  void* const start =
      size_bytes < machine_memory_bytes() ? source.try_zeroed(size_bytes + alignment - 1) : nullptr;
  if (start == nullptr) {
    return fail(Errc::too_large, "there is no memory for " + format_bytes(size_bytes) + " of bits");
  }
  memory.start_ = start;
  memory.data_ = aligned(start);
  memory.size_bytes_ = size_bytes;
  return memory;
}

BitMemory::~BitMemory() {
  if (start_ != nullptr) source.release(start_);
}

std::uint64_t BitMemory::allocated_bytes() const noexcept {
  return start_ == nullptr ? 0 : source.usable_bytes(start_);
}

void BitMemory::adopt_moved(void* moved, std::size_t old_offset) noexcept {
  std::byte* const data = aligned(moved);
  std::byte* const copied = static_cast<std::byte*>(moved) + old_offset;
  if (data != copied) std::memmove(data, copied, size_bytes_);
  start_ = moved;
  data_ = data;
}

}  // namespace guestlist::server
