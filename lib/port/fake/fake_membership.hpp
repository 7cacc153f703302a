#pragma once

// An exact set behind the Membership port. Unlike a real filter it has no false positives, unless
// told to.

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "gate.hpp"
#include "guestlist/port/membership.hpp"

namespace guestlist::fake {

class FakeMembership final : public Membership {
 public:
  void check(std::span<const std::string_view> keys, Deadline, Verdicts done) override {
    ++checks;
    std::vector<Verdict> verdicts;
    if (const auto failure = checking.failure_before()) {
      verdicts.assign(keys.size(), Verdict::unknown(Reason::unreachable));
    } else {
      const std::lock_guard lock(mutex_);
      for (const std::string_view key : keys) verdicts.push_back(verdict(key));
    }
    checking.reply(
        [verdicts = std::move(verdicts), done = std::move(done)](Gate::Arrives arrives) mutable {
          if (arrives == Gate::Arrives::no)
            std::ranges::fill(verdicts, Verdict::unknown(Reason::unreachable));
          done(verdicts);
        });
  }

  void add(std::span<const std::string_view> keys, Deadline, Completion<void> done) override {
    Result<void> result;
    if (const auto before = adding.failure_before()) {
      result = fail(*before);
    } else {
      const std::lock_guard lock(mutex_);
      for (const std::string_view key : keys) keys_.emplace(key);
    }
    adding.reply(std::move(result), std::move(done));
  }

  std::shared_ptr<const void> begin_write() override { return std::make_shared<int>(0); }

  /// From now on every verdict is `unknown` with this reason; `none` ends it.
  void set_reason(Reason reason) { reason_ = reason; }
  /// Breaks the one rule: the key is called absent although it was added.
  void forget(const std::string& key) {
    const std::lock_guard lock(mutex_);
    keys_.erase(key);
  }
  bool has(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    return keys_.contains(key);
  }

  Gate checking;
  Gate adding;
  std::atomic<int> checks = 0;

 private:
  Verdict verdict(std::string_view key) const {
    if (reason_ != Reason::none) return Verdict::unknown(reason_);
    return keys_.find(key) != keys_.end() ? Verdict::maybe() : Verdict::absent();
  }

  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> keys_;
  std::atomic<Reason> reason_ = Reason::none;
};

}  // namespace guestlist::fake
