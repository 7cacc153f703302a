#include "guestlist/filter/storage.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "guestlist/base/units.hpp"

namespace guestlist {
namespace {

constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20;

std::uint64_t machine_memory_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Anonymous mappings come zeroed and page-aligned, and their pages cost nothing before they are
// touched.
std::byte* map_zeroed(std::uint64_t size_bytes) noexcept {
  void* const memory = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (size_bytes >= huge_page_bytes) ::madvise(memory, size_bytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

}  // namespace

Result<Storage> Storage::allocate(std::uint64_t size_bytes) {
  Storage storage;
  if (size_bytes == 0) return storage;
  const std::uint64_t available = machine_memory_bytes();
  std::byte* const memory = size_bytes <= available ? map_zeroed(size_bytes) : nullptr;
  if (memory == nullptr) {
    return fail(Errc::too_large, "a filter of " + format_bytes(size_bytes) +
                                     " does not fit this machine's memory of " +
                                     format_bytes(available) +
                                     "; ask for fewer items or a higher fpr");
  }
  storage.data_ = storage.mutable_data_ = memory;
  storage.size_bytes_ = size_bytes;
  return storage;
}

Storage Storage::view(ByteView bytes, std::shared_ptr<const void> keeper) {
  assert(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0);
  Storage storage;
  storage.data_ = bytes.data();
  storage.size_bytes_ = bytes.size();
  storage.keeper_ = std::move(keeper);
  return storage;
}

Storage::Storage(Storage&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      mutable_data_(std::exchange(other.mutable_data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      keeper_(std::move(other.keeper_)) {}

Storage& Storage::operator=(Storage&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(mutable_data_, other.mutable_data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(keeper_, other.keeper_);
  return *this;
}

Storage::Storage(const Storage& other) : size_bytes_(other.size_bytes_) {
  if (size_bytes_ == 0) return;
  mutable_data_ = map_zeroed(size_bytes_);
  if (mutable_data_ == nullptr) throw std::bad_alloc();
  data_ = mutable_data_;
  std::memcpy(mutable_data_, other.data_, size_bytes_);
}

Storage& Storage::operator=(const Storage& other) {
  if (this != &other) *this = Storage(other);
  return *this;
}

Result<Storage> Storage::copy_beside_writers() const {
  assert(size_bytes_ % sizeof(std::uint64_t) == 0);
  auto copy = allocate(size_bytes_);
  if (!copy) return copy;
  const auto* const from = reinterpret_cast<const std::uint64_t*>(data_);
  auto* const to = reinterpret_cast<std::uint64_t*>(copy->mutable_data());
  // Words are independent of each other, so relaxed loads are enough.
  for (std::uint64_t i = 0; i < size_bytes_ / sizeof(std::uint64_t); ++i)
    to[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
  return copy;
}

Storage::~Storage() {
  release();
}

void Storage::release() noexcept {
  if (mutable_data_ != nullptr) ::munmap(mutable_data_, size_bytes_);
}

}  // namespace guestlist
