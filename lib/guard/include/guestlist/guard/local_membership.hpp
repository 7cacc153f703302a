#pragma once

// A filter in this process behind the Membership port, with its life: it begins without a filter
// and answers `unknown(building)`; a generation is built from a source beside what is live and
// published whole; adds that come meanwhile go to both. Bits of a live generation are never
// cleared: to forget deleted keys, build anew.
//
//   begin_generation   adds go to the new one too, from here on
//   wait_for_writes    writes that began before that have committed
//   insert             what a snapshot that was opened after that holds
//   publish            the new generation answers; the old one is gone
//
// warm_up.hpp does these steps in this order. A builder that dies before publishing changes
// nothing.
//
// It answers before the call returns. Distinct objects: safe. Shared objects: safe; one builder at
// a time. Tested by: LocalMembership.*, the Membership laws.

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guestlist/base/result.hpp"
#include "guestlist/filter/bloom_filter.hpp"
#include "guestlist/port/membership.hpp"

namespace guestlist {

class LocalMembership final : public Membership {
 public:
  struct Status {
    std::uint64_t generation = 0;  ///< 0: none is live
    bool is_building = false;
    std::uint64_t capacity = 0;
    std::uint64_t items = 0;  ///< estimated from the bits
    double asked_fpr = 0;
    std::uint64_t size_bytes = 0;  ///< of the live generation
    double fill = 0;
    double fpr_now = 0;
  };

  LocalMembership();
  ~LocalMembership() override;

  void check(std::span<const std::string_view> keys, Deadline deadline, Verdicts done) override;
  void add(std::span<const std::string_view> keys, Deadline deadline,
           Completion<void> done) override;
  std::shared_ptr<const void> begin_write() override;

  /// Errors: `already_exists` where one is being built; `too_large`.
  Result<void> begin_generation(const FilterPlan& plan, const KeyHasher& hasher);
  /// Errors: `deadline_exceeded` where a write that began before the generation has not ended by
  /// then; the generation may not be completed in that case.
  Result<void> wait_for_writes(Duration at_most);
  /// Requires, here and below: a generation is being built.
  void insert(std::span<const std::string> keys);
  void publish();
  void abandon();

  /// A generation that was saved, live at once in place of what is live.
  void adopt(BloomFilter filter, std::uint64_t generation);
  struct Image {
    BloomFilter filter;
    std::uint64_t generation;
  };
  /// A copy of the live generation with every key that was added before; nothing where none is
  /// live. Adds and checks go on meanwhile. Errors: `too_large`.
  Result<std::optional<Image>> copy_live() const;

  /// Complexity: one pass over the bits.
  Status status() const;

 private:
  struct Generation;

  std::shared_ptr<Generation> live() const;

  mutable std::shared_mutex mutex_;
  std::shared_ptr<Generation> live_;  ///< shared with whoever copies or measures it
  std::unique_ptr<Generation> next_;
  std::uint64_t generations_ = 0;
  std::shared_ptr<const void> open_writes_;  ///< copied into the tokens of writes that begin now
  std::future<void> open_writes_ended_;
  /// Of all writes that began before the latest generation did, and may still be open: also those
  /// that an abandoned build did not see the end of.
  std::vector<std::future<void>> earlier_writes_ended_;
};

}  // namespace guestlist
