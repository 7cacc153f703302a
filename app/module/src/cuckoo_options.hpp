#pragma once

// The options of CF.RESERVE, which are whole words, and of CF.INSERT, which are known by their
// first letters, as they have always been.

#include "cuckoo_keys.hpp"

namespace guestlist::server {

/// Null, or the sentence of the refusal.
const char* parse_cuckoo_reserve(Arguments arguments, CuckooWish& wish);

struct CuckooInsertOptions {
  CuckooWish wish;
  bool may_create = true;
  std::size_t first_item = 0;
  bool is_arity_wrong = false;
  const char* error = nullptr;
};
CuckooInsertOptions parse_cuckoo_insert(Arguments arguments);

}  // namespace guestlist::server
