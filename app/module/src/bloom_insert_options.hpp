#pragma once

// The options of BF.INSERT. Those that everybody has are known by their first letters, as they have
// always been; those of valkey-bloom by the whole word.

#include <optional>

#include "bloom_keys.hpp"

namespace guestlist::server {

struct InsertOptions {
  BloomWish wish;
  std::optional<Secret> secret;
  long long scale_to = 0;  ///< VALIDATESCALETO, or 0
  bool may_create = true;
  std::size_t first_item = 0;
  bool is_arity_wrong = false;
  const char* error = nullptr;
};

InsertOptions parse_insert_options(Arguments arguments);

/// Null, or why a filter that grows until it holds so many items would be refused.
const char* check_scale_to(const BloomWish& wish, long long items, Context* context);

/// The reply to a filter that cannot be made.
const char* creation_error(const Error& error) noexcept;

}  // namespace guestlist::server
