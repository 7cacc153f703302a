#include "guestlist/guard/local_membership.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <mutex>
#include <utility>
#include <vector>

namespace guestlist {
namespace {

/// A pointer that keeps the promise when its last copy goes.
std::pair<std::shared_ptr<const void>, std::future<void>> make_open_writes() {
  auto promise = std::make_shared<std::promise<void>>();
  auto ended = promise->get_future();
  return {std::shared_ptr<const void>(nullptr, [promise](const void*) { promise->set_value(); }),
          std::move(ended)};
}

}  // namespace

struct LocalMembership::Generation {
  std::uint64_t number;
  BloomFilter filter;
};

LocalMembership::LocalMembership() {
  std::tie(open_writes_, open_writes_ended_) = make_open_writes();
}

LocalMembership::~LocalMembership() = default;

void LocalMembership::check(std::span<const std::string_view> keys, Deadline, Verdicts done) {
  // One key is by far the most frequent call and needs no memory of its own.
  std::array<Verdict, 1> single{};
  std::vector<Verdict> many;
  std::span<Verdict> verdicts = single;
  if (keys.size() != 1) {
    many.resize(keys.size());
    verdicts = many;
  }
  {
    const std::shared_lock lock(mutex_);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (live_ == nullptr) {
        verdicts[i] = Verdict::unknown(Reason::building);
      } else {
        verdicts[i] = live_->filter.may_contain(keys[i]) ? Verdict::maybe() : Verdict::absent();
      }
    }
  }
  done(verdicts);
}

void LocalMembership::add(std::span<const std::string_view> keys, Deadline, Completion<void> done) {
  Result<void> result;
  {
    const std::shared_lock lock(mutex_);
    for (const std::string_view key : keys) {
      if (live_ != nullptr) live_->filter.insert_concurrently(key);
      if (next_ != nullptr) next_->filter.insert_concurrently(key);
    }
    // Without any generation every verdict is `unknown`, so nothing is lost: the first one reads
    // its source after this write has ended.
  }
  done(std::move(result));
}

std::shared_ptr<const void> LocalMembership::begin_write() {
  const std::shared_lock lock(mutex_);
  return open_writes_;
}

Result<void> LocalMembership::begin_generation(const FilterPlan& plan, const KeyHasher& hasher) {
  auto filter = BloomFilter::make(plan, hasher);
  if (!filter) return fail(std::move(filter).error());
  auto [open_writes, ended] = make_open_writes();
  const std::unique_lock lock(mutex_);
  if (next_ != nullptr) return fail(Errc::already_exists, "another generation is being built");
  next_ = std::make_unique<Generation>(Generation{++generations_, std::move(*filter)});
  // From here on a write that begins adds to the new generation too. The earlier ones may not have.
  open_writes_ = std::move(open_writes);
  earlier_writes_ended_.push_back(std::exchange(open_writes_ended_, std::move(ended)));
  return {};
}

Result<void> LocalMembership::wait_for_writes(Duration at_most) {
  const TimePoint until = SteadyClock().now() + at_most;
  for (const std::future<void>& ended : earlier_writes_ended_) {
    if (ended.wait_until(until) != std::future_status::ready) {
      return fail(Errc::deadline_exceeded,
                  "a write that began before the rebuild is still open; end it and build again");
    }
  }
  earlier_writes_ended_.clear();
  return {};
}

void LocalMembership::insert(std::span<const std::string> keys) {
  const std::shared_lock lock(mutex_);
  assert(next_ != nullptr);
  for (const std::string& key : keys) next_->filter.insert_concurrently(key);
}

void LocalMembership::publish() {
  std::shared_ptr<Generation> old;
  const std::unique_lock lock(mutex_);
  assert(next_ != nullptr);
  old = std::exchange(live_, std::move(next_));
}

void LocalMembership::abandon() {
  const std::unique_lock lock(mutex_);
  next_.reset();
}

void LocalMembership::adopt(BloomFilter filter, std::uint64_t generation) {
  std::shared_ptr<Generation> adopted =
      std::make_shared<Generation>(Generation{generation, std::move(filter)});
  const std::unique_lock lock(mutex_);
  generations_ = std::max(generations_, generation);
  std::swap(live_, adopted);
}

Result<std::optional<LocalMembership::Image>> LocalMembership::copy_live() const {
  const auto live = this->live();
  if (live == nullptr) return std::nullopt;
  auto copy = live->filter.copy_beside_inserts();
  if (!copy) return fail(std::move(copy).error());
  return Image{*std::move(copy), live->number};
}

std::shared_ptr<LocalMembership::Generation> LocalMembership::live() const {
  const std::shared_lock lock(mutex_);
  return live_;
}

LocalMembership::Status LocalMembership::status() const {
  Status status;
  {
    const std::shared_lock lock(mutex_);
    status.is_building = next_ != nullptr;
  }
  // Not under the lock: reading all bits takes a while.
  const auto live = this->live();
  if (live == nullptr) return status;
  status.generation = live->number;
  status.capacity = live->filter.capacity();
  status.items = live->filter.approximate_count();
  status.asked_fpr = live->filter.fpr();
  status.size_bytes = live->filter.size_bytes();
  status.fill = live->filter.fill();
  status.fpr_now = live->filter.fpr_now();
  return status;
}

}  // namespace guestlist
