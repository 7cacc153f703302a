#include "filter_file_refusal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace guestlist::filter_file {
namespace {

/// What the file seems to be instead, or nothing.
std::string_view resemblance(ByteView file) {
  if (file.empty()) return "an empty file";
  const std::string_view text = as_text(file.first(std::min<std::size_t>(file.size(), 16)));
  if (text.starts_with("\x1f\x8b")) return "a gzip stream: decompress it first";
  if (text.starts_with("\x28\xb5\x2f\xfd")) return "a zstd stream: decompress it first";
  if (text.starts_with("SQLite format 3")) return "an SQLite database";
  if (text.starts_with("PAR1")) return "a Parquet file";
  // Guava: strategy, probes, number of 64-bit words, then the words.
  const bool is_guava =
      file.size() >= 6 && std::to_integer<int>(file[0]) <= 1 &&
      file.size() == 6 + std::uint64_t{8} * load_big_endian<std::uint32_t>(&file[2]);
  if (is_guava) return "a Guava stream: say --format guava";
  return {};
}

}  // namespace

tl::unexpected<Error> Refusal::foreign(ByteView file) const {
  const std::string_view seems = resemblance(file);
  return fail(Errc::foreign_format,
              seems.empty() ? fmt::format("'{}' is no guestlist filter file", name_)
                            : fmt::format("'{}' is no guestlist filter file; it looks like {}",
                                          name_, seems));
}

tl::unexpected<Error> Refusal::truncated(std::uint64_t size, std::uint64_t expected) const {
  return fail(Errc::truncated,
              fmt::format("'{}' is cut short: it has {} bytes of {}; copy or build it again", name_,
                          size, expected));
}

tl::unexpected<Error> Refusal::corrupt(std::string_view what) const {
  return fail(Errc::corrupt,
              fmt::format("'{}' is damaged: {}; copy or build it again", name_, what));
}

tl::unexpected<Error> Refusal::newer(std::string_view what) const {
  return fail(
      Errc::newer_version,
      fmt::format("'{}' was written by a newer guestlist: {}; read it with that one", name_, what));
}

}  // namespace guestlist::filter_file
