#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "gate.hpp"
#include "guestlist/port/source.hpp"

namespace guestlist::fake {

/// A map behind the Source port: the truth of a test.
class FakeSource final : public Source {
 public:
  void load(std::string_view key, Deadline, Completion<std::optional<std::string>> done) override {
    ++loads;
    Result<std::optional<std::string>> result;
    if (const auto before = loading.failure_before()) {
      result = fail(*before);
    } else {
      const std::lock_guard lock(mutex_);
      const auto found = rows_.find(key);
      if (found != rows_.end()) result = found->second;
    }
    loading.reply(std::move(result), std::move(done));
  }

  Result<std::unique_ptr<Snapshot>> snapshot() override {
    if (const auto before = snapshots.failure_before()) return fail(*before);
    const std::lock_guard lock(mutex_);
    std::vector<std::string> keys;
    for (const auto& [key, value] : rows_) keys.push_back(key);
    return std::unique_ptr<Snapshot>(new Copy(std::move(keys), *this));
  }

  void commit(const std::string& key, const std::string& value) {
    const std::lock_guard lock(mutex_);
    rows_.insert_or_assign(key, value);
  }
  void remove(const std::string& key) {
    const std::lock_guard lock(mutex_);
    rows_.erase(key);
  }

  Gate loading;
  Gate snapshots;
  Gate batches;
  std::atomic<int> loads = 0;

 private:
  class Copy final : public Snapshot {
   public:
    Copy(std::vector<std::string> keys, FakeSource& source)
        : keys_(std::move(keys)), source_(source) {}
    std::optional<std::uint64_t> count() const override { return keys_.size(); }
    Result<void> next(std::vector<std::string>& keys) override {
      keys.clear();
      if (const auto before = source_.batches.failure_before()) return fail(*before);
      while (at_ < keys_.size() && keys.size() < 100) keys.push_back(keys_[at_++]);
      return {};
    }

   private:
    std::vector<std::string> keys_;
    std::size_t at_ = 0;
    FakeSource& source_;
  };

  mutable std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> rows_;
};

}  // namespace guestlist::fake
