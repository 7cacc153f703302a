#pragma once

// Which structure to take for a set of keys, what each would cost, and why. Pure: nothing is built,
// and the sizes are exactly those of the filters that would be.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/filter/block_layout.hpp"
#include "guestlist/filter/filter_shape.hpp"

namespace guestlist {

/// What a filter must be able to do besides insert and query.
struct FilterNeeds {
  bool deletes = false;  ///< keys are removed one by one, without a rebuild
  bool growth = false;   ///< there may be more keys than planned, without a bound
  bool counts = false;   ///< how often was a key inserted?
};

struct StructureCandidate {
  Structure structure = Structure::bloom;
  /// For the structures that are made of blocks.
  std::optional<BlockLayout> layout;
  std::uint64_t size_bytes = 0;
  double bits_per_key = 0;
  /// Bits, counters or slots that a query of a present key reads.
  std::uint32_t probes = 0;
  /// Cache lines that a query of an absent key reads on average: its misses, once the filter is
  /// larger than the caches.
  double cache_misses = 0;
  /// The rate with all items in; below the asked one where the structure cannot be worse.
  double fpr = 0;
};

struct StructurePlan {
  /// All that meet the needs; never empty.
  std::vector<StructureCandidate> candidates;
  /// The one to take, in `candidates`.
  std::size_t choice = 0;
  /// One sentence: why that one.
  std::string reason;

  const StructureCandidate& chosen() const noexcept { return candidates[choice]; }
};

/// For `items` keys; of a filter that grows, the size is that with so many in it, and its plan
/// begins there. Errors: as check_items_and_fpr; `invalid_argument` where no structure meets all
/// needs, with what to do instead.
Result<StructurePlan> plan_structures(std::uint64_t items, double fpr, const FilterNeeds& needs);

}  // namespace guestlist
