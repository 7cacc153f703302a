// The naive peer: Debian's libbloom, one bit a probe anywhere in the filter. It takes an `int` of
// entries and has no call for many keys.

#include <bloom.h>

#include "filter_adapter.hpp"

namespace guestlist::bench {
namespace {

class LibbloomAdapter {
 public:
  LibbloomAdapter(std::uint64_t items, double fpr) {
    if (::bloom_init(&filter_, static_cast<int>(items), fpr) != 0) std::abort();
  }
  LibbloomAdapter(const LibbloomAdapter&) = delete;
  LibbloomAdapter& operator=(const LibbloomAdapter&) = delete;
  ~LibbloomAdapter() { ::bloom_free(&filter_); }

  void clear() { ::bloom_reset(&filter_); }
  void insert(std::uint64_t key) { ::bloom_add(&filter_, &key, sizeof key); }
  void insert_many(std::span<const std::uint64_t> keys) {
    for (const std::uint64_t key : keys) insert(key);
  }
  bool may_contain(std::uint64_t key) const {
    return ::bloom_check(&filter_, &key, sizeof key) == 1;
  }
  void may_contain_many(std::span<const std::uint64_t> keys, std::span<bool> found) const {
    for (std::size_t key = 0; key < keys.size(); ++key) found[key] = may_contain(keys[key]);
  }
  std::uint64_t size_bytes() const { return static_cast<std::uint64_t>(filter_.bytes); }

 private:
  mutable ::bloom filter_ = {};  // libbloom asks through a pointer to non-const
};

const bool registered = register_filter<LibbloomAdapter>("libbloom");

}  // namespace
}  // namespace guestlist::bench
