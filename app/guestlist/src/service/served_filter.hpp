#pragma once

// One filter as the service runs it: it follows its source, answers the gate, is audited on a
// sample of its answers, and tells how it stands.
//
// Distinct objects: safe. Shared objects: safe.

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "guestlist/gate/gated_filter.hpp"
#include "guestlist/sync/followed_filter.hpp"
#include "service/auditor.hpp"
#include "service/filter_state.hpp"
#include "service/service_config.hpp"
#include "service/service_log.hpp"
#include "service/source_factory.hpp"

namespace guestlist {

struct FilterReport {
  std::string name;
  std::string source;
  FilterStanding standing;
  std::chrono::system_clock::time_point since{};
  FollowStatus follow;
  GateCounts gate;
  AuditCounts audits;
  std::optional<Mode> mode;  ///< what an operator set for all routes
};

class ServedFilter {
 public:
  /// `log` outlives the filter. Errors: of FollowedFilter::start.
  static Result<std::shared_ptr<ServedFilter>> start(const FilterConfig& config,
                                                     const std::string& state_folder,
                                                     OpenedSource opened, const ServiceLog& log);
  ServedFilter(const ServedFilter&) = delete;
  ServedFilter& operator=(const ServedFilter&) = delete;

  const FilterConfig& config() const noexcept { return config_; }
  GatedFilter& gate() noexcept { return *gate_; }
  FollowedFilter& followed() noexcept { return *followed_; }
  /// What routes ask for together; decides between `shadow` and `enforcing`.
  void set_route_mode(Mode mode) noexcept { route_mode_.store(mode, std::memory_order_relaxed); }

  /// Looks at the filter, and logs where it stands otherwise than at the last look.
  FilterReport report();

 private:
  /// What the gate asks: the followed filter, with a sample of its answers to the auditor.
  class Audited final : public Membership {
   public:
    Audited(FollowedFilter& followed, Auditor& auditor) : followed_(followed), auditor_(auditor) {}
    void check(std::span<const std::string_view> keys, Deadline deadline, Verdicts done) override;
    void add(std::span<const std::string_view> keys, Deadline deadline,
             Completion<void> done) override {
      followed_.add(keys, deadline, std::move(done));
    }
    std::shared_ptr<const void> begin_write() override { return followed_.begin_write(); }

   private:
    FollowedFilter& followed_;
    Auditor& auditor_;
  };

  ServedFilter(const FilterConfig& config, const ServiceLog& log) : config_(config), log_(log) {}
  void say(Severity severity, const std::string& line) const { log_(severity, config_.name, line); }

  const FilterConfig config_;
  const ServiceLog& log_;
  std::unique_ptr<FollowedFilter> followed_;
  std::unique_ptr<Auditor> auditor_;
  std::unique_ptr<Audited> audited_;
  std::unique_ptr<GatedFilter> gate_;
  std::atomic<Mode> route_mode_ = Mode::shadow;
  StandingWatch watch_;
};

}  // namespace guestlist
