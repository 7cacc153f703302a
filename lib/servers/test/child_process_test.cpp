#include "guestlist/servers/child_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace guestlist::servers {
namespace {

using namespace std::chrono_literals;

Result<std::string> run_shell(const std::string& script, Duration at_most = 10s) {
  return run_program({.command = {"/bin/sh", "-c", script}}, at_most);
}

TEST(RunProgram, ReturnsWhatWasPrinted) {
  const auto printed = run_shell("echo out; echo err >&2");
  ASSERT_TRUE(printed);
  EXPECT_EQ("out\nerr\n", *printed);
}

TEST(RunProgram, SaysHowAProgramFailedInItsOwnWords) {
  const auto failed = run_shell("echo because; exit 3");
  ASSERT_FALSE(failed);
  EXPECT_EQ("/bin/sh ended with status 3: because", failed.error().detail);
}

TEST(RunProgram, EndsWhatTakesTooLongWithAllThatItStarted) {
  // A pipe reads its end once nobody is left who could write to it.
  int pipe[2];
  ASSERT_EQ(0, ::pipe(pipe));
  const std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(pipe[1]);
  const auto late = run_shell("sleep 1000 > " + path + " & sleep 1000", 200ms);
  ASSERT_FALSE(late);
  EXPECT_EQ(make_error_code(Errc::deadline_exceeded), late.error().code);
  ::close(pipe[1]);
  char nothing = 0;
  EXPECT_EQ(0, ::read(pipe[0], &nothing, 1));
  ::close(pipe[0]);
}

TEST(ChildProcess, AProgramThatIsNotThereIsRefused) {
  const auto child = ChildProcess::start({.command = {"/nowhere/program"}});
  ASSERT_FALSE(child);
  EXPECT_NE(std::string::npos, child.error().message().find("/nowhere/program"))
      << child.error().message();
}

TEST(ChildProcess, TellsHowItEnded) {
  auto exited = ChildProcess::start({.command = {"/bin/sh", "-c", "exit 7"}});
  ASSERT_TRUE(exited);
  ASSERT_TRUE(exited->wait(10s));
  EXPECT_EQ(7, exited->exit_status());

  auto killed = ChildProcess::start({.command = {"/bin/sleep", "1000"}});
  ASSERT_TRUE(killed);
  EXPECT_TRUE(killed->is_running());
  killed->kill();
  EXPECT_FALSE(killed->is_running());
  EXPECT_EQ(128 + SIGKILL, killed->exit_status());
}

}  // namespace
}  // namespace guestlist::servers
