#pragma once

// Result<T>: a value, or the Error that says why there is none. Nothing of guestlist throws;
// exceptions of libraries stop in the unit that called them and become an Error there.

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "guestlist/base/error.hpp"

namespace guestlist {

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  // NOLINTNEXTLINE(google-explicit-constructor): a chain of and_then() ends in a Result.
  Result(tl::expected<T, Error> other) : tl::expected<T, Error>(std::move(other)) {}
};

/// Ends an operation: `return fail(Errc::truncated, "…")`.
inline tl::unexpected<Error> fail(std::error_code code, std::string detail) {
  return tl::unexpected<Error>(Error{code, std::move(detail)});
}

/// Passes on the error of an operation that was called: `return fail(std::move(result).error())`.
inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace guestlist
