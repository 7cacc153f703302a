#pragma once

// The source that a filter's configuration names.

#include <memory>
#include <vector>

#include "guestlist/hash/key_type.hpp"
#include "guestlist/port/change_feed.hpp"
#include "service/service_config.hpp"

namespace guestlist {

struct OpenedSource {
  std::shared_ptr<FollowedSource> source;
  std::vector<KeyType> key;  ///< of each column
};

/// Connects, and sees that table and columns are there. Errors: one line that begins with the place
/// in the configuration and says what to do.
Result<OpenedSource> open_source(const FilterConfig& filter);

}  // namespace guestlist
