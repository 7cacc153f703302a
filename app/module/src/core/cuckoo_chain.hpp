#pragma once

// A cuckoo filter of the CF.* commands: one table, and further ones of the same or of growing size
// once the newest is full.
//
// A filter is *strict* or not, for life. A strict one walks, sizes and grows exactly as
// RedisBloom's, byte for byte. Any other fills a table before it makes the next, and is sized so
// that it holds what it was reserved for. Hash, slots and growth are the same.
//
// Deleting goes from the largest table to the smallest: whatever two items share in a table they
// share in all smaller ones too, so a key that was added and not deleted is always found. What no
// filter can know is the caller's part: an item may be deleted only if it was added, and not
// deleted since. `Past` says when that matters, `Misuse` when callers do not keep to it.
//
// Large tables of one-slot buckets have an *overflow* table each. Two buckets of one slot that hold
// three equal fingerprints, or any other knot with more items than buckets, cannot be undone by
// moving, and with 255 fingerprints such knots come at a constant rate: 14 in a table of a million
// buckets at a load of 0.45, the first at 0.3. They go to the overflow, and the table is filled.
//
// Distinct objects: safe. Shared objects: one thread. Tested by: CuckooChain.*, CuckooModel.*

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/added.hpp"
#include "core/chunks.hpp"
#include "core/cuckoo_layer.hpp"
#include "core/memory_limit.hpp"

namespace guestlist::server {

struct CuckooPlan {
  std::uint64_t buckets = 512;  ///< of the first table; a power of two
  std::uint16_t bucket_size = 2;
  std::uint16_t max_iterations = 20;  ///< of a strict filter's walk
  std::uint16_t expansion = 1;        ///< each table is so many times the one before; 0: one table
  bool is_strict = false;
  /// The hash of RedisBloom before November 2019, in 32 bits. Requires: strict.
  bool has_old_hash = false;

  /// Whether every second table is a small one for what does not fit into the one before.
  bool has_overflow() const noexcept {
    constexpr std::uint64_t from_buckets = 8192;
    return !is_strict && bucket_size == 1 && buckets >= from_buckets;
  }

  friend bool operator==(const CuckooPlan&, const CuckooPlan&) = default;
};

/// What a command may take.
struct CuckooLimit {
  MemoryLimit memory;
  std::size_t layers = 32;
};

/// What happened to a filter that bears on whether it can say that an item is absent. It is kept
/// with the filter and only grows; a strict filter's format has no place for it, so there the past
/// is unknown.
class Past {
 public:
  enum Event : std::uint8_t {
    deleted = 1,         ///< an item was
    missed = 2,          ///< an item was to be deleted that was not there
    taken_for_seen = 4,  ///< ADDNX stored nothing for an item that seemed to be there
    overwritten = 8,     ///< slots of a whole filter were replaced
    unknown = 16,        ///< any of these may have been
  };
  static constexpr std::uint8_t all_events = 31;

  constexpr Past() noexcept = default;
  explicit constexpr Past(std::uint8_t events) noexcept : events_(events) {}

  std::uint8_t events() const noexcept { return events_; }
  void note(Event event) noexcept { events_ |= event; }

  /// Whether an item that is not found was never added, or deleted by one who may. Without trust in
  /// the callers only a filter that nothing was deleted from can say so; with it, one whose callers
  /// were not seen to break the rules.
  bool proves_absence(bool trusts_deletes) const noexcept {
    if (has(overwritten)) return false;
    if (!has(deleted) && !has(unknown)) return true;
    return trusts_deletes && !has(missed) && !has(taken_for_seen);
  }

  friend bool operator==(Past, Past) = default;

 private:
  bool has(Event event) const noexcept { return (events_ & event) != 0; }

  std::uint8_t events_ = 0;
};

/// What callers did that a filter cannot make good, since it was loaded.
struct Misuse {
  std::uint64_t deletes_not_found = 0;  ///< deletes of what was never added, or was deleted before
  std::uint64_t adds_taken_for_seen = 0;  ///< ADDNX that stored nothing
};

class CuckooChain {
 public:
  static constexpr std::size_t max_layers = 65536;
  /// Items that the calls for many take at most.
  static constexpr std::size_t batch = 256;

  /// The number of buckets of a filter that is reserved for `capacity` items. Requires: a bucket
  /// size that is possible.
  static std::uint64_t buckets_for(std::uint64_t capacity, std::uint32_t bucket_size,
                                   bool is_strict) noexcept;
  /// The buckets of table `index`, or 0 where it would be larger than tables can be.
  static std::uint64_t buckets_of_layer(const CuckooPlan& plan, std::size_t index) noexcept;

