#pragma once

// Child processes that never outlive what they were started for: the object kills its process when
// it goes, and the system kills it when the thread that started it ends, be it by SIGKILL. So start
// servers from a thread that lives as long as they are needed, as a test's main thread does.
//
// Cost: one fork and exec, about 1 ms.

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "guestlist/base/clock.hpp"
#include "guestlist/base/result.hpp"

namespace guestlist::servers {

struct ChildOptions {
  /// The program's path, then its arguments.
  std::vector<std::string> command = {};
  /// Working folder; empty for that of the caller.
  std::string folder = {};
  /// Gets what the child prints, appended; empty for nowhere.
  std::string log = {};
  /// For root only, who the child runs as, without any group of root's. Others run it as
  /// themselves.
  std::optional<uid_t> user = {};
};

/// Distinct objects: safe. Shared objects: one thread at a time.
class ChildProcess {
 public:
  /// No process, as one that has ended.
  ChildProcess() = default;
  /// Returns once the program runs. Errors: `unavailable` where it cannot be executed.
  static Result<ChildProcess> start(const ChildOptions& options);

  ChildProcess(ChildProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), status_(other.status_) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(status_, other.status_);
    return *this;
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// As `kill`.
  ~ChildProcess();

  /// 0 once the process has ended.
  pid_t pid() const noexcept { return pid_; }
  bool is_running();

  /// SIGKILL to the process and to the children it left in its process group, and waits for its
  /// end. Nothing happens to a process that has ended.
  void kill();
  /// Nothing happens to a process that has ended.
  void signal(int number) const;
  /// SIGSTOP: returns once the process stands still.
  void stop();
  /// SIGCONT.
  void resume();
  /// Waits for the end. Errors: `deadline_exceeded`.
  Result<void> wait(Duration at_most);

  /// How the process ended, as a shell has it: its status, or 128 and the signal. Requires: ended.
  int exit_status() const noexcept { return status_; }

 private:
  explicit ChildProcess(pid_t pid) noexcept : pid_(pid) {}
  void reap(int flags);

  pid_t pid_ = 0;
  int status_ = 0;
};

/// Runs a program to its end and returns what it printed to its output and error streams. Errors:
/// `unavailable` with the last lines printed, where it fails or takes longer than `at_most`.
Result<std::string> run_program(ChildOptions options, Duration at_most);

}  // namespace guestlist::servers
