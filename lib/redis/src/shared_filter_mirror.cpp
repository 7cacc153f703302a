#include "guestlist/redis/shared_filter_mirror.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "shard_copy.hpp"

namespace guestlist {

using redis::ShardCopy;
using redis::ShardViews;

class SharedFilterMirror::Core {
 public:
  using Copies = std::vector<std::shared_ptr<ShardCopy>>;

  Core(std::shared_ptr<RedisClient> client, std::string filter, const Options& options)
      : options_(options),
        client_(std::move(client)),
        views_(std::make_shared<ShardViews>(client_, std::move(filter))),
        thread_([this] { run(); }) {}

  ~Core() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    ending_.notify_all();
    thread_.join();
  }

  bool confirms() const noexcept { return options_.confirm; }

  /// The copies of all shards, or nothing where one of them is not fresh.
  Copies fresh_copies() const {
    const auto now = clock_.now();
    const std::lock_guard lock(mutex_);
    for (const auto& copy : copies_) {
      if (!copy || !copy->is_fresh(now, options_.lease)) return {};
    }
    return copies_;
  }

  /// Of copies that are not fresh too: they may become it before the log shows the keys.
  void insert(std::span<const std::string> keys) {
    Copies copies;
    {
      const std::lock_guard lock(mutex_);
      copies = copies_;
    }
    for (const auto& key : keys) {
      if (auto* copy = copy_for(copies, key)) copy->insert(key);
    }
  }

  static ShardCopy* copy_for(const Copies& copies, std::string_view key) noexcept {
    if (copies.empty() || !copies.front()) return nullptr;
    const auto& state = copies.front()->view()->state;
    const auto shard = shard_of(key, state.shard_secret, state.shards);
    return shard < copies.size() ? copies[shard].get() : nullptr;
  }

  Status status() const {
    Status status;
    status.is_fresh = !fresh_copies().empty();
    const std::lock_guard lock(mutex_);
    for (const auto& copy : copies_) status.size_bytes += copy ? copy->size_bytes() : 0;
    status.loads = loads_;
    status.followed = followed_;
    return status;
  }

 private:
  static constexpr Duration call_timeout = std::chrono::seconds(2);

  void run() {
    while (true) {
      const bool is_followed = follow_all() || load_all();
      std::unique_lock lock(mutex_);
      const auto pause = is_followed ? options_.follow_every : 5 * options_.follow_every;
      if (ending_.wait_for(lock, pause, [this] { return is_ending_; })) return;
    }
  }

  bool follow_all() {
    Copies copies;
    {
      const std::lock_guard lock(mutex_);
      copies = copies_;
    }
    if (copies.empty()) return false;
    for (const auto& copy : copies) {
      const auto followed = copy->follow(*client_, call_timeout, clock_);
      if (followed) {
        const std::lock_guard lock(mutex_);
        followed_ += *followed;
        continue;
      }
      // Redis away: the copy waits for it, without a lease. Anything else: it is another's by now.
      if (followed.error().code != Errc::cancelled) return true;
      publish({});
      return false;
    }
    return true;
  }

  bool load_all() {
    const auto first = view_of(0);
    if (!first) return false;
    Copies copies;
    for (std::uint32_t shard = 0; shard < (*first)->state.shards; ++shard) {
      const auto view = shard == 0 ? first : view_of(shard);
      if (!view || (*view)->distrust != Reason::none || !share_alike(**view, **first)) {
        forget(shard, view);
        return false;
      }
      auto copy = ShardCopy::load(*client_, views_->filter(), shard, *view, call_timeout, clock_);
      if (!copy) {
        forget(shard, view);
        return false;
      }
      copies.push_back(std::move(*copy));
    }
    publish(std::move(copies));
    {
      const std::lock_guard lock(mutex_);
      ++loads_;
    }
    // Only now, when this process's own adds go to the copies too.
    return follow_all();
  }

  Result<ShardViews::View> view_of(std::uint32_t shard) {
    return wait_for<ShardViews::View>([&](const Completion<ShardViews::View>& done) {
      views_->get(shard, Deadline::after(call_timeout, clock_), done);
    });
  }

  void forget(std::uint32_t shard, const Result<ShardViews::View>& view) {
    if (view) views_->forget(shard, *view);
    if (const auto first = views_->known(0)) views_->forget(0, first);
  }

  void publish(Copies copies) {
    // The views belong to the copies that go.
    for (std::uint32_t shard = 0; copies.empty() && shard < copies_.size(); ++shard) {
      views_->forget(shard, copies_[shard]->view());
    }
    const std::lock_guard lock(mutex_);
    copies_ = std::move(copies);
  }

  const SteadyClock clock_;
  const Options options_;
  const std::shared_ptr<RedisClient> client_;
  const std::shared_ptr<ShardViews> views_;
  mutable std::mutex mutex_;
  std::condition_variable ending_;
  bool is_ending_ = false;
  Copies copies_;
  std::uint64_t loads_ = 0;
  std::uint64_t followed_ = 0;
  std::thread thread_;
};

SharedFilterMirror::SharedFilterMirror(std::shared_ptr<RedisClient> client,
                                       std::shared_ptr<SharedBloomFilter> filter,
                                       const Options& options)
    : filter_(std::move(filter)),
      core_(std::make_shared<Core>(std::move(client), filter_->name(), options)) {}

SharedFilterMirror::~SharedFilterMirror() = default;

void SharedFilterMirror::check(std::span<const std::string_view> keys, Deadline deadline,
                               Verdicts done) {
  const auto copies = core_->fresh_copies();
  if (copies.empty()) return filter_->check(keys, deadline, std::move(done));
  std::vector<Verdict> verdicts(keys.size(), Verdict::maybe());
  std::vector<std::size_t> denied;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!Core::copy_for(copies, keys[i])->may_contain(keys[i])) denied.push_back(i);
  }
  if (!core_->confirms()) {
    for (const auto index : denied) verdicts[index] = Verdict::absent();
    denied.clear();
  }
  if (denied.empty()) return done(verdicts);
  std::vector<std::string_view> asked;
  for (const auto index : denied) asked.push_back(keys[index]);
  filter_->check(asked, deadline,
                 [verdicts = std::move(verdicts), denied = std::move(denied),
                  done = std::move(done)](std::span<const Verdict> confirmed) mutable {
                   for (std::size_t i = 0; i < denied.size(); ++i) {
                     verdicts[denied[i]] = confirmed[i];
                   }
                   done(verdicts);
                 });
}

void SharedFilterMirror::add(std::span<const std::string_view> keys, Deadline deadline,
                             Completion<void> done) {
  filter_->add(keys, deadline,
               [core = core_, kept = std::vector<std::string>(keys.begin(), keys.end()),
                done = std::move(done)](Result<void> added) {
                 if (added) core->insert(kept);
                 done(std::move(added));
               });
}

SharedFilterMirror::Status SharedFilterMirror::status() const {
  return core_->status();
}

}  // namespace guestlist