  /// With one empty table. Requires: a plan that is possible. Errors: `overloaded` where the limit
  /// of one object is passed, `too_large` where there is no memory.
  static Result<CuckooChain> make(const CuckooPlan& plan, const MemoryLimit& limit);
  /// Around tables that were read. Requires: at least one.
  CuckooChain(const CuckooPlan& plan, std::vector<CuckooLayer> layers, std::uint64_t items,
              std::uint64_t deletes, Past past = {}) noexcept
      : plan_(plan), layers_(std::move(layers)), items_(items), deletes_(deletes), past_(past) {
    if (plan_.is_strict) past_.note(Past::unknown);
  }
  /// Errors: `too_large`.
  Result<CuckooChain> copy() const;

  const CuckooPlan& plan() const noexcept { return plan_; }
  const std::vector<CuckooLayer>& layers() const noexcept { return layers_; }
  std::vector<CuckooLayer>& layers() noexcept { return layers_; }
  std::uint64_t items() const noexcept { return items_; }
  /// Since the tables were last compacted.
  std::uint64_t deletes() const noexcept { return deletes_; }
  /// Of the slots.
  std::uint64_t size_bytes() const noexcept;
  /// As CF.INFO and MEMORY USAGE tell it: of a strict filter what its format's first implementation
  /// took, which clients' tests pin; of others what the allocator spent.
  std::uint64_t told_bytes() const noexcept;
  const ChunkLoad& load() const noexcept { return load_; }
  void set_load(const ChunkLoad& load) noexcept { load_ = load; }
  /// Requires of all that change it: it is.
  bool is_whole() const noexcept { return load_.is_whole(); }
  const Misuse& misuse() const noexcept { return misuse_; }
  Past past() const noexcept { return past_; }
  void note(Past::Event event) noexcept { past_.note(event); }
  /// Whether an item that is not found does not exist, as far as can be known.
  bool proves_absence(bool trusts_deletes) const noexcept {
    return is_whole() && !plan_.has_old_hash && past_.proves_absence(trusts_deletes);
  }
  /// The chance that an item which was never added is found, and that deleting it takes away
  /// another item's fingerprint. Estimated from at most 4,096 buckets a table.
  double fpr_now() const noexcept;

  bool may_contain(std::string_view item) const noexcept;
  /// Requires: as many answers as items, and at most `batch`.
  void may_contain_many(std::span<const std::string_view> items, bool* found) const noexcept;
  std::uint64_t count(std::string_view item) const noexcept;

  /// Stores one copy more, or with `only_new` none where one seems to be there.
  Added add(std::string_view item, bool only_new, const CuckooLimit& limit);
  /// The same for each in order. Requires: as many outcomes as items, and at most `batch`.
  void add_many(std::span<const std::string_view> items, bool only_new, Added* outcomes,
                const CuckooLimit& limit);
  /// Whether a copy was taken away. Requires: the item was added and not deleted since.
  bool remove(std::string_view item);
  /// Moves fingerprints into older tables and lets go of newest ones that are empty.
  void compact() { compact(false); }

 private:
  CuckooHash hash_of(std::string_view item) const noexcept {
    return plan_.has_old_hash ? CuckooHash::of_old(item) : CuckooHash::of(item);
  }
  /// The newest table that is no overflow.
  std::size_t newest_proper() const noexcept {
    return plan_.has_overflow() ? (layers_.size() - 1) / 2 * 2 : layers_.size() - 1;
  }
  /// Asks the tables, the largest first, until one says yes.
  template <class Ask>
  bool any_largest_first(Ask ask);
  Added add(const CuckooHash& hash, bool only_new, const CuckooLimit& limit);
  bool has(const CuckooHash& hash) const noexcept;
  Added grow(const CuckooLimit& limit);
  bool make_room_and_put(const CuckooHash& hash);
  void compact(bool stops_early);
  /// Whether the table is empty afterwards.
  bool empty_into_older(std::size_t index);

  CuckooPlan plan_;
  std::vector<CuckooLayer> layers_;
  std::uint64_t items_ = 0;
  std::uint64_t deletes_ = 0;
  ChunkLoad load_;
  Misuse misuse_;
  Past past_;
};

}  // namespace guestlist::server
