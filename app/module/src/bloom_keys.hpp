#pragma once

// The types of the keys that BF.* works on, and how filters come into being in them.

#include "command.hpp"
#include "core/bloom_value.hpp"
#include "filter_totals.hpp"

namespace guestlist::server {

/// Null, or what went wrong.
const char* register_bloom_types(Context* context);

/// A filter and its key.
struct BloomKey : OpenKey {
  using OpenKey::OpenKey;

  /// Null where there is none: the key is missing or holds something else.
  BloomValue* bloom() const;
  /// Into a key that is missing.
  BloomValue* create(BloomValue value);
  /// As OpenKey's, and the totals follow. A classic filter that is still arriving has the type of
  /// native ones, whose snapshots can say so; it changes to its own once it is whole.
  void changed(const char* event);
};

/// What a command asks for when it creates a filter.
struct BloomWish {
  double error_rate;
  long long capacity;
  long long expansion;
  bool is_scaling;
  bool is_classic;
  double tightening;
  /// Whether the user chose the capacity. One who did seldom needs to grow, and the first layer
  /// gets most of the error; one who did not will.
  bool has_capacity;
  const Secret* secret = nullptr;
};
/// As the settings have it.
BloomWish default_wish();

Result<BloomValue> make_bloom(const BloomWish& wish, const MemoryLimit& limit);

/// Tells replicas and the log of a filter that was created: by its header, which has its secret and
/// every parameter, so that no setting of theirs matters.
void replicate_creation(Context* context, String* key, const BloomValue& value);

/// Of all filters of the server, for INFO.
FilterCounts bloom_totals() noexcept;

}  // namespace guestlist::server
