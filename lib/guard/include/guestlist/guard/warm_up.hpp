#pragma once

// Fills a generation of a LocalMembership from a snapshot of a source, beside what is live, while
// reads and writes go on. It becomes live only when it is complete; after any error nothing has
// changed.

#include <cstdint>
#include <functional>
#include <optional>

#include "guestlist/base/result.hpp"
#include "guestlist/guard/local_membership.hpp"
#include "guestlist/port/source.hpp"

namespace guestlist {

struct WarmUpOptions {
  double fpr = 0.01;
  /// Room for keys that come later, as a share of the source's count.
  double headroom = 0.25;
  /// Used where the source does not know its count.
  std::uint64_t capacity_without_count = 1'000'000;
  /// How long writes that began before the warm-up may take to end.
  Duration wait_for_writes = std::chrono::seconds(30);
  /// Asked after each batch; false ends the warm-up with `cancelled`.
  std::function<bool()> goes_on;
  /// Told after each batch; the total is missing where the source does not know it.
  std::function<void(std::uint64_t done, std::optional<std::uint64_t> total)> progress;
};

struct WarmUpReport {
  std::uint64_t keys = 0;
  std::uint64_t capacity = 0;
  double seconds = 0;
};

/// Errors: of the source; `already_exists` where a warm-up is under way; `deadline_exceeded` where
/// an earlier write does not end; `too_large`.
Result<WarmUpReport> warm_up(LocalMembership& membership, Source& source,
                             const WarmUpOptions& options = {});

}  // namespace guestlist
