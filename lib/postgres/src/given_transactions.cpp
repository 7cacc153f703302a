#include "given_transactions.hpp"

#include <algorithm>
#include <charconv>

namespace guestlist::postgres {
namespace {

/// Reads a number and the separator after it, which the last one has not.
std::optional<std::uint64_t> take_number(std::string_view& text, char separator) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.empty()) return value;
  if (text.front() != separator) return std::nullopt;
  text.remove_prefix(1);
  return value;
}

}  // namespace

std::optional<TransactionSnapshot> TransactionSnapshot::parse(std::string_view text) {
  TransactionSnapshot snapshot;
  const auto oldest = take_number(text, ':');
  const auto first_unassigned = take_number(text, ':');
  if (!oldest || !first_unassigned) return std::nullopt;
  snapshot.first_unassigned_ = static_cast<std::uint32_t>(*first_unassigned);
  while (!text.empty()) {
    const auto running = take_number(text, ',');
    if (!running) return std::nullopt;
    snapshot.running_.insert(static_cast<std::uint32_t>(*running));
  }
  return snapshot;
}

bool TransactionSnapshot::shows_end_of(std::uint32_t transaction) const noexcept {
  // Ids go round; what is less than half a circle behind is before.
  const bool is_assigned = static_cast<std::int32_t>(transaction - first_unassigned_) < 0;
  return is_assigned && !running_.contains(transaction);
}

std::vector<std::uint32_t> TransactionSnapshot::running() const {
  return {running_.begin(), running_.end()};
}

void GivenTransactions::add(std::uint32_t transaction) {
  const std::lock_guard lock(mutex_);
  given_.insert(transaction);
}

void GivenTransactions::settle(const TransactionSnapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  std::erase_if(given_, [&](std::uint32_t id) { return snapshot.shows_end_of(id); });
}

std::vector<std::uint32_t> GivenTransactions::unsettled() const {
  const std::lock_guard lock(mutex_);
  return {given_.begin(), given_.end()};
}

}  // namespace guestlist::postgres
