#include "guestlist/lines/lines_source.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "lines_feed.hpp"
#include "lines_snapshot.hpp"
#include "lookup_queue.hpp"

namespace guestlist {

using namespace lines;

Result<std::unique_ptr<LinesSource>> LinesSource::open(const LinesFile& file,
                                                       const LinesSourceOptions& options) {
  struct stat status {};
  const std::string path = file.path.string();
  if (::stat(path.c_str(), &status) != 0)
    return fail(errno_error(Errc::unavailable, fmt::format("cannot read '{}'", path)));
  if (!S_ISREG(status.st_mode)) {
    return fail(Errc::invalid_argument,
                fmt::format("'{}' is no regular file, and so cannot be read again when it "
                            "changes; give a file",
                            path));
  }
  auto state = std::make_shared<LinesState>(file, options);
  auto reader = state->open_reader();
  if (!reader) return fail(std::move(reader).error());
  std::vector<std::string_view> keys;
  if (const auto read = (*reader)->next(keys); !read && read.error().code == Errc::invalid_argument)
    return fail(read.error());
  return std::unique_ptr<LinesSource>(new LinesSource(std::move(state)));
}

LinesSource::LinesSource(std::shared_ptr<LinesState> state)
    : state_(std::move(state)),
      lookups_(std::make_unique<LookupQueue>(state_)),
      worker_([this] { lookups_->work(); }) {}

LinesSource::~LinesSource() {
  lookups_->stop();
  worker_.join();
}

void LinesSource::load(std::string_view key, Deadline deadline,
                       Completion<std::optional<std::string>> done) {
  lookups_->add(key, deadline, std::move(done));
}

Result<std::unique_ptr<Snapshot>> LinesSource::snapshot() {
  auto token = std::make_unique<SnapshotToken>(state_);
  const Deadline patience = Deadline::after(state_->options.snapshot_wait, state_->clock);
  while (true) {
    auto look = state_->watch.look();
    if (!look) return fail(std::move(look).error());
    if (look->is_settled || patience.is_past(state_->clock.now())) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  auto content = state_->refresh();
  if (!content) return fail(std::move(content).error());
  auto reader = state_->open_reader();
  if (!reader) return fail(unavailable(std::move(reader).error()));
  return std::unique_ptr<Snapshot>(
      new LinesSnapshot(state_, std::move(token), *std::move(content), *std::move(reader)));
}

Result<std::unique_ptr<ChangeFeed>> LinesSource::follow(
    const std::optional<SourcePosition>& position) {
  auto end = state_->watch.end();
  if (!end) return fail(std::move(end).error());
  SourcePosition from{state_->origin(), end->version - 1};
  // Nothing is taken for given: all keys come.
  Content base;
  bool is_as_it_was = false;
  if (position) {
    const bool is_ours = position->origin == from.origin;
    const bool is_known = is_ours && state_->watch.has_issued(position->offset);
    is_as_it_was = is_ours && !is_known && state_->watch.has_stood_still_since(position->offset);
    if (!is_known && !is_as_it_was) {
      return fail(Errc::not_found, fmt::format("'{}' was changed while nobody followed it, or is "
                                               "another file",
                                               state_->watch.path()));
    }
    from = *position;
    const Content accepted = state_->accepted();
    if (is_known && accepted.version == from.offset) base = accepted;
  }
  if (!position || is_as_it_was) {
    if (auto content = state_->refresh(); content && content->is_whole) {
      base = *std::move(content);
      if (!position) from.offset = base.version;
    }
  }
  return std::unique_ptr<ChangeFeed>(new LinesFeed(state_, std::move(base), std::move(from)));
}

Result<SourcePosition> LinesSource::end(Deadline) {
  auto look = state_->watch.end();
  if (!look) return fail(std::move(look).error());
  return SourcePosition{state_->origin(), look->version};
}

std::vector<Finding> LinesSource::examine(Deadline) {
  const std::string path = state_->watch.path();
  const auto look = state_->watch.look();
  if (!look) {
    return {{Severity::error, look.error().message(),
             "put the file there; until then nothing is rejected"}};
  }
  const auto content = state_->refresh();
  if (!content) {
    return {{Severity::error, content.error().message(),
             "write the file anew under another name, and rename it over this one"}};
  }
  std::vector<Finding> findings = {
      {Severity::good, fmt::format("'{}' has {} keys", path, content->index->size()), ""}};
  if (look->stamp.changed_ns % 1'000'000'000U == 0) {
    findings.push_back(
        {Severity::warning,
         fmt::format("the file system of '{}' seems to keep times in whole seconds", path),
         "keep the file on a local disk, where changes are seen sooner"});
  }
  return findings;
}

Result<void> LinesSource::forget() {
  if (state_->feeds.load() > 0)
    return fail(Errc::overloaded, fmt::format("'{}' is being followed", state_->watch.path()));
  state_->begin_epoch();
  return {};
}

}  // namespace guestlist
