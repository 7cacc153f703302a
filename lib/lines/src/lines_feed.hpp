#pragma once

// The feed of a LinesSource: looks at the file, reads it again where it changed, and gives the keys
// that it did not have. Threads: one at a time.

#include <memory>
#include <string>
#include <vector>

#include "lines_state.hpp"

namespace guestlist::lines {

class LinesFeed final : public ChangeFeed {
 public:
  /// Keys of `base` are not given again; `position` is what has come.
  LinesFeed(std::shared_ptr<LinesState> state, Content base, SourcePosition position);
  ~LinesFeed() override;
  LinesFeed(const LinesFeed&) = delete;
  LinesFeed& operator=(const LinesFeed&) = delete;

  Result<void> next(Changes& changes, Deadline deadline) override;
  /// Nothing is kept for us: the file has it all.
  Result<void> acknowledge(const SourcePosition& position) override;
  FeedLag lag() const override;

 private:
  /// One read of the file, from its beginning to its end.
  struct Reading {
    std::unique_ptr<KeyReader> reader;
    FileLook look;
    std::uint64_t snapshots = 0;
    bool gives_all = false;
    std::vector<std::string_view> keys = {};
    std::size_t at = 0;
    std::vector<Hash128> fingerprints = {};
  };
  enum class Step : std::uint8_t { goes_on, rests, has_something };

  Result<void> advance(Changes& changes, Deadline deadline);
  Result<Step> look(Changes& changes);
  Result<Step> read(Changes& changes);
  Result<Step> finish(Changes& changes);
  void rest(Deadline deadline) const;

  const std::shared_ptr<LinesState> state_;
  Content base_;
  SourcePosition position_;
  std::optional<Reading> reading_;
  /// A state that is perhaps being written: it is read again when it has another number.
  std::uint64_t doubted_version_ = 0;
  /// When the last whole read began; all that was in the file then has come.
  std::optional<TimePoint> complete_at_;
  std::uint64_t behind_bytes_ = 0;
  std::string buffer_;
  std::optional<Error> failure_;
};

}  // namespace guestlist::lines
