#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "argument_keys.hpp"
#include "commands.hpp"
#include "guava_target.hpp"
#include "guestlist/filter/filter_file.hpp"
#include "output_lines.hpp"
#include "redis_target.hpp"
#include "secrets.hpp"

namespace guestlist {
namespace {

struct Options : KeyArguments {
  std::string print = "maybe";
  bool count = false;
};

struct Counts {
  std::uint64_t maybe = 0;
  std::uint64_t absent = 0;
  std::uint64_t unknown = 0;
  std::uint64_t corrupt = 0;
  Reason why_unknown = Reason::none;  ///< of the last key that had another reason than its spelling

  void add(Verdict verdict) noexcept {
    maybe += verdict.answer == Answer::maybe;
    absent += verdict.answer == Answer::absent;
    unknown += verdict.answer == Answer::unknown;
    corrupt += verdict.reason == Reason::corrupt;
    if (verdict.answer == Answer::unknown && verdict.reason != Reason::unparsable) {
      why_unknown = verdict.reason;
    }
  }
};

void declare(CLI::App& command, Options& options) {
  declare_key_arguments(command, options);
  command.add_option("--print", options.print, "Which keys to print; all: each with its verdict")
      ->check(CLI::IsMember({"maybe", "absent", "unknown", "all"}))
      ->capture_default_str();
  command.add_flag("--count", options.count, "Print how many keys would be printed, not the keys");
  command.footer(
      "Exit status: 0 if no key is absent, 1 if some are, 2 on an error.\n"
      "Example: guestlist query ids.gl --print absent < wanted.txt");
}

/// Verdicts of one batch: canonical keys are asked together, the others are `unknown`.
class Asking {
 public:
  Asking(const FilterFile& file, KeyType type) : file_(file), type_(type) {}

  const std::vector<Verdict>& operator()(const std::vector<std::string_view>& keys) {
    verdicts_.assign(keys.size(), Verdict::unknown(Reason::unparsable));
    hashes_.clear();
    places_.clear();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto canonical = canonicalize(type_, keys[i], buffer_);
      // Blank lines are no keys when a filter is built, so nothing is proven about the empty one.
      if (!canonical || canonical->empty()) continue;
      hashes_.push_back(file_.hasher()(*canonical));
      places_.push_back(i);
    }
    answers_.resize(hashes_.size());
    file_.check_many(hashes_, answers_);
    for (std::size_t i = 0; i < places_.size(); ++i) verdicts_[places_[i]] = answers_[i];
    return verdicts_;
  }

 private:
  const FilterFile& file_;
  KeyType type_;
  std::string buffer_;
  std::vector<KeyHash> hashes_;
  std::vector<std::size_t> places_;
  std::vector<Verdict> answers_;
  std::vector<Verdict> verdicts_;
};

Result<void> print_keys(const std::string& which, const std::vector<std::string_view>& keys,
                        const std::vector<Verdict>& verdicts, OutputLines& output) {
  const bool all = which == "all";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string_view answer = name(verdicts[i].answer);
    if (!all && answer != which) continue;
    output.append(keys[i]);
    if (all) {
      output.append('\t');
      output.append(answer);
    }
    output.append('\n');
  }
  return output.flush_if_full();
}

/// Gives a verdict for each key of a batch; the result is valid until the next call.
using Ask = std::function<const std::vector<Verdict>&(const std::vector<std::string_view>&)>;

