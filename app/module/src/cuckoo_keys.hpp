#pragma once

// The types of the keys that CF.* works on, and how filters come into being in them.

#include "command.hpp"
#include "core/cuckoo_chain.hpp"
#include "filter_totals.hpp"

namespace guestlist::server {

/// Null, or what went wrong.
const char* register_cuckoo_types(Context* context);

/// A filter and its key.
struct CuckooKey : OpenKey {
  using OpenKey::OpenKey;

  /// Null where there is none: the key is missing or holds something else.
  CuckooChain* cuckoo() const;
  /// Into a key that is missing.
  CuckooChain* create(CuckooChain value);
  /// As OpenKey's, and the totals follow. A strict filter that is still arriving has the type of
  /// others, whose snapshots can say so; it changes to its own once it is whole.
  void changed(const char* event);
};

/// Of all filters of the server, for INFO.
FilterCounts cuckoo_totals() noexcept;

/// What a command asks for when it creates a filter.
struct CuckooWish {
  long long capacity;
  long long bucket_size;
  long long max_iterations;
  long long expansion;
};
/// As the settings have it.
CuckooWish default_cuckoo_wish();

/// Requires: a wish within the ranges of its fields. Errors: as CuckooChain::make.
Result<CuckooChain> make_cuckoo(const CuckooWish& wish, const MemoryLimit& limit);
/// The reply to a filter that cannot be made.
const char* cuckoo_creation_error(const Error& error) noexcept;

/// What a command may take: nothing is limited for what a master or the server's own log says.
CuckooLimit cuckoo_limit(Context* context);

/// Tells replicas and the log of a filter that was created: by its header, so that no setting of
/// theirs matters.
void replicate_creation(Context* context, String* key, const CuckooChain& value);

}  // namespace guestlist::server
