#include "filling.hpp"

#include <chrono>
#include <vector>

#include "progress.hpp"

namespace guestlist {

Result<Filled> fill_from(KeyReader& reader, KeyType type, AnyFilter& filter) {
  const auto began = std::chrono::steady_clock::now();
  const KeyHasher hasher = filter.hasher();
  Progress progress("reading", reader.input().total_bytes(), Progress::Unit::bytes);
  Filled filled;
  std::vector<std::string_view> keys;
  std::vector<KeyHash> hashes;
  std::string buffer;
  while (true) {
    if (auto read = reader.next(keys); !read) return fail(std::move(read).error());
    if (keys.empty()) break;
    hashes.clear();
    hashes.reserve(keys.size());
    for (const std::string_view key : keys) {
      const auto canonical = canonicalize(type, key, buffer);
      if (canonical) hashes.push_back(hasher(*canonical));
    }
    const auto added = filter.insert_many(hashes);
    if (!added) return fail(added.error());
    filled.keys += keys.size();
    filled.unparsable += keys.size() - hashes.size();
    filled.added += *added;
    progress(reader.input().bytes_read());
  }
  filled.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return filled;
}

Result<std::uint64_t> count_keys(const InputOptions& inputs) {
  auto reader = KeyReader::open(inputs);
  if (!reader) return fail(std::move(reader).error());
  if (!(*reader)->input().can_be_read_twice()) {
    return fail(
        Errc::invalid_argument,
        "--items is missing: the input can be read only once, so the keys cannot be counted first");
  }
  Progress progress("counting", (*reader)->input().total_bytes(), Progress::Unit::bytes);
  std::uint64_t count = 0;
  std::vector<std::string_view> keys;
  while (true) {
    if (auto read = (*reader)->next(keys); !read) return fail(std::move(read).error());
    if (keys.empty()) break;
    count += keys.size();
    progress((*reader)->input().bytes_read());
  }
  if (count == 0) {
    return fail(Errc::invalid_argument,
                "the input has no keys; give --items to build an empty filter on purpose");
  }
  return count;
}

}  // namespace guestlist
