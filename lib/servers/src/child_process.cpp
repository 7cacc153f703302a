#include "guestlist/servers/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "guestlist/base/file.hpp"
#include "guestlist/servers/temporary_folder.hpp"
#include "log_tail.hpp"

namespace guestlist::servers {
namespace {

using namespace std::chrono_literals;

constexpr int close_on_exec = 1 << 2;  // CLOSE_RANGE_CLOEXEC, since Linux 5.11

bool become(uid_t user) {
  return ::setgroups(0, nullptr) == 0 && ::setgid(static_cast<gid_t>(user)) == 0 &&
         ::setuid(user) == 0;
}

/// Between fork and exec: calls that are safe after a fork of many threads, and nothing else.
/// Returns only on failure, with errno set.
void execute(const ChildOptions& options, char* const* arguments, pid_t parent) {
  ::setpgid(0, 0);
  const int nowhere = ::open("/dev/null", O_RDWR);
  const int log = options.log.empty() ? nowhere
                                      : ::open(options.log.c_str(),
                                               O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (nowhere < 0 || log < 0) return;
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, close_on_exec);
  if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) return;
  if (options.user && ::geteuid() == 0 && !become(*options.user)) return;
  // Last, for a change of user resets it. The parent may be gone by now.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv(arguments[0], arguments);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const ChildOptions& options) {
  std::vector<char*> arguments;
  for (const std::string& argument : options.command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);

  // Closed by a successful exec; carries errno otherwise.
  int failure[2];
  if (::pipe2(failure, O_CLOEXEC) != 0) {
    return fail(errno_error(Errc::unavailable, "no pipe for a child process"));
  }
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    execute(options, arguments.data(), parent);
    const int reason = errno;
    (void)!::write(failure[1], &reason, sizeof reason);
    ::_exit(127);
  }
  ::close(failure[1]);
  if (pid < 0) {
    ::close(failure[0]);
    return fail(errno_error(Errc::unavailable, "no child process can be made"));
  }
  ChildProcess child(pid);
  int reason = 0;
  const bool failed = ::read(failure[0], &reason, sizeof reason) == sizeof reason;
  ::close(failure[0]);
  if (failed) {
    errno = reason;
    return fail(errno_error(Errc::unavailable,
                            fmt::format("{} cannot be executed", options.command.front())));
  }
  return child;
}

ChildProcess::~ChildProcess() {
  kill();
}

bool ChildProcess::is_running() {
  reap(WNOHANG);
  return pid_ != 0;
}

void ChildProcess::kill() {
  if (!is_running()) return;
  ::kill(-pid_, SIGKILL);
  reap(0);
}

void ChildProcess::stop() {
  if (!is_running()) return;
  signal(SIGSTOP);
  reap(WUNTRACED);
}

void ChildProcess::resume() {
  if (is_running()) signal(SIGCONT);
}

void ChildProcess::signal(int number) const {
  if (pid_ != 0) ::kill(pid_, number);
}

Result<void> ChildProcess::wait(Duration at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (is_running()) {
    if (std::chrono::steady_clock::now() >= end) {
      return fail(Errc::deadline_exceeded, fmt::format("process {} still runs", pid_));
    }
    std::this_thread::sleep_for(1ms);
  }
  return {};
}

void ChildProcess::reap(int flags) {
  if (pid_ == 0) return;
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = ::waitpid(pid_, &status, flags);
  } while (reaped < 0 && errno == EINTR);
  if (reaped == 0 || (reaped > 0 && WIFSTOPPED(status))) return;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = 0;
}

Result<std::string> run_program(ChildOptions options, Duration at_most) {
  auto folder = TemporaryFolder::create("run");
  if (!folder) return fail(std::move(folder).error());
  options.log = folder->file("output");
  auto child = ChildProcess::start(options);
  if (!child) return fail(std::move(child).error());
  if (auto ended = child->wait(at_most); !ended) return fail(std::move(ended).error());
  if (child->exit_status() != 0) {
    return fail(Errc::unavailable,
                fmt::format("{} ended with status {}: {}", options.command.front(),
                            child->exit_status(), log_tail(options.log)));
  }
  constexpr std::uint64_t output_limit = 16 << 20;
  return read_file(options.log, output_limit);
}

}  // namespace guestlist::servers
