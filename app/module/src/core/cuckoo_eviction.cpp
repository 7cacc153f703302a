#include "core/cuckoo_eviction.hpp"

#include <array>
#include <utility>

namespace guestlist::server {
namespace {

// Buckets that a search looks at before it gives up.
constexpr std::uint32_t max_searched = 2048;

/// One bucket on a search's way: how it was reached, to walk back.
struct Step {
  std::uint64_t bucket;
  std::uint32_t parent;
  std::uint32_t slot_in_parent;
};
constexpr std::uint32_t no_parent = ~std::uint32_t{0};

class Search {
 public:
  Search(CuckooLayer& layer, const CuckooHash& hash) noexcept : layer_(layer) {
    add({layer.cut(hash.place), no_parent, 0});
    if (layer.cut(hash.other_place) != layer.cut(hash.place))
      add({layer.cut(hash.other_place), no_parent, 0});
  }

  bool put(std::uint8_t fingerprint) noexcept {
    for (std::uint32_t at = 0; at < count_; ++at) {
      for (std::uint32_t slot = 0; slot < layer_.bucket_size(); ++slot) {
        const std::uint64_t bucket = steps_[at].bucket;
        const std::uint8_t moving = layer_.bucket(bucket)[slot];
        const std::uint64_t target = layer_.cut(bucket ^ bucket_distance(moving));
        // The shortest path has no bucket twice: going round is only a waste.
        if (is_on_path(at, target)) continue;
        if (layer_.put_in(target, moving)) {
          move_along(at, slot, fingerprint);
          return true;
        }
        if (count_ < max_searched) add({target, at, slot});
      }
    }
    return false;
  }

 private:
  void add(Step step) noexcept {
    __builtin_prefetch(layer_.bucket(step.bucket));
    steps_[count_++] = step;
  }
  bool is_on_path(std::uint32_t at, std::uint64_t bucket) const noexcept {
    for (; at != no_parent; at = steps_[at].parent) {
      if (steps_[at].bucket == bucket) return true;
    }
    return false;
  }
  /// What is in `slot` of step `at` was copied onwards: each bucket on the way back gives to the
  /// one before it what stands in its way, and the first takes the new fingerprint.
  void move_along(std::uint32_t at, std::uint32_t slot, std::uint8_t fingerprint) noexcept {
    while (steps_[at].parent != no_parent) {
      const Step& step = steps_[at];
      layer_.bucket(step.bucket)[slot] =
          layer_.bucket(steps_[step.parent].bucket)[step.slot_in_parent];
      slot = step.slot_in_parent;
      at = step.parent;
    }
    layer_.bucket(steps_[at].bucket)[slot] = fingerprint;
  }

  CuckooLayer& layer_;
  std::array<Step, max_searched> steps_;
  std::uint32_t count_ = 0;
};

}  // namespace

bool put_by_search(CuckooLayer& layer, const CuckooHash& hash) {
  return Search(layer, hash).put(hash.fingerprint);
}

bool put_by_walk(CuckooLayer& layer, const CuckooHash& hash, std::uint32_t max_steps) {
  std::uint64_t place = hash.place;
  std::uint8_t fingerprint = hash.fingerprint;
  const std::uint32_t size = layer.bucket_size();
  for (std::uint32_t step = 0; step < max_steps; ++step) {
    std::swap(fingerprint, layer.bucket(place)[step % size]);
    place ^= bucket_distance(fingerprint);
    if (layer.put_in(place, fingerprint)) return true;
  }
  for (std::uint32_t step = max_steps; step-- > 0;) {
    place ^= bucket_distance(fingerprint);
    std::swap(fingerprint, layer.bucket(place)[step % size]);
  }
  return false;
}

}  // namespace guestlist::server
