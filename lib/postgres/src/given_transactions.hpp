#pragma once

// Transactions whose keys a feed gave, and that a snapshot may not show yet: a commit is in the log
// before it can be seen, and long before where it waits for a synchronous standby. What is in
// neither a new filter's snapshot nor the feed any more would be missing for ever, so a snapshot
// waits until it shows them all.
//
// Distinct objects: safe. Shared objects: safe. Tested by: GivenTransactions.*

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace guestlist::postgres {

/// `pg_current_snapshot()`: which transactions have ended for whoever looks with it.
class TransactionSnapshot {
 public:
  /// `xmin:xmax:running,…`
  static std::optional<TransactionSnapshot> parse(std::string_view text);
  /// Ids as the log has them, of 32 bits.
  bool shows_end_of(std::uint32_t transaction) const noexcept;
  std::vector<std::uint32_t> running() const;

 private:
  std::uint32_t first_unassigned_ = 0;
  std::unordered_set<std::uint32_t> running_;
};

class GivenTransactions {
 public:
  void add(std::uint32_t transaction);
  /// Forgets those that every later snapshot shows.
  void settle(const TransactionSnapshot& snapshot);
  std::vector<std::uint32_t> unsettled() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_set<std::uint32_t> given_;
};

}  // namespace guestlist::postgres
