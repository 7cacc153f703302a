#pragma once

// What stands between a catalogue service and its database: a filter and a cache, in this process
// or shared through Redis.
//
// Distinct objects: safe. Shared objects: safe.

#include <cstdint>
#include <memory>
#include <string>

#include "guestlist/base/result.hpp"
#include "guestlist/port/membership.hpp"
#include "guestlist/port/source.hpp"
#include "guestlist/port/value_cache.hpp"

namespace guestlist::demo {

class ServiceParts {
 public:
  virtual ~ServiceParts() = default;
  virtual Membership& membership() = 0;
  virtual ValueCache& cache() = 0;
  /// Whether other services use the same cache.
  virtual bool is_shared() const = 0;
  /// Fills the filter from the source, or waits until another service has. Requires, and from then
  /// on: `source` outlives the parts.
  virtual Result<void> warm_up(Source& source) = 0;
  /// Memory of the filter's bits.
  virtual std::uint64_t filter_bytes() = 0;

 protected:
  ServiceParts() = default;
  ServiceParts(const ServiceParts&) = default;
  ServiceParts& operator=(const ServiceParts&) = default;
};

std::unique_ptr<ServiceParts> make_local_parts(double fpr, std::uint64_t cache_bytes);

/// The filter and the cache `name` in the Redis at `url`. Errors: of the URL.
Result<std::unique_ptr<ServiceParts>> make_shared_parts(const std::string& url,
                                                        const std::string& name, double fpr);

}  // namespace guestlist::demo
