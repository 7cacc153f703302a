#pragma once

// What can go wrong while guestlist operates, as opposed to programmer errors, which are asserted.
//
// An Error is a code for programs and a sentence for people. The sentence says what was wrong,
// where, and what to do about it; it is printed as one line and must read well there.
//
// Distinct objects: safe. Shared objects: read only.

#include <string>
#include <system_error>

namespace guestlist {

/// The reasons for which an operation of guestlist fails. `describe(Errc)` has a sentence for each.
enum class Errc {
  invalid_argument = 1,  ///< a parameter is outside of what the operation accepts
  too_large,             ///< the request is well formed and exceeds a named limit
  not_found,             ///< the thing named does not exist
  already_exists,        ///< the thing named exists with other parameters
  unreadable,            ///< the operating system refused to open or read
  unwritable,            ///< the operating system refused to write; nothing was replaced
  truncated,             ///< the data ends before its own header says
  corrupt,               ///< a checksum or an internal limit does not hold
  foreign_format,        ///< the data is not in the format asked for
  newer_version,         ///< the data is of a later version than this build reads
  mismatched,            ///< two things that must have the same shape or secret do not
  full,                  ///< a structure of fixed capacity has no room left
  unavailable,           ///< a service did not answer or refused
  deadline_exceeded,     ///< the time given was over
  cancelled,             ///< the caller gave up
  overloaded,            ///< a bounded queue was full
};

/// One sentence for each reason, without a full stop.
const char* describe(Errc reason) noexcept;

const std::error_category& error_category() noexcept;
std::error_code make_error_code(Errc reason) noexcept;

struct [[nodiscard]] Error {
  std::error_code code;
  /// What was wrong, where, and what to do; empty only where the code says it all.
  std::string detail;

  /// The one line that a person reads.
  std::string message() const;
};

/// An Error from the calling thread's `errno`, read before anything else runs.
Error errno_error(Errc reason, std::string detail);

}  // namespace guestlist

template <>
struct std::is_error_code_enum<guestlist::Errc> : std::true_type {};
