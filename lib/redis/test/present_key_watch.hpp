#pragma once

// Eight threads that ask for keys that are present, for as long as the object lives, and count what
// they hear. Whatever a test does to the server meanwhile: none of them may hear `absent`.
//
// A test runs for seconds; GUESTLIST_CHAOS_SECONDS makes the loops of each longer.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "shared_filter_fixture.hpp"

namespace guestlist {

/// How long a loop of chaos goes on.
inline Duration chaos_span(Duration usual) {
  const char* asked = std::getenv("GUESTLIST_CHAOS_SECONDS");
  return asked == nullptr ? usual : std::chrono::seconds(std::atoi(asked));
}

class PresentKeyWatch {
 public:
  static constexpr Duration deadline = std::chrono::milliseconds(200);

  /// Every second thread has a connection of its own, as another process has.
  PresentKeyWatch(const std::string& url, const std::string& filter, std::vector<std::string> keys)
      : keys_(std::move(keys)) {
    std::shared_ptr<RedisClient> client;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (i % 2 == 0) {
        client = connect_to(url);
      }
      auto asked = servers::required(SharedBloomFilter::make(client, filter));
      threads_[i] = std::thread([this, asked, i] { watch(*asked, i * 7); });
    }
  }
  PresentKeyWatch(const PresentKeyWatch&) = delete;
  PresentKeyWatch& operator=(const PresentKeyWatch&) = delete;
  ~PresentKeyWatch() { stop(); }

  /// Waits until each thread has heard of each key once more, under what is true from now on.
  void look_again() {
    const auto enough = asked_.load() + threads_.size() * 4;
    const auto give_up = SteadyClock().now() + std::chrono::seconds(20);
    while (asked_.load() < enough && SteadyClock().now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  /// Waits until keys are known to be present again. Tells whether they were.
  bool recovers(Duration at_most = std::chrono::seconds(20)) {
    const auto before = maybe_.load();
    const auto give_up = SteadyClock().now() + at_most;
    while (maybe_.load() < before + keys_per_check * threads_.size()) {
      if (SteadyClock().now() > give_up) {
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  void stop() {
    over_ = true;
    for (auto& thread : threads_) {
      if (thread.joinable()) {
        thread.join();
      }
    }
  }

  std::uint64_t absent() const { return absent_; }
  std::uint64_t maybe() const { return maybe_; }
  std::uint64_t unknown() const { return unknown_; }

 private:
  static constexpr std::size_t keys_per_check = 20;

  void watch(SharedBloomFilter& filter, std::size_t turn) {
    while (!over_) {
      std::vector<std::string> some;
      for (std::size_t i = 0; i < keys_per_check; ++i) {
        some.push_back(keys_[turn++ % keys_.size()]);
      }
      const auto verdicts = check(filter, some, soon(deadline));
      for (const auto& verdict : verdicts) {
        auto& count = verdict.is_absent()               ? absent_
                      : verdict.answer == Answer::maybe ? maybe_
                                                        : unknown_;
        ++count;
      }
      ++asked_;
      // A server that is known to be down answers at once.
      if (verdicts.front().answer == Answer::unknown) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }

  const std::vector<std::string> keys_;
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> asked_{0};
  std::atomic<std::uint64_t> absent_{0};
  std::atomic<std::uint64_t> maybe_{0};
  std::atomic<std::uint64_t> unknown_{0};
  std::array<std::thread, 8> threads_;
};

}  // namespace guestlist