CallResult answer(const Options& options, const Ask& ask) {
  auto reader = read_argument_keys(options.keys, options.crlf);
  if (!reader) return fail(std::move(reader).error());
  Counts counts;
  OutputLines output;
  std::vector<std::string_view> keys;
  while (true) {
    if (auto read = (*reader)->next(keys); !read) return fail(std::move(read).error());
    if (keys.empty()) break;
    const std::vector<Verdict>& verdicts = ask(keys);
    for (const Verdict verdict : verdicts) counts.add(verdict);
    if (options.count || options.json) continue;
    if (auto printed = print_keys(options.print, keys, verdicts, output); !printed) {
      return fail(std::move(printed).error());
    }
  }
  if (auto flushed = output.flush(); !flushed) return fail(std::move(flushed).error());

  if (is_redis_url(options.target) && counts.why_unknown != Reason::none) {
    fmt::print(stderr, "guestlist: note: {} keys are unknown: the filter is {}\n", counts.unknown,
               name(counts.why_unknown));
  } else if (counts.corrupt > 0) {
    fmt::print(
        stderr,
        "guestlist: note: {} keys are unknown because the file is damaged where their answer would "
        "come from; build '{}' again\n",
        counts.corrupt, options.target);
  }
  if (options.json) {
    print_result(true,
                 {{"lines", counts.maybe + counts.absent + counts.unknown},
                  {"maybe", counts.maybe},
                  {"absent", counts.absent},
                  {"unknown", counts.unknown}},
                 "");
  } else if (options.count) {
    const std::uint64_t printed = options.print == "maybe"    ? counts.maybe
                                  : options.print == "absent" ? counts.absent
                                  : options.print == "unknown"
                                      ? counts.unknown
                                      : counts.maybe + counts.absent + counts.unknown;
    fmt::print("{}\n", printed);
  }
  return counts.absent > 0 ? Exit::some_absent : Exit::success;
}

CallResult query_guava(const Options& options) {
  const auto kind = parse_funnel(options.format);
  if (!kind) return fail(kind.error());
  const auto type = parse_key_type(options.key_type.empty() ? "text" : options.key_type);
  if (!type) return fail(type.error());
  const auto filter = read_guava(options.target);
  if (!filter) return fail(filter.error());
  std::vector<Verdict> verdicts;
  return answer(options,
                [&](const std::vector<std::string_view>& keys) -> const std::vector<Verdict>& {
                  verdicts.clear();
                  for (const std::string_view key : keys)
                    verdicts.push_back(check_guava(*filter, *kind, *type, key));
                  return verdicts;
                });
}

CallResult query_redis(const Options& options) {
  const auto target = RedisTarget::parse(options.target);
  if (!target) return fail(target.error());
  const auto of_filter = target->filter().open(target->deadline());
  if (!of_filter) return fail(of_filter.error());
  const auto type = agreed_key_type(*target, options.key_type, *of_filter);
  if (!type) return fail(type.error());
  std::vector<Verdict> verdicts;
  std::vector<std::string> canonical;
  std::vector<std::size_t> places;
  std::string buffer;
  return answer(options,
                [&](const std::vector<std::string_view>& keys) -> const std::vector<Verdict>& {
                  verdicts.assign(keys.size(), Verdict::unknown(Reason::unparsable));
                  canonical.clear();
                  places.clear();
                  for (std::size_t i = 0; i < keys.size(); ++i) {
                    const auto spelt = canonicalize(*type, keys[i], buffer);
                    if (!spelt || spelt->empty()) continue;
                    canonical.emplace_back(*spelt);
                    places.push_back(i);
                  }
                  constexpr std::size_t batch_keys = 4096;
                  const std::vector<std::string_view> all(canonical.begin(), canonical.end());
                  for (std::size_t first = 0; first < all.size(); first += batch_keys) {
                    const auto count = std::min(batch_keys, all.size() - first);
                    const auto answers = target->check(std::span(all).subspan(first, count));
                    for (std::size_t i = 0; i < count; ++i) {
                      verdicts[places[first + i]] = answers[i];
                    }
                  }
                  return verdicts;
                });
}

CallResult run(const Options& options) {
  if (is_redis_url(options.target)) return query_redis(options);
  if (auto is_file = check_is_file(options.target); !is_file)
    return fail(std::move(is_file).error());
  if (options.format.is_guava()) return query_guava(options);
  const auto secret = read_secret(options.secret_file);
  if (!secret) return fail(secret.error());
  const auto file = FilterFile::open(options.target, *secret);
  if (!file) return fail(file.error());
  const auto type = agreed_key_type(options.key_type, file->header().info.key_type);
  if (!type) return fail(type.error());
  Asking asking(*file, *type);
  return answer(options, std::ref(asking));
}

}  // namespace

void add_query(CallTable& calls) {
  calls.add<Options>("query", "Ask for keys, print those with a verdict", declare, run);
}

}  // namespace guestlist
