#pragma once

// A plan is the validity of a filter, bought once: whoever holds one can build the filter it
// describes, and nothing that the filter does afterwards can fail.

#include <cstdint>

#include "guestlist/base/result.hpp"
#include "guestlist/filter/block_layout.hpp"

namespace guestlist {

class FilterPlan {
 public:
  /// The largest number of items a plan accepts; 1e18 is refused with the number before anything is
  /// allocated.
  static constexpr std::uint64_t max_items = std::uint64_t{1} << 40;
  static constexpr double min_fpr = 1e-9;
  static constexpr double max_fpr = 0.5;

  /// The native filter: `split_line`, or `split_line_16` where that is smaller.
  /// Errors: `invalid_argument` for items = 0 or an fpr outside of [min_fpr, max_fpr] (also NaN);
  /// `too_large` for more than max_items.
  static Result<FilterPlan> make(std::uint64_t items, double fpr);
  static Result<FilterPlan> make(std::uint64_t items, double fpr, BlockLayout layout);

  std::uint64_t items() const noexcept { return items_; }
  double fpr() const noexcept { return fpr_; }
  BlockLayout layout() const noexcept { return layout_; }
  std::uint64_t block_count() const noexcept { return block_count_; }
  std::uint64_t size_bytes() const noexcept { return block_count_ * block_bytes(layout_); }
  std::uint64_t bits() const noexcept { return size_bytes() * 8; }
  double bits_per_key() const noexcept {
    return static_cast<double>(bits()) / static_cast<double>(items_);
  }

 private:
  FilterPlan(std::uint64_t items, double fpr, BlockLayout layout,
             std::uint64_t block_count) noexcept
      : items_(items), fpr_(fpr), layout_(layout), block_count_(block_count) {}

  std::uint64_t items_;
  double fpr_;
  BlockLayout layout_;
  std::uint64_t block_count_;
};

/// What the planners of all structures accept. Errors: as FilterPlan::make; the sentence names the
/// value.
Result<void> check_items_and_fpr(std::uint64_t items, double fpr);

}  // namespace guestlist
