#pragma once

// Streams keys into a filter: read a batch, canonicalise, hash, insert many.

#include "call.hpp"
#include "guestlist/filter/any_filter.hpp"

namespace guestlist {

struct Filled {
  std::uint64_t keys = 0;
  std::uint64_t added = 0;       ///< that changed something
  std::uint64_t unparsable = 0;  ///< that have no canonical form; they are not in the filter
  double seconds = 0;
};

/// Errors: of the reader; `full`. The filter may hold some of the keys then.
Result<Filled> fill_from(KeyReader& reader, KeyType type, AnyFilter& filter);

/// The number of keys of inputs that can be read twice. Errors: `invalid_argument` where they
/// cannot, or where there is no key.
Result<std::uint64_t> count_keys(const InputOptions& inputs);

}  // namespace guestlist
