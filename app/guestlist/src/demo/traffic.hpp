#pragma once

// What clients ask for while an attack runs: names that exist (a few of them often, most of them
// rarely), random names, names one letter away from real ones, a few absent names again and again,
// and packages that are created meanwhile and read back. A seed gives the same sequence on every
// run.

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "demo/catalogue.hpp"

namespace guestlist::demo {

enum class RequestKind : std::uint8_t {
  existing,         ///< a name of the catalogue
  random_absent,    ///< a random name
  near_miss,        ///< a real name with one letter changed
  repeated_absent,  ///< one of a few absent names
  create,           ///< a new package
  created,          ///< a package that was created before
};

inline constexpr std::size_t request_kind_count = 6;
std::string_view name(RequestKind kind) noexcept;

struct PlannedRequest {
  RequestKind kind;
  std::string name;
  bool must_exist() const noexcept {
    return kind == RequestKind::existing || kind == RequestKind::created;
  }
};

/// The names of a catalogue in the order of their popularity, and whether a name is one of them.
class Names {
 public:
  Names(const Catalogue& catalogue, std::uint64_t seed);

  bool has(const std::string& name) const { return known_.contains(name); }
  /// The n-th most popular is asked for with a share of about 1/n (Zipf, exponent 1).
  template <class Random>
  const std::string& draw(Random& random) const {
    const double unit = std::uniform_real_distribution<double>(0, total_)(random);
    const auto at =
        std::upper_bound(cumulated_.begin(), cumulated_.end(), unit) - cumulated_.begin();
    return by_popularity_[std::min(static_cast<std::size_t>(at), by_popularity_.size() - 1)];
  }

 private:
  std::vector<std::string> by_popularity_;
  std::vector<double> cumulated_;
  double total_ = 0;
  std::unordered_set<std::string> known_;
};

/// The requests of one connection. Distinct objects: safe.
class Traffic {
 public:
  Traffic(const Names& names, std::uint64_t seed, std::size_t connection);

  PlannedRequest next();

 private:
  std::string absent_name();
  std::string near_miss();

  const Names& names_;
  std::size_t connection_;
  std::mt19937_64 random_;
  std::vector<std::string> repeated_;
  std::vector<std::string> created_;
  bool read_back_ = false;
};

}  // namespace guestlist::demo
