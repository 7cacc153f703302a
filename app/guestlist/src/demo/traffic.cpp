#include "demo/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace guestlist::demo {
namespace {

// Shares in per mille; what is left of 1,000 are reads of created packages.
constexpr int existing_share = 300;
constexpr int random_share = 350;
constexpr int near_miss_share = 150;
constexpr int repeated_share = 150;
constexpr int create_share = 5;
constexpr std::size_t repeated_names = 25;
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789-";

}  // namespace

std::string_view name(RequestKind kind) noexcept {
  switch (kind) {
    case RequestKind::existing:
      return "existing";
    case RequestKind::random_absent:
      return "random_absent";
    case RequestKind::near_miss:
      return "near_miss";
    case RequestKind::repeated_absent:
      return "repeated_absent";
    case RequestKind::create:
      return "create";
    case RequestKind::created:
      return "created";
  }
  return "unknown";
}

Names::Names(const Catalogue& catalogue, std::uint64_t seed) {
  for (const Package& package : catalogue.packages) {
    by_popularity_.push_back(package.name);
    known_.insert(package.name);
  }
  std::mt19937_64 random(seed);
  std::shuffle(by_popularity_.begin(), by_popularity_.end(), random);
  for (std::size_t rank = 1; rank <= by_popularity_.size(); ++rank) {
    total_ += 1.0 / static_cast<double>(rank);
    cumulated_.push_back(total_);
  }
}

Traffic::Traffic(const Names& names, std::uint64_t seed, std::size_t connection)
    : names_(names), connection_(connection), random_(seed * 1'000 + connection) {
  while (repeated_.size() < repeated_names) repeated_.push_back(absent_name());
}

std::string Traffic::absent_name() {
  while (true) {
    std::string made(8 + random_() % 12, '\0');
    for (char& c : made) c = letters[random_() % letters.size()];
    if (!names_.has(made)) return made;
  }
}

std::string Traffic::near_miss() {
  while (true) {
    std::string made = names_.draw(random_);
    made[random_() % made.size()] = letters[random_() % letters.size()];
    if (!names_.has(made)) return made;
  }
}

PlannedRequest Traffic::next() {
  // A package is read back right after it was created, and again at random later.
  if (std::exchange(read_back_, false)) return {RequestKind::created, created_.back()};
  int draw = static_cast<int>(random_() % 1000);
  const auto within = [&draw](int share) {
    draw -= share;
    return draw < 0;
  };
  if (within(existing_share)) return {RequestKind::existing, names_.draw(random_)};
  if (within(random_share)) return {RequestKind::random_absent, absent_name()};
  if (within(near_miss_share)) return {RequestKind::near_miss, near_miss()};
  if (within(repeated_share)) {
    return {RequestKind::repeated_absent, repeated_[random_() % repeated_.size()]};
  }
  if (within(create_share) || created_.empty()) {
    created_.push_back(fmt::format("new-{}-{}-{}", connection_, created_.size(), absent_name()));
    read_back_ = true;
    return {RequestKind::create, created_.back()};
  }
  return {RequestKind::created, created_[random_() % created_.size()]};
}

}  // namespace guestlist::demo
