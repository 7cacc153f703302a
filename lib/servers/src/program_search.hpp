#pragma once

// How a program is found, apart from which programs there are.

#include <string>
#include <string_view>

#include "guestlist/base/result.hpp"

namespace guestlist::servers {

struct ProgramNames {
  std::string_view name;
  /// Where the build found it; empty where it did not.
  std::string_view path;
  std::string_view package;
};

/// `path` if it can be executed, else the first `name` on the PATH that can. Errors: `not_found`,
/// with what to install.
Result<std::string> search_program(const ProgramNames& wanted);

}  // namespace guestlist::servers
