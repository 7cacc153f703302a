#pragma once

// How a filter stands, as the HTTP interface says it. openapi.json has the fields.
//
// Threads: pure functions.

#include <boost/json/object.hpp>

#include "service/served_filter.hpp"

namespace guestlist {

boost::json::object to_json(const FilterReport& report);

/// `shadow`, `enforce`, `pass`.
std::string_view name(Mode mode) noexcept;
std::optional<Mode> mode_from_name(std::string_view name) noexcept;

}  // namespace guestlist
