#pragma once

// Numbers as people type them on the command line, and what is said about those that do not do.

#include <cstdint>
#include <string>

#include "guestlist/base/result.hpp"

namespace guestlist {

/// A whole number above zero: `1000000`, `1_000_000`, `1e6`. Errors: `invalid_argument`,
/// `too_large`.
Result<std::uint64_t> parse_items(const std::string& text);

/// A rate between 0 and 1, both excluded: `0.01`, `1e-4`, `1%`. Errors: `invalid_argument`.
Result<double> parse_fpr(const std::string& text);

/// What a filter is planned for.
struct PlannedSize {
  std::uint64_t items;
  double fpr;
};

/// From `--items` and `--fpr`, where both must be known. Errors: `invalid_argument`, also where
/// `items` is empty; `too_large`.
Result<PlannedSize> parse_size(const std::string& items, const std::string& fpr);

}  // namespace guestlist
