#pragma once

// Guava streams as targets of the command: `--format guava --funnel F [--strategy S] [--sizing N]`.

#include <string>

#include "call.hpp"
#include "guestlist/base/file.hpp"
#include "guestlist/base/verdict.hpp"
#include "guestlist/filter/guava_bloom_filter.hpp"
#include "guestlist/filter/guava_funnel.hpp"

namespace guestlist {

struct FormatOptions {
  std::string format = "guestlist";
  std::string funnel;
  std::string strategy = "mitz-64";
  std::string sizing = "by-bits";

  bool is_guava() const noexcept { return format == "guava"; }
};

/// `--format`, `--funnel`, and with `writes` `--strategy` and `--sizing`.
void declare_format(CLI::App& command, FormatOptions& format, bool writes);

/// Errors: `invalid_argument` where the funnel is missing or unknown.
Result<GuavaFunnel> parse_funnel(const FormatOptions& format);
GuavaStrategy parse_strategy(const FormatOptions& format) noexcept;
GuavaSizing parse_sizing(const FormatOptions& format) noexcept;

/// Errors: of the file; of GuavaBloomFilter::read, with the path.
Result<GuavaBloomFilter> read_guava(const std::string& path);
Result<void> write_guava(const std::string& path, const GuavaBloomFilter& filter);

struct GuavaFilled {
  std::uint64_t keys = 0;
  std::uint64_t added = 0;
  double seconds = 0;
};

/// Errors: of the reader; `invalid_argument` where a key does not fit funnel or type.
Result<GuavaFilled> fill_guava(KeyReader& reader, KeyType type, GuavaFunnel funnel,
                               GuavaBloomFilter& filter);

/// `unknown` where the key does not fit funnel or type.
Verdict check_guava(const GuavaBloomFilter& filter, GuavaFunnel funnel, KeyType type,
                    std::string_view key);

boost::json::object describe(const GuavaBloomFilter& filter);
std::string text_of(const GuavaBloomFilter& filter);

}  // namespace guestlist
