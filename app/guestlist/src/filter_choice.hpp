#pragma once

// From the names of the command line to a filter, and from a filter to what is said about it.

#include <boost/json/object.hpp>
#include <string>

#include "call.hpp"
#include "guestlist/filter/any_filter.hpp"
#include "guestlist/filter/filter_file.hpp"

namespace guestlist {

/// `bloom` (the native layout that needs fewest bits), `split-block`, `classic-bloom`,
/// `counting-bloom`, `scalable-bloom`, `cuckoo`. Errors: `invalid_argument`; of the structure's own
/// make.
Result<AnyFilter> make_filter(const std::string& structure, std::uint64_t items, double fpr,
                              const KeyHasher& hasher);
void declare_structure(CLI::App& command, std::string& structure);

/// The name under which make_filter makes a filter of this shape.
std::string structure_name(const FilterShape& shape);

/// structure, capacity, fpr, bits, bits_per_key, size_bytes, hash, items: what a filter is.
boost::json::object describe(const AnyFilter& filter);

/// The same and what is in it now (fill, estimated_items, fpr_now); one pass over the bits.
boost::json::object describe_with_content(const AnyFilter& filter);

}  // namespace guestlist
