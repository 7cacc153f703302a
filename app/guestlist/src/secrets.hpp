#pragma once

// Which secret a new filter gets.
//
//   --secret-file F   the file's; the filter stores only its fingerprint, and every later call
//   needs F else              the user's own, made at first use; the filter stores it and can be
//   read anywhere
//
// One secret a user, so that filters built apart can be merged. docs/decisions/0601 says why.

#include "call.hpp"
#include "guestlist/filter/filter_file_writer.hpp"
#include "guestlist/hash/key_hasher.hpp"

namespace guestlist {

struct ChosenHasher {
  KeyHasher hasher;
  SecretPlacement placement;
};

/// Errors: of the secret file.
Result<ChosenHasher> choose_hasher(const HashOptions& options,
                                   HashKind otherwise = HashKind::siphash);

/// The secret for opening a filter: nothing without `--secret-file`.
Result<std::optional<Secret>> read_secret(const std::string& secret_file);

KeyHasher make_hasher(HashKind kind, const Secret& secret);

}  // namespace guestlist
