#pragma once

// For tests: a server that does not start fails the test with the sentence that says why.

#include <stdexcept>
#include <utility>

#include "guestlist/base/result.hpp"

namespace guestlist::servers {

/// The value. Where there is none, throws the error's message, which GoogleTest reports as the
/// failure of the test or of the suite's set-up.
template <class T>
T required(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace guestlist::servers
