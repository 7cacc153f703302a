#pragma once

// Writes a filter to a file that appears under its name whole or not at all: a kill, a full disk or
// a crash at any moment leaves the file that was there before.
//
// A file that holds a siphash secret is created without permissions for others: whoever can read it
// can craft keys that pass. A file that exists keeps the permissions it has. docs/decisions/0402
// says why.
//
// Format: docs/formats/filter-file.md. Tested by: FilterFileWriter.*

#include <string>

#include "guestlist/base/result.hpp"
#include "guestlist/filter/any_filter.hpp"
#include "guestlist/filter/filter_file.hpp"

namespace guestlist {

enum class SecretPlacement {
  in_file,    ///< the file is all that a reader needs
  elsewhere,  ///< the file holds the fingerprint only; a reader brings the secret
};

/// Errors: `invalid_argument` for a text of `info` that is too long or has control characters;
/// `unwritable`. Complexity: one pass over the bits. Threads: nobody may insert into `filter`
/// meanwhile.
Result<void> write_filter_file(const std::string& path, const AnyFilter& filter,
                               const FilterFileInfo& info,
                               SecretPlacement placement = SecretPlacement::in_file,
                               const FileProgress& progress = {});

/// The same where no file may be there yet, whoever else writes one at that moment. Errors:
/// `already_exists`, and the file there is left alone.
Result<void> create_filter_file(const std::string& path, const AnyFilter& filter,
                                const FilterFileInfo& info,
                                SecretPlacement placement = SecretPlacement::in_file);

}  // namespace guestlist
