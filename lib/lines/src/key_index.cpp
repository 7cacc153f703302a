#include "key_index.hpp"

#include <algorithm>
#include <tuple>

namespace guestlist::lines {
namespace {

bool is_before(const Hash128& a, const Hash128& b) noexcept {
  return std::tie(a.first, a.second) < std::tie(b.first, b.second);
}

}  // namespace

KeyIndex::KeyIndex(std::vector<Hash128> fingerprints) : sorted_(std::move(fingerprints)) {
  std::sort(sorted_.begin(), sorted_.end(), is_before);
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
}

std::optional<std::size_t> KeyIndex::find(const Hash128& fingerprint) const noexcept {
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), fingerprint, is_before);
  if (found == sorted_.end() || *found != fingerprint) return std::nullopt;
  return static_cast<std::size_t>(found - sorted_.begin());
}

std::uint64_t KeyIndex::missing_in(const KeyIndex& other) const noexcept {
  std::uint64_t missing = 0;
  auto theirs = other.sorted_.begin();
  for (const Hash128& mine : sorted_) {
    while (theirs != other.sorted_.end() && is_before(*theirs, mine)) ++theirs;
    if (theirs == other.sorted_.end() || *theirs != mine) ++missing;
  }
  return missing;
}

}  // namespace guestlist::lines
