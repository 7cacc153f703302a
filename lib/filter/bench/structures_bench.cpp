// The structures beside the native filter, in the rows of filter_adapter.hpp: guestlist-classic,
// guestlist-counting, guestlist-cuckoo, and guestlist-scalable, which starts for a hundredth of the
// keys. Those that can delete have a row `remove/one` as well: all keys, out and in again.

#include "filter_adapter.hpp"
#include "guestlist/filter/classic_bloom_filter.hpp"
#include "guestlist/filter/counting_bloom_filter.hpp"
#include "guestlist/filter/cuckoo_filter.hpp"
#include "guestlist/filter/scalable_bloom_filter.hpp"
#include "guestlist/hash/integer_hash.hpp"

namespace guestlist::bench {
namespace {

template <class F, std::uint64_t first_share = 1>
class StructureAdapter {
 public:
  StructureAdapter(std::uint64_t items, double fpr)
      : filter_(F::make(items / first_share, fpr, KeyHasher::xxh3(Secret())).value()) {}

  void clear() { filter_.clear(); }
  void insert(std::uint64_t key) { benchmark::DoNotOptimize(filter_.insert(hash(key))); }
  void insert_many(std::span<const std::uint64_t> keys) {
    for (const std::uint64_t key : keys) insert(key);
  }
  void remove(std::uint64_t key) { filter_.remove(hash(key)); }
  bool may_contain(std::uint64_t key) const { return filter_.may_contain(hash(key)); }
  void may_contain_many(std::span<const std::uint64_t> keys, std::span<bool> found) const {
    if constexpr (requires { filter_.may_contain_many(std::span<const KeyHash>(), found); }) {
      std::vector<KeyHash> hashes(keys.size());
      for (std::size_t i = 0; i < keys.size(); ++i) hashes[i] = hash(keys[i]);
      filter_.may_contain_many(hashes, found);
    } else {
      for (std::size_t i = 0; i < keys.size(); ++i) found[i] = may_contain(keys[i]);
    }
  }
  std::uint64_t size_bytes() const { return filter_.size_bytes(); }

 private:
  static KeyHash hash(std::uint64_t key) { return IntegerHasher{42}(key); }

  F filter_;
};

using Counting = StructureAdapter<CountingBloomFilter>;
using Cuckoo = StructureAdapter<CuckooFilter>;

template <class Adapter>
void remove_and_insert(benchmark::State& state) {
  constexpr std::uint64_t items = 1'000'000;
  Filled<Adapter>& filled = Filled<Adapter>::of(items, 0.01);
  const KeySets& keys = KeySets::of(items);
  for ([[maybe_unused]] auto iteration : state) {
    for (const std::uint64_t key : keys.present) filled.filter.remove(key);
    for (const std::uint64_t key : keys.present) filled.filter.insert(key);
  }
  report(state, filled, items, items);
}

BENCHMARK(remove_and_insert<Counting>)
    ->Name("remove/one/1M/1%/guestlist-counting")
    ->Unit(benchmark::kMillisecond);
BENCHMARK(remove_and_insert<Cuckoo>)
    ->Name("remove/one/1M/1%/guestlist-cuckoo")
    ->Unit(benchmark::kMillisecond);

const bool registered =
    register_filter<StructureAdapter<ClassicBloomFilter>>("guestlist-classic") &&
    register_filter<Counting>("guestlist-counting") &&
    register_filter<Cuckoo>("guestlist-cuckoo") &&
    register_filter<StructureAdapter<ScalableBloomFilter, 100>>("guestlist-scalable");

}  // namespace
}  // namespace guestlist::bench
