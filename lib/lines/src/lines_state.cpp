#include "lines_state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace guestlist::lines {

LinesState::LinesState(const LinesFile& from, const LinesSourceOptions& how)
    : file(from), options(how), watch(from.path.string(), how.settle) {}

Result<std::unique_ptr<KeyReader>> LinesState::open_reader() const {
  InputOptions input;
  input.paths = {file.path.string()};
  input.csv_column = file.csv_column;
  input.json_field = file.json_field;
  input.crlf = file.crlf;
  return KeyReader::open(input);
}

std::string LinesState::origin() const {
  std::error_code ignored;
  std::string path = std::filesystem::absolute(file.path, ignored).string();
  std::replace(path.begin(), path.end(), '\n', ' ');
  return fmt::format("lines/{}/{}", epoch_.load(), path);
}

std::optional<std::string> LinesState::doubt(const FileLook& look, const Content& before,
                                             const KeyIndex& now) const {
  if (before.index->size() > 0 && now.size() == 0 && !options.may_become_empty) {
    return fmt::format(
        "'{}' had {} keys and is empty now; put the keys back, or restart if it is "
        "meant to be empty",
        watch.path(), before.index->size());
  }
  if (look.is_settled) return std::nullopt;
  // The last line was perhaps read when half of it was there.
  const std::uint64_t cut_short = has_grown(before.stamp, look.stamp) ? 1 : 0;
  if (const std::uint64_t missing = before.index->missing_in(now); missing > cut_short) {
    return fmt::format(
        "'{}' lost {} keys and is perhaps being written; rename a complete file "
        "over it instead of writing into it",
        watch.path(), missing);
  }
  return std::nullopt;
}

Content LinesState::accepted() const {
  const std::lock_guard lock(mutex_);
  return accepted_;
}

void LinesState::accept(const Content& content) {
  const std::lock_guard lock(mutex_);
  if (content.version >= accepted_.version) accepted_ = content;
}

Result<std::vector<Hash128>> LinesState::read_all() const {
  auto reader = open_reader();
  if (!reader) return fail(unavailable(std::move(reader).error()));
  std::vector<Hash128> fingerprints;
  std::vector<std::string_view> keys;
  std::string buffer;
  while (true) {
    if (auto read = (*reader)->next(keys); !read) return fail(unavailable(std::move(read).error()));
    if (keys.empty()) return fingerprints;
    for (const std::string_view key : keys)
      if (const auto form = canonical(key, buffer)) fingerprints.push_back(fingerprint(*form));
  }
}

Result<Content> LinesState::refresh() {
  Content before = accepted();
  Content content;
  content.snapshots = snapshots_opened.load();
  auto look = watch.look();
  if (!look) return fail(std::move(look).error());
  if (look->version == before.version) return before;
  auto fingerprints = read_all();
  if (!fingerprints) return fail(std::move(fingerprints).error());
  content.index = std::make_shared<KeyIndex>(*std::move(fingerprints));
  content.version = look->version;
  content.stamp = look->stamp;
  auto after = watch.look();
  if (!after) return fail(std::move(after).error());
  content.is_whole = after->stamp == look->stamp || has_grown(look->stamp, after->stamp);
  // Keys that are gone may have moved to where this read had been already.
  if (after->stamp != look->stamp) look->is_settled = false;
  if (const auto why = doubt(*look, before, *content.index)) return fail(Errc::unavailable, *why);
  if (content.is_whole) accept(content);
  return content;
}

}  // namespace guestlist::lines
