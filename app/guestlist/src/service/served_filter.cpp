#include "service/served_filter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace guestlist {
namespace {

FollowOptions follow_options(const FilterConfig& config, const std::string& state_folder,
                             const std::vector<KeyType>& key) {
  std::vector<std::string_view> types;
  for (const KeyType type : key) types.push_back(name(type));
  FollowOptions options;
  options.name = config.name;
  options.origin = config.source.description();
  options.key_type = fmt::format("{}", fmt::join(types, ","));
  options.fpr = config.fpr;
  options.headroom = config.headroom;
  options.triggers.full_at = config.rebuild_full_at;
  options.triggers.deletes_at = config.rebuild_deletes_at;
  options.triggers.oldest = config.rebuild_oldest;
  options.lease = config.lease;
  options.folder = state_folder;
  return options;
}

}  // namespace

void ServedFilter::Audited::check(std::span<const std::string_view> keys, Deadline deadline,
                                  Verdicts done) {
  // The followed filter is in this process and answers before it returns, so the keys live on.
  followed_.check(keys, deadline, [&](std::span<const Verdict> verdicts) {
    for (std::size_t i = 0; i < keys.size(); ++i) auditor_.offer(keys[i], verdicts[i]);
    done(verdicts);
  });
}

Result<std::shared_ptr<ServedFilter>> ServedFilter::start(const FilterConfig& config,
                                                          const std::string& state_folder,
                                                          OpenedSource opened,
                                                          const ServiceLog& log) {
  std::shared_ptr<ServedFilter> served(new ServedFilter(config, log));
  ServedFilter* const self = served.get();
  FollowOptions options = follow_options(config, state_folder, opened.key);
  options.log = [self](Severity severity, const std::string& line) { self->say(severity, line); };
  FollowedSource& source = *opened.source;
  auto followed = FollowedFilter::start(std::move(options), std::move(opened.source));
  if (!followed) return fail(std::move(followed).error());
  served->followed_ = *std::move(followed);

  Auditor::Options audits;
  audits.per_second = config.audits_per_second;
  audits.recheck_after = config.lease + std::chrono::seconds(1);
  audits.on_false_negative = [self](const std::string& key) {
    self->say(Severity::error,
              fmt::format("FALSE NEGATIVE: key '{}' is in the source and was called absent; it is "
                          "on the list again. Set the mode to 'pass' and report this",
                          key));
  };
  audits.on_measured_fpr = [self](double fpr) { self->followed_->report_fpr(fpr); };
  served->auditor_ = std::make_unique<Auditor>(*served->followed_, source, std::move(audits));
  served->audited_ = std::make_unique<Audited>(*served->followed_, *served->auditor_);
  served->gate_ = std::make_unique<GatedFilter>(config.name, std::move(opened.key),
                                                config.is_strict, *served->audited_);
  return served;
}

FilterReport ServedFilter::report() {
  FilterReport report;
  report.name = config_.name;
  report.source = config_.source.description();
  report.follow = followed_->status();
  report.gate = gate_->counts();
  report.audits = auditor_->counts();
  report.mode = gate_->mode();
  const Mode mode = report.mode.value_or(route_mode_.load(std::memory_order_relaxed));
  const auto seen = watch_.look(standing_of(report.follow.generation, report.follow.reason, mode),
                                std::chrono::system_clock::now());
  report.standing = seen.standing;
  report.since = seen.since;
  if (seen.has_changed) {
    const bool is_bad = seen.standing.state == FilterState::passing;
    const std::string trouble =
        report.follow.trouble.empty() ? "" : fmt::format(": {}", report.follow.trouble);
    say(is_bad ? Severity::warning : Severity::good,
        seen.standing.reason == Reason::none ? fmt::format("{}", name(seen.standing.state))
                                             : fmt::format("{} ({}){}", name(seen.standing.state),
                                                           name(seen.standing.reason), trouble));
  }
  return report;
}

}  // namespace guestlist
