#pragma once

// One key for the values of several columns. The canonical values are joined by `,`; a `,` or `\`
// within a value has a `\` before it. So `a,b` and `c` are `a\,b,c`, two empty values are `,`, and
// no two lists of values have one key. A key of one column is its canonical value, as it is.
//
// Threads: pure functions.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace guestlist {

/// Requires: at least one part.
std::string join_key(std::span<const std::string> parts);

/// The parts that `join_key` was given; nothing where it would not have given this key for `count`
/// parts.
std::optional<std::vector<std::string>> split_key(std::string_view key, std::size_t count);

}  // namespace guestlist
