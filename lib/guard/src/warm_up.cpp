#include "guestlist/guard/warm_up.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace guestlist {
namespace {

// The smallest capacity: below it a few later keys would fill the filter.
constexpr std::uint64_t least_capacity = 1000;

/// The number of keys to plan for. Counted on a snapshot of its own, since the filter must exist
/// before the snapshot that fills it is opened.
Result<std::uint64_t> planned_capacity(Source& source, const WarmUpOptions& options) {
  auto snapshot = source.snapshot();
  if (!snapshot) return fail(std::move(snapshot).error());
  const auto count = (*snapshot)->count();
  if (!count) return options.capacity_without_count;
  const double with_headroom = static_cast<double>(*count) * (1 + options.headroom);
  return std::max(least_capacity, static_cast<std::uint64_t>(with_headroom));
}

Result<std::uint64_t> fill(LocalMembership& membership, Source& source,
                           const WarmUpOptions& options) {
  if (auto ended = membership.wait_for_writes(options.wait_for_writes); !ended) {
    return fail(std::move(ended).error());
  }
  auto snapshot = source.snapshot();
  if (!snapshot) return fail(std::move(snapshot).error());
  std::uint64_t done = 0;
  std::vector<std::string> keys;
  while (true) {
    if (auto read = (*snapshot)->next(keys); !read) return fail(std::move(read).error());
    if (keys.empty()) return done;
    membership.insert(keys);
    done += keys.size();
    if (options.goes_on && !options.goes_on())
      return fail(Errc::cancelled, "the warm-up was given up");
    if (options.progress) options.progress(done, (*snapshot)->count());
  }
}

}  // namespace

Result<WarmUpReport> warm_up(LocalMembership& membership, Source& source,
                             const WarmUpOptions& options) {
  const SteadyClock clock;
  const TimePoint began = clock.now();
  const auto capacity = planned_capacity(source, options);
  if (!capacity) return fail(capacity.error());
  const auto plan = FilterPlan::make(*capacity, options.fpr);
  if (!plan) return fail(plan.error());
  auto begun = membership.begin_generation(*plan, KeyHasher::siphash(Secret::random()));
  if (!begun) return fail(std::move(begun).error());
  const auto keys = fill(membership, source, options);
  if (!keys) {
    membership.abandon();
    return fail(keys.error());
  }
  membership.publish();
  const std::chrono::duration<double> seconds = clock.now() - began;
  return WarmUpReport{*keys, *capacity, seconds.count()};
}

}  // namespace guestlist
