#pragma once

#include <atomic>
#include <map>
#include <string>

#include "gate.hpp"
#include "guestlist/port/value_cache.hpp"

namespace guestlist::fake {

/// A map behind the ValueCache port, on a clock that the test moves.
class FakeValueCache final : public ValueCache {
 public:
  explicit FakeValueCache(const Clock& clock) : clock_(clock) {}

  void get(std::string_view key, Deadline, Completion<std::optional<std::string>> done) override {
    Result<std::optional<std::string>> result;
    if (const auto before = getting.failure_before()) {
      result = fail(*before);
    } else {
      const std::lock_guard lock(mutex_);
      const auto found = values_.find(key);
      if (found != values_.end() && clock_.now() < found->second.expires)
        result = found->second.value;
    }
    getting.reply(std::move(result), std::move(done));
  }

  void put(std::string_view key, std::string_view value, Duration time_to_live, Deadline,
           Completion<void> done) override {
    Result<void> result;
    if (const auto before = putting.failure_before()) {
      result = fail(*before);
    } else {
      const std::lock_guard lock(mutex_);
      values_.insert_or_assign(std::string(key),
                               Entry{std::string(value), clock_.now() + time_to_live});
      last_time_to_live = time_to_live;
    }
    putting.reply(std::move(result), std::move(done));
  }

  void erase(std::string_view key, Deadline, Completion<void> done) override {
    Result<void> result;
    if (const auto before = erasing.failure_before()) {
      result = fail(*before);
    } else {
      const std::lock_guard lock(mutex_);
      const auto found = values_.find(key);
      if (found != values_.end()) values_.erase(found);
    }
    erasing.reply(std::move(result), std::move(done));
  }

  bool has(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    return values_.contains(key);
  }

  Gate getting;
  Gate putting;
  Gate erasing;
  Duration last_time_to_live{};

 private:
  struct Entry {
    std::string value;
    TimePoint expires;
  };
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> values_;
};

}  // namespace guestlist::fake
