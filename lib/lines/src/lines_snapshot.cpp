#include "lines_snapshot.hpp"

#include <fmt/format.h>

namespace guestlist::lines {
namespace {

constexpr std::size_t keys_per_batch = 4096;

}  // namespace

LinesSnapshot::LinesSnapshot(std::shared_ptr<LinesState> state,
                             std::unique_ptr<SnapshotToken> token, Content content,
                             std::unique_ptr<KeyReader> reader)
    : state_(std::move(state)),
      token_(std::move(token)),
      content_(std::move(content)),
      reader_(std::move(reader)),
      seen_(content_.index->size()) {}

Result<void> LinesSnapshot::next(std::vector<std::string>& keys) {
  keys.clear();
  while (!at_end_ && keys.size() < keys_per_batch) {
    if (at_ == views_.size()) {
      at_ = 0;
      if (auto read = reader_->next(views_); !read) return fail(unavailable(read.error()));
      at_end_ = views_.empty();
    }
    while (at_ < views_.size() && keys.size() < keys_per_batch) {
      const auto canonical = state_->canonical(views_[at_++], buffer_);
      if (!canonical) continue;
      keys.emplace_back(*canonical);
      const auto place = content_.index->find(state_->fingerprint(*canonical));
      if (!place || seen_[*place]) continue;
      seen_[*place] = true;
      ++seen_count_;
    }
  }
  if (at_end_ && seen_count_ < content_.index->size()) {
    return fail(Errc::unavailable,
                fmt::format("'{}' lost {} keys while it was read; rename a complete file over it "
                            "instead of writing into it",
                            state_->watch.path(), content_.index->size() - seen_count_));
  }
  return {};
}

}  // namespace guestlist::lines
