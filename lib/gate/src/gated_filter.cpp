#include "guestlist/gate/gated_filter.hpp"

namespace guestlist {

void GatedFilter::count(Verdict verdict, Decision decision) noexcept {
  const auto answer = static_cast<std::size_t>(verdict.answer);
  const auto reason = static_cast<std::size_t>(verdict.reason);
  verdicts_[answer][reason].fetch_add(1, std::memory_order_relaxed);
  if (decision == Decision::reject) rejected_.fetch_add(1, std::memory_order_relaxed);
  if (decision == Decision::would_reject) would_reject_.fetch_add(1, std::memory_order_relaxed);
}

GateCounts GatedFilter::counts() const {
  GateCounts counts;
  for (std::size_t answer = 0; answer < answers; ++answer) {
    for (std::size_t reason = 0; reason < reasons; ++reason) {
      const std::uint64_t count = verdicts_[answer][reason].load(std::memory_order_relaxed);
      const Verdict verdict{static_cast<Answer>(answer), static_cast<Reason>(reason)};
      if (count > 0) counts.verdicts.emplace_back(verdict, count);
    }
  }
  counts.rejected = rejected_.load(std::memory_order_relaxed);
  counts.would_reject = would_reject_.load(std::memory_order_relaxed);
  return counts;
}

}  // namespace guestlist
