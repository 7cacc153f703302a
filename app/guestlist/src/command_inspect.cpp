#include <fmt/chrono.h>
#include <fmt/format.h>

#include "commands.hpp"
#include "filter_choice.hpp"
#include "guava_target.hpp"
#include "guestlist/base/units.hpp"
#include "redis_target.hpp"
#include "secrets.hpp"

namespace guestlist {
namespace {

struct Options {
  std::string target;
  std::string secret_file;
  FormatOptions format;
  bool json = false;
};

void declare(CLI::App& command, Options& options) {
  command.add_option("TARGET", options.target, "A filter file, or a filter in Redis")->required();
  declare_secret_file(command, options.secret_file);
  declare_format(command, options.format, false);
  declare_json(command, options.json);
}

std::string text_of(const AnyFilter& filter, const FilterFileHeader& header) {
  const FilterShape shape = filter.shape();
  std::string text;
  const auto line = [&](std::string_view label, const std::string& value) {
    text += fmt::format("{:<18}{}\n", label, value);
  };
  line("structure",
       structure_name(shape) +
           (shape.layers.size() > 1 ? fmt::format(", {} layers", shape.layers.size()) : ""));
  line("size", fmt::format("{} ({:.2f} bits a planned key)", format_bytes(filter.size_bytes()),
                           static_cast<double>(filter.size_bytes()) * 8 /
                               static_cast<double>(std::max<std::uint64_t>(1, shape.capacity))));
  line("planned", fmt::format("{} items at an fpr of {}", format_count(shape.capacity), shape.fpr));
  line("items", fmt::format("{} counted, {} estimated", format_count(header.items()),
                            format_count(filter.approximate_count())));
  line("fill", fmt::format("{:.2f} %", filter.fill() * 100));
  line("fpr now", fmt::format("{:.4g}", filter.fpr_now()));
  line("hash", fmt::format("{}, secret {:016x} {}", name(header.hash), header.secret_fingerprint,
                           header.secret ? "(in the file)" : "(elsewhere)"));
  line("keys", header.info.key_type);
  line("generation", fmt::format("{}", header.info.generation));
  if (!header.info.position.empty()) line("source position", header.info.position);
  line("made",
       fmt::format("{:%Y-%m-%d %H:%M:%S} UTC from {}",
                   fmt::gmtime(std::chrono::system_clock::to_time_t(header.info.created_at)),
                   header.info.origin.empty() ? "(unknown)" : header.info.origin));
  return text;
}

CallResult run(const Options& options) {
  if (is_redis_url(options.target)) {
    const auto target = RedisTarget::parse(options.target);
    if (!target) return fail(target.error());
    const auto facts = target->filter().inspect(target->deadline());
    if (!facts) return fail(facts.error());
    print_result(options.json, describe(*facts), text_of(*facts));
    return Exit::success;
  }
  if (auto is_file = check_is_file(options.target); !is_file)
    return fail(std::move(is_file).error());
  if (options.format.is_guava()) {
    const auto guava = read_guava(options.target);
    if (!guava) return fail(guava.error());
    print_result(options.json, describe(*guava), text_of(*guava));
    return Exit::success;
  }
  const auto secret = read_secret(options.secret_file);
  if (!secret) return fail(secret.error());
  const auto file = FilterFile::open(options.target, *secret);
  if (!file) return fail(file.error());
  const auto filter = file->verified();
  if (!filter) return fail(filter.error());
  const FilterFileHeader& header = file->header();
  boost::json::object figures = describe_with_content(**filter);
  figures["items"] = header.items();
  figures["generation"] = header.info.generation;
  figures["key_type"] = header.info.key_type;
  figures["origin"] = header.info.origin;
  figures["position"] = header.info.position;
  figures["layers"] = header.shape.layers.size();
  figures["secret_fingerprint"] = fmt::format("{:016x}", header.secret_fingerprint);
  figures["secret_in_file"] = header.secret.has_value();
  figures["created_at"] = header.info.created_at.time_since_epoch().count();
  print_result(options.json, figures, text_of(**filter, header));
  return Exit::success;
}

}  // namespace

void add_inspect(CallTable& calls) {
  calls.add<Options>("inspect", "Show structure, parameters, fill, and where a filter came from",
                     declare, run);
}

}  // namespace guestlist
