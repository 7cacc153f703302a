#pragma once

// Texts that go into a filter file are printed by whoever inspects it, on terminals and in JSON. So
// they are UTF-8 without control characters, both when written and, since a file may come from
// anywhere, when read.

#include <cstddef>
#include <string>
#include <string_view>

namespace guestlist::filter_file {

/// Well-formed UTF-8 without control characters.
bool is_printable(std::string_view text) noexcept;

/// `text` with `?` in place of every byte that may not be printed, cut between two characters so
/// that it has at most `limit` bytes.
std::string to_printable(std::string_view text, std::size_t limit);

}  // namespace guestlist::filter_file
