#pragma once

// Files that are built into the program.

#include <string_view>

namespace guestlist::web {

extern const std::string_view dashboard_html;
extern const std::string_view openapi_json;

}  // namespace guestlist::web
