#include "guava_target.hpp"

#include <fmt/format.h>

#include <chrono>

#include "guestlist/base/units.hpp"
#include "progress.hpp"

namespace guestlist {

void declare_format(CLI::App& command, FormatOptions& format, bool writes) {
  command
      .add_option("--format", format.format,
                  "Format of the file: guestlist, or guava for a writeTo stream")
      ->check(CLI::IsMember({"guestlist", "guava"}))
      ->capture_default_str();
  command
      .add_option("--funnel", format.funnel,
                  "Guava's funnel: string, long, int, bytes, unencoded-chars, "
                  "string-utf-16 or string-iso-8859-1")
      ->type_name("NAME");
  if (!writes) return;
  command
      .add_option("--strategy", format.strategy,
                  "Guava's strategy: mitz-64, or mitz-32 as before Guava 17")
      ->check(CLI::IsMember({"mitz-64", "mitz-32"}))
      ->capture_default_str();
  command
      .add_option(
          "--sizing", format.sizing,
          "How Guava computes its number of probes: by-bits up to 33.3, by-fpr from 33.4 on")
      ->check(CLI::IsMember({"by-bits", "by-fpr"}))
      ->capture_default_str();
}

Result<GuavaFunnel> parse_funnel(const FormatOptions& format) {
  const auto funnel = guava_funnel_from_name(format.funnel);
  if (funnel) return *funnel;
  return fail(
      Errc::invalid_argument,
      fmt::format(
          "--funnel '{}': a Guava stream does not say how its keys were hashed; name the funnel it "
          "was written "
          "with: string, long, int, bytes, unencoded-chars, string-utf-16 or string-iso-8859-1",
          format.funnel));
}

GuavaStrategy parse_strategy(const FormatOptions& format) noexcept {
  return format.strategy == "mitz-32" ? GuavaStrategy::mitz_32 : GuavaStrategy::mitz_64;
}

GuavaSizing parse_sizing(const FormatOptions& format) noexcept {
  return format.sizing == "by-fpr" ? GuavaSizing::by_fpr : GuavaSizing::by_bits;
}

Result<GuavaBloomFilter> read_guava(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return fail(file.error());
  auto filter = GuavaBloomFilter::read(file->bytes());
  if (!filter)
    return fail(filter.error().code, fmt::format("'{}': {}", path, filter.error().message()));
  return filter;
}

Result<void> write_guava(const std::string& path, const GuavaBloomFilter& filter) {
  auto file = AtomicFile::create(path);
  if (!file) return fail(std::move(file).error());
  const auto header = filter.header();
  if (auto written = file->write(header); !written) return written;
  if (auto written = file->write(filter.words()); !written) return written;
  return file->commit();
}

Result<GuavaFilled> fill_guava(KeyReader& reader, KeyType type, GuavaFunnel kind,
                               GuavaBloomFilter& filter) {
  const auto began = std::chrono::steady_clock::now();
  Progress progress("reading", reader.input().total_bytes(), Progress::Unit::bytes);
  GuavaFilled filled;
  std::vector<std::string_view> keys;
  std::string canonical_buffer;
  std::string funnel_buffer;
  while (true) {
    if (auto read = reader.next(keys); !read) return fail(std::move(read).error());
    if (keys.empty()) break;
    for (const std::string_view key : keys) {
      const auto canonical = canonicalize(type, key, canonical_buffer);
      if (!canonical) {
        return fail(Errc::invalid_argument,
                    fmt::format("key {} is no {}", filled.keys + 1, name(type)));
      }
      const auto bytes = funnel(kind, *canonical, funnel_buffer);
      if (!bytes) {
        return fail(Errc::invalid_argument,
                    fmt::format("key {}: {}", filled.keys + 1, bytes.error().message()));
      }
      filled.added += filter.insert(*bytes) ? 1 : 0;
      ++filled.keys;
    }
    progress(reader.input().bytes_read());
  }
  filled.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return filled;
}

Verdict check_guava(const GuavaBloomFilter& filter, GuavaFunnel kind, KeyType type,
                    std::string_view key) {
  std::string canonical_buffer;
  std::string funnel_buffer;
  const auto canonical = canonicalize(type, key, canonical_buffer);
  if (!canonical) return Verdict::unknown(Reason::unparsable);
  const auto bytes = funnel(kind, *canonical, funnel_buffer);
  if (!bytes) return Verdict::unknown(Reason::unparsable);
  return filter.may_contain(*bytes) ? Verdict::maybe() : Verdict::absent();
}

boost::json::object describe(const GuavaBloomFilter& filter) {
  boost::json::object figures;
  figures["structure"] = "guava-bloom";
  figures["strategy"] = std::string(name(filter.strategy()));
  figures["probes"] = filter.size().probes;
  figures["bits"] = filter.size().bits;
  figures["size_bytes"] = filter.size_bytes();
  figures["hash"] = "murmur3-x64-128";
  figures["bits_set"] = filter.bits_set();
  figures["fill"] = filter.fill();
  if (const auto count = filter.approximate_count()) {
    figures["estimated_items"] = *count;
  } else {
    figures["estimated_items"] = nullptr;
  }
  figures["fpr_now"] = filter.fpr_now();
  return figures;
}

std::string text_of(const GuavaBloomFilter& filter) {
  const auto count = filter.approximate_count();
  return fmt::format(
      "structure         guava-bloom, {}, {} probes\n"
      "size              {} bits ({})\n"
      "items             {} estimated\n"
      "fill              {:.2f} %\n"
      "fpr now           {:.4g}\n",
      name(filter.strategy()), filter.size().probes, format_count(filter.size().bits),
      format_bytes(filter.size_bytes()), count ? format_count(*count) : "every bit is set, nothing",
      filter.fill() * 100, filter.fpr_now());
}

}  // namespace guestlist
