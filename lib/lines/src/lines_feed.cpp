#include "lines_feed.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace guestlist::lines {
namespace {

constexpr std::size_t most_keys = 4096;

}  // namespace

LinesFeed::LinesFeed(std::shared_ptr<LinesState> state, Content base, SourcePosition position)
    : state_(std::move(state)), base_(std::move(base)), position_(std::move(position)) {
  ++state_->feeds;
}

LinesFeed::~LinesFeed() {
  --state_->feeds;
}

Result<void> LinesFeed::next(Changes& changes, Deadline deadline) {
  changes.keys.clear();
  changes.removed = 0;
  changes.as_of.reset();
  if (!failure_) {
    if (auto advanced = advance(changes, deadline); !advanced) failure_ = advanced.error();
  }
  if (failure_) return fail(*failure_);
  changes.position = position_;
  return {};
}

Result<void> LinesFeed::advance(Changes& changes, Deadline deadline) {
  while (true) {
    auto step = reading_ ? read(changes) : look(changes);
    if (!step) return fail(std::move(step).error());
    if (*step == Step::has_something || deadline.is_past(state_->clock.now())) return {};
    if (*step == Step::rests) rest(deadline);
  }
}

Result<LinesFeed::Step> LinesFeed::look(Changes& changes) {
  // Before the look: a snapshot that is opened after it is of this state, or of a later one.
  const std::uint64_t snapshots = state_->snapshots_opened.load();
  auto look = state_->watch.look();
  if (!look) return fail(std::move(look).error());
  if (look->version == base_.version) {
    if (look->is_settled) {
      base_.snapshots = snapshots;
      complete_at_ = look->at;
    }
    changes.as_of = complete_at_;
    return Step::rests;
  }
  if (look->version == doubted_version_) {
    changes.as_of = complete_at_;
    return Step::rests;
  }
  auto reader = state_->open_reader();
  if (!reader) return fail(unavailable(std::move(reader).error()));
  // A snapshot may be of a state that lacked keys of our base which are back in this one.
  const bool gives_all = state_->snapshots_open.load() > 0 || snapshots != base_.snapshots;
  reading_ = Reading{*std::move(reader), *look, snapshots, gives_all};
  behind_bytes_ = look->stamp.size;
  return Step::goes_on;
}

Result<LinesFeed::Step> LinesFeed::read(Changes& changes) {
  Reading& reading = *reading_;
  if (reading.at == reading.keys.size()) {
    reading.at = 0;
    if (auto read = reading.reader->next(reading.keys); !read) {
      // Half of a row, where it is being written; else the file is not what it should be.
      const bool is_settled = reading.look.is_settled;
      doubted_version_ = reading.look.version;
      complete_at_.reset();
      reading_.reset();
      if (is_settled) return fail(unavailable(std::move(read).error()));
      return changes.keys.empty() ? Step::rests : Step::has_something;
    }
    if (reading.keys.empty()) return finish(changes);
  }
  while (reading.at < reading.keys.size() && changes.keys.size() < most_keys) {
    const auto canonical = state_->canonical(reading.keys[reading.at++], buffer_);
    if (!canonical) continue;
    const Hash128 fingerprint = state_->fingerprint(*canonical);
    reading.fingerprints.push_back(fingerprint);
    if (reading.gives_all || !base_.index->contains(fingerprint))
      changes.keys.emplace_back(*canonical);
  }
  return changes.keys.size() < most_keys ? Step::goes_on : Step::has_something;
}

Result<LinesFeed::Step> LinesFeed::finish(Changes& changes) {
  Reading reading = *std::exchange(reading_, std::nullopt);
  const Step step = changes.keys.empty() ? Step::rests : Step::has_something;
  const auto after = state_->watch.look();
  if (!after) return fail(after.error());
  // What was read is of no one moment: keys may have moved to where we had been already.
  if (after->stamp != reading.look.stamp) {
    if (!has_grown(reading.look.stamp, after->stamp)) return step;
    reading.look.is_settled = false;
  }
  auto index = std::make_shared<const KeyIndex>(std::move(reading.fingerprints));
  if (const auto why = state_->doubt(reading.look, state_->accepted(), *index)) {
    if (reading.look.is_settled) return fail(Errc::unavailable, *why);
    doubted_version_ = reading.look.version;
    if (index->size() > 0) complete_at_ = changes.as_of = reading.look.at;
    return step;
  }
  complete_at_ = changes.as_of = reading.look.at;
  behind_bytes_ = 0;
  changes.removed += base_.index->missing_in(*index);
  base_ = Content{std::move(index), reading.look.version, reading.look.stamp, reading.snapshots};
  state_->accept(base_);
  position_.offset = base_.version;
  return Step::has_something;
}

void LinesFeed::rest(Deadline deadline) const {
  const TimePoint now = state_->clock.now();
  std::this_thread::sleep_for(std::min<Duration>(state_->options.poll, deadline.at - now));
}

Result<void> LinesFeed::acknowledge(const SourcePosition&) {
  if (failure_) return fail(*failure_);
  return {};
}

FeedLag LinesFeed::lag() const {
  return {behind_bytes_, behind_bytes_};
}

}  // namespace guestlist::lines
