#pragma once

// A filter that breaks one law, for the proof that the law's test would notice.

#include <memory>
#include <utility>
#include <vector>

#include "guestlist/filter/classic_bloom_filter.hpp"

namespace guestlist {

enum class Fault {
  none,
  forgets_a_key_in_a_thousand,
  is_too_small,
  misjudges_its_rate,
  counts_keys_again,
  merges_nothing,
  merges_what_is_unlike,
  loses_bits_when_restored,
  shares_its_bits_with_copies,
  clears_only_the_count,
  misstates_its_size,
  reads_more_than_it_says,
  deletes_shared_bits,
};

template <Fault fault>
class BrokenFilter {
 public:
  static Result<BrokenFilter> make(std::uint64_t items, double fpr, const KeyHasher& hasher) {
    constexpr std::uint64_t shrink = fault == Fault::is_too_small ? 9 : 10;
    auto filter = ClassicBloomFilter::make(items * shrink / 10 + 1, fpr, hasher);
    if (!filter) return fail(std::move(filter).error());
    return BrokenFilter(std::move(*filter));
  }

  static Result<BrokenFilter> restore(const FilterShape& shape, const KeyHasher& hasher,
                                      std::vector<Storage> layers) {
    auto filter = ClassicBloomFilter::restore(shape, hasher, std::move(layers));
    if (!filter) return fail(std::move(filter).error());
    BrokenFilter broken(std::move(*filter));
    if constexpr (fault == Fault::loses_bits_when_restored) broken.inner().clear();
    return broken;
  }

  BrokenFilter(const BrokenFilter& other)
      : filter_(fault == Fault::shares_its_bits_with_copies
                    ? other.filter_
                    : std::make_shared<ClassicBloomFilter>(*other.filter_)) {}
  BrokenFilter& operator=(const BrokenFilter& other) {
    *this = BrokenFilter(other);
    return *this;
  }
  BrokenFilter(BrokenFilter&&) noexcept = default;
  BrokenFilter& operator=(BrokenFilter&&) noexcept = default;
  ~BrokenFilter() = default;

  bool insert(KeyHash hash) {
    if constexpr (fault == Fault::forgets_a_key_in_a_thousand) {
      if (hash.value % 1000 == 0) return false;
    }
    return inner().insert(hash) || fault == Fault::counts_keys_again;
  }
  bool insert(std::string_view key) { return insert(hasher()(key)); }

  bool remove(KeyHash hash) {
    ClassicBloomFilter without = *filter_;
    without.clear();
    std::vector<Storage> bits;
    Storage& changed = bits.emplace_back(Storage::allocate(filter_->size_bytes()).value());
    std::copy_n(filter_->layer_bytes()[0].data(), filter_->size_bytes(), changed.mutable_data());
    filter_->for_each_touched(
        hash, [&](TouchedBytes touched) { changed.mutable_data()[touched.offset] = std::byte{0}; });
    inner() = ClassicBloomFilter::restore(filter_->shape(), hasher(), std::move(bits)).value();
    return true;
  }

  bool may_contain(KeyHash hash) const { return filter_->may_contain(hash); }
  bool may_contain(std::string_view key) const { return filter_->may_contain(key); }
  const KeyHasher& hasher() const { return filter_->hasher(); }
  FilterShape shape() const { return filter_->shape(); }
  std::vector<ByteView> layer_bytes() const { return filter_->layer_bytes(); }
  std::uint64_t size_bytes() const {
    return filter_->size_bytes() + (fault == Fault::misstates_its_size ? 64 : 0);
  }
  double fill() const { return filter_->fill(); }
  std::uint64_t approximate_count() const { return filter_->approximate_count(); }
  double fpr_now() const {
    return filter_->fpr_now() * (fault == Fault::misjudges_its_rate ? 0.8 : 1);
  }

  template <class Visit>
  void for_each_touched(KeyHash hash, Visit&& visit) const {
    bool skip = fault == Fault::reads_more_than_it_says;
    filter_->for_each_touched(hash, [&](TouchedBytes touched) {
      if (!std::exchange(skip, false)) visit(touched);
    });
  }

  Result<void> merge(const BrokenFilter& other) {
    if constexpr (fault == Fault::merges_nothing) return {};
    if constexpr (fault == Fault::merges_what_is_unlike) {
      (void)inner().merge(*other.filter_);
      return {};
    }
    return inner().merge(*other.filter_);
  }

  void clear() {
    if constexpr (fault != Fault::clears_only_the_count) inner().clear();
  }

 private:
  explicit BrokenFilter(ClassicBloomFilter filter)
      : filter_(std::make_shared<ClassicBloomFilter>(std::move(filter))) {}
  ClassicBloomFilter& inner() { return *filter_; }

  std::shared_ptr<ClassicBloomFilter> filter_;
};

}  // namespace guestlist
