#include "guestlist/sync/saved_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "guestlist/filter/filter_file.hpp"
#include "guestlist/filter/filter_file_writer.hpp"

namespace guestlist {
namespace {

namespace files = std::filesystem;

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<SavedFilter> SavedFilter::open(const std::string& folder, const std::string& name) {
  std::error_code code;
  files::create_directories(folder, code);
  if (code) {
    return fail(Errc::unwritable,
                fmt::format("cannot make the folder '{}': {}", folder, code.message()));
  }
  const std::string stem = (files::path(folder) / name).string();
  auto lock = FileLock::try_acquire(stem + ".lock");
  if (!lock) return fail(std::move(lock).error());
  SavedFilter saved(stem, *std::move(lock));
  const auto numbers = saved.journal_numbers();
  if (!numbers.empty()) saved.journal_number_ = numbers.back();
  return saved;
}

Result<std::optional<SavedFilter::Content>> SavedFilter::load(const std::string& origin,
                                                              const std::string& key_type) {
  const auto file = FilterFile::open(file_path());
  if (!file && file.error().code == Errc::not_found) return std::nullopt;
  if (!file) return fail(file.error());
  const FilterFileInfo& info = file->header().info;
  auto position = SourcePosition::parse(info.position);
  if (!position || info.origin != origin || info.key_type != key_type) return std::nullopt;
  auto loaded = file->load();
  if (!loaded) return fail(std::move(loaded).error());
  auto* const filter = std::get_if<BloomFilter>(&loaded->variant());
  if (filter == nullptr) return std::nullopt;
  for (const std::uint64_t number : journal_numbers()) {
    bool is_first = true;
    bool follows_on = true;
    const auto add = [&](std::span<const std::string_view> keys, const SourcePosition& at) {
      if (std::exchange(is_first, false)) follows_on = position->covers(at);
      if (!follows_on) return;
      filter->insert_many(keys);
      if (at.covers(*position)) position = at;
    };
    if (auto replayed = ChangeJournal::replay(journal_path(number), add);
        !replayed && replayed.error().code != Errc::foreign_format)
      return fail(std::move(replayed).error());
  }
  return Content{std::move(*filter), info.generation, *std::move(position)};
}

Result<void> SavedFilter::append(std::span<const std::string> keys,
                                 const SourcePosition& position) {
  // Before the first save there is nothing that a journal could go on from.
  if (!journal_) return {};
  return journal_->append(keys, position);
}

Result<void> SavedFilter::begin_save(const SourcePosition& position) {
  auto journal = ChangeJournal::create(journal_path(++journal_number_));
  if (!journal) {
    // Nothing may be appended to the former one either: the next would leave no trace of the gap.
    journal_.reset();
    return fail(std::move(journal).error());
  }
  journal_ = *std::move(journal);
  return journal_->append({}, position);
}

Result<void> SavedFilter::finish_save(const BloomFilter& filter, const FilterFileInfo& info) {
  if (auto written = write_filter_file(file_path(), filter, info); !written) return written;
  for (const std::uint64_t number : journal_numbers()) {
    std::error_code ignored;
    if (number < journal_number_) files::remove(journal_path(number), ignored);
  }
  return {};
}

std::string SavedFilter::journal_path(std::uint64_t number) const {
  return fmt::format("{}.journal.{}", stem_, number);
}

std::vector<std::uint64_t> SavedFilter::journal_numbers() const {
  std::vector<std::uint64_t> numbers;
  const files::path stem(stem_);
  const std::string prefix = stem.filename().string() + ".journal.";
  std::error_code code;
  for (const auto& entry : files::directory_iterator(stem.parent_path(), code)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    if (const auto number = number_of(std::string_view(name).substr(prefix.size())))
      numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace guestlist
