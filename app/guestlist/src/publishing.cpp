#include "publishing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "guestlist/base/file.hpp"
#include "guestlist/base/units.hpp"
#include "secrets.hpp"

namespace guestlist {

Result<void> check_can_write(const std::string& path) {
  auto file = AtomicFile::create(path);
  if (!file) return fail(std::move(file).error());
  return {};
}

Result<std::optional<FileLock>> lock_existing(const std::string& path) {
  auto lock = FileLock::acquire(path);
  if (lock) return std::optional<FileLock>(std::move(*lock));
  if (lock.error().code == Errc::not_found) return std::optional<FileLock>();
  return fail(std::move(lock).error());
}

std::string origin_of(const InputOptions& inputs) {
  std::string origin =
      inputs.paths.empty() ? "standard input" : fmt::format("{}", fmt::join(inputs.paths, ", "));
  if (!inputs.csv_column.empty()) origin += fmt::format(", column {}", inputs.csv_column);
  if (!inputs.json_field.empty()) origin += fmt::format(", field {}", inputs.json_field);
  return origin;
}

KeyType OwnedFile::key_type() const {
  return key_type_from_name(header.info.key_type).value_or(KeyType::text);
}

Result<OwnedFile> own_file(const std::string& path, const std::string& secret_file) {
  if (auto is_file = check_is_file(path); !is_file) return fail(std::move(is_file).error());
  const auto secret = read_secret(secret_file);
  if (!secret) return fail(secret.error());
  auto lock = FileLock::acquire(path);
  if (!lock) return fail(std::move(lock).error());
  const auto file = FilterFile::open(path, *secret);
  if (!file) return fail(file.error());
  auto filter = file->load();
  if (!filter) return fail(std::move(filter).error());
  return OwnedFile{std::move(*lock), file->header(), std::move(*filter)};
}

void warn_if_overfull(const AnyFilter& filter) {
  const FilterShape shape = filter.shape();
  if (shape.structure == Structure::scalable_bloom) return;
  std::uint64_t items = 0;
  for (const LayerShape& layer : shape.layers) items += layer.items;
  if (items <= shape.capacity) return;
  fmt::print(stderr,
             "guestlist: note: {} keys are in a filter planned for {}; its fpr is now {:.3g}. "
             "Build it again with "
             "--items {}\n",
             format_count(items), format_count(shape.capacity), filter.fpr_now(), items);
}

void warn_of_unparsable(const Filled& filled, KeyType type) {
  if (filled.unparsable == 0) return;
  fmt::print(
      stderr,
      "guestlist: note: {} of {} keys are no {} and were left out; a query for one says unknown\n",
      format_count(filled.unparsable), format_count(filled.keys), name(type));
}

}  // namespace guestlist
