#pragma once

// All keys of the file, read once more from its beginning. It ends with an error where one of
// `content` did not come: the file was written meanwhile, and what was read is of no one moment.

#include <memory>
#include <vector>

#include "lines_state.hpp"

namespace guestlist::lines {

/// While it lives, a feed gives all keys of a file that changes.
class SnapshotToken {
 public:
  explicit SnapshotToken(std::shared_ptr<LinesState> state) : state_(std::move(state)) {
    ++state_->snapshots_open;
    ++state_->snapshots_opened;
  }
  ~SnapshotToken() { --state_->snapshots_open; }
  SnapshotToken(const SnapshotToken&) = delete;
  SnapshotToken& operator=(const SnapshotToken&) = delete;

 private:
  const std::shared_ptr<LinesState> state_;
};

class LinesSnapshot final : public Snapshot {
 public:
  LinesSnapshot(std::shared_ptr<LinesState> state, std::unique_ptr<SnapshotToken> token,
                Content content, std::unique_ptr<KeyReader> reader);

  std::optional<std::uint64_t> count() const override { return content_.index->size(); }
  Result<void> next(std::vector<std::string>& keys) override;

 private:
  const std::shared_ptr<LinesState> state_;
  const std::unique_ptr<SnapshotToken> token_;
  const Content content_;
  const std::unique_ptr<KeyReader> reader_;
  std::vector<bool> seen_;
  std::uint64_t seen_count_ = 0;
  std::vector<std::string_view> views_;
  std::size_t at_ = 0;
  bool at_end_ = false;
  std::string buffer_;
};

}  // namespace guestlist::lines
