#include "guestlist/servers/redis_server.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "guestlist/servers/required.hpp"

namespace guestlist::servers {
namespace {

using namespace std::chrono_literals;

bool exists(pid_t process) {
  return ::kill(process, 0) == 0;
}

TEST(RedisServer, AnswersWithinASecondOfItsStart) {
  Duration best = 1h;
  for (int i = 0; i < 5; ++i) {
    const TimePoint before = SteadyClock().now();
    RedisServer server = required(RedisServer::start());
    best = std::min(best, SteadyClock().now() - before);
    EXPECT_EQ("PONG", server.command({"PING"}).text);
  }
  RecordProperty("milliseconds", std::to_string(best / 1ms));
  EXPECT_LT(best, 1s);
}

TEST(RedisServer, RepliesKeepTheirKinds) {
  RedisServer server = required(RedisServer::start());
  const std::string binary("a\0\r\n\xff", 5);
  EXPECT_EQ("OK", server.command({"SET", binary, binary}).text);
  EXPECT_EQ(binary, server.command({"GET", binary}).text);
  EXPECT_TRUE(server.command({"GET", "none"}).is_nil());
  EXPECT_EQ(7, server.command({"INCRBY", "n", "7"}).integer);
  EXPECT_EQ("7", server.command({"INCRBY", "n", "0"}).text);
  EXPECT_TRUE(server.command({"INCR", binary}).is_error());
  const RedisReply both = server.command({"MGET", "n", "none"});
  ASSERT_EQ(2u, both.elements.size());
  EXPECT_EQ("7", both.elements[0].text);
  EXPECT_TRUE(both.elements[1].is_nil());
}

TEST(RedisServer, TwoServersShareNothing) {
  RedisServer first = required(RedisServer::start());
  RedisServer second = required(RedisServer::start());
  EXPECT_NE(first.port(), second.port());
  first.command({"SET", "key", "1"});
  EXPECT_TRUE(second.command({"GET", "key"}).is_nil());
}

TEST(RedisServer, ItsOptionsHold) {
  RedisOptions options;
  options.password = "secret";
  options.users = {"reader on >other ~filter:* +@read"};
  options.maxmemory = "64mb";
  options.maxmemory_policy = "allkeys-lru";
  options.databases = 3;
  options.settings = {"proto-max-bulk-len 2mb"};
  RedisServer server = required(RedisServer::start(options));
  const auto setting = [&](const std::string& name) {
    return server.command({"CONFIG", "GET", name}).elements.at(1).text;
  };
  EXPECT_EQ("67108864", setting("maxmemory"));
  EXPECT_EQ("allkeys-lru", setting("maxmemory-policy"));
  EXPECT_EQ("3", setting("databases"));
  EXPECT_EQ("2097152", setting("proto-max-bulk-len"));

  RedisClient wrong(server.unix_socket(), "default", "wrong");
  EXPECT_EQ(0u, wrong.command({"PING"}).text.find("WRONGPASS"));
  RedisClient right(server.unix_socket(), "default", "secret");
  EXPECT_EQ("OK", right.command({"SET", "filter:1", "x"}).text);
  RedisClient reader(server.unix_socket(), "reader", "other");
  EXPECT_EQ("x", reader.command({"GET", "filter:1"}).text);
  EXPECT_EQ(0u, reader.command({"SET", "filter:1", "y"}).text.find("NOPERM"));
}

TEST(RedisServer, ARestartKeepsOrLosesWhatItWasAskedTo) {
  RedisServer server = required(RedisServer::start());
  const std::uint16_t port = server.port();
  server.command({"SET", "key", "1"});
  required(server.restart(RedisData::kept));
  EXPECT_EQ(port, server.port());
  EXPECT_EQ("1", server.command({"GET", "key"}).text);
  required(server.restart(RedisData::empty));
  EXPECT_TRUE(server.command({"GET", "key"}).is_nil());
}

TEST(RedisServer, WhatWasAppendedSurvivesAKill) {
  RedisOptions options;
  options.appendonly = true;
  RedisServer server = required(RedisServer::start(options));
  server.command({"SET", "key", "1"});
  server.kill();
  EXPECT_TRUE(server.command({"GET", "key"}).is_error());
  required(server.restart(RedisData::kept));
  EXPECT_EQ("1", server.command({"GET", "key"}).text);
}

TEST(RedisServer, AKillLosesWhatWasNotSaved) {
  RedisServer server = required(RedisServer::start());
  server.command({"SET", "key", "1"});
  server.kill();
  required(server.restart(RedisData::kept));
  EXPECT_TRUE(server.command({"GET", "key"}).is_nil());
}

TEST(RedisServer, AStoppedServerAnswersOnceItIsResumed) {
  RedisServer server = required(RedisServer::start());
  RedisClient impatient(server.unix_socket(), "fixture", "fixture", 100ms);
  EXPECT_EQ("PONG", impatient.command({"PING"}).text);
  server.stop();
  EXPECT_TRUE(impatient.command({"PING"}).is_error());
  server.resume();
  EXPECT_EQ("PONG", impatient.command({"PING"}).text);
}

TEST(RedisServer, EndsWithItsObject) {
  pid_t process = 0;
  std::string folder;
  {
    RedisServer server = required(RedisServer::start());
    process = server.pid();
    folder = server.folder().path().string();
    EXPECT_TRUE(exists(process));
  }
  EXPECT_FALSE(exists(process));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(RedisServer, EndsWithTheProgramThatStartedIt) {
  // Orphans become children of this test, which can then see how they ended.
  ASSERT_EQ(0, ::prctl(PR_SET_CHILD_SUBREAPER, 1));
  int tell[2];
  ASSERT_EQ(0, ::pipe(tell));
  const pid_t program = ::fork();
  if (program == 0) {
    const RedisServer server = required(RedisServer::start());
    const pid_t process = server.pid();
    const std::string folder = server.folder().path().string();
    (void)!::write(tell[1], &process, sizeof process);
    (void)!::write(tell[1], folder.c_str(), folder.size());
    ::raise(SIGKILL);
  }
  ::close(tell[1]);
  pid_t process = 0;
  ASSERT_EQ(static_cast<ssize_t>(sizeof process), ::read(tell[0], &process, sizeof process));
  ::waitpid(program, nullptr, 0);
  int status = 0;
  ASSERT_EQ(process, ::waitpid(process, &status, 0));
  EXPECT_EQ(SIGKILL, WTERMSIG(status));
  char folder[200] = {};
  EXPECT_LT(0, ::read(tell[0], folder, sizeof folder - 1));
  std::filesystem::remove_all(folder);
  ::close(tell[0]);
}

TEST(RedisServer, MayBeValkey) {
  RedisServer server = required(RedisServer::start({.flavour = RedisFlavour::valkey}));
  EXPECT_EQ("valkey", server.info("server_name"));
  EXPECT_EQ("OK", server.command({"SET", "key", "1"}).text);
  required(server.restart(RedisData::kept));
  EXPECT_EQ("1", server.command({"GET", "key"}).text);
}

TEST(RedisServer, ASettingThatItRefusesIsSaidWithTheServersOwnWords) {
  RedisOptions options;
  options.settings = {"no-such-setting 1"};
  const auto server = RedisServer::start(options);
  ASSERT_FALSE(server);
  EXPECT_NE(std::string::npos, server.error().detail.find("no-such-setting"))
      << server.error().detail;
}

/// What the openssl command gets from a TLS server for a PING.
std::string ping_by_tls(const RedisServer& server, const TestCertificates& own,
                        const std::string& more = "") {
  const std::string script = "printf 'PING\\r\\nQUIT\\r\\n' | openssl s_client -quiet -connect " +
                             server.address() + " -CAfile " + own.authority() +
                             " -verify_return_error -verify_ip 127.0.0.1 " + more + " 2>&1; true";
  return required(run_program({.command = {"/bin/sh", "-c", script}}, 10s));
}

bool is_answered(const std::string& printed) {
  return printed.find("+PONG") != std::string::npos;
}

TEST(RedisServer, SpeaksTlsOnlyWhereAskedTo) {
  RedisServer server = required(RedisServer::start({.tls = true}));
  EXPECT_EQ("PONG", server.command({"PING"}).text);
  EXPECT_TRUE(is_answered(ping_by_tls(server, server.certificates())));
  EXPECT_FALSE(is_answered(ping_by_tls(server, required(TestCertificates::create()))));
}

TEST(RedisServer, AsksItsClientsForACertificate) {
  RedisServer server = required(RedisServer::start({.tls = true, .tls_client_certificate = true}));
  const TestCertificates& own = server.certificates();
  EXPECT_FALSE(is_answered(ping_by_tls(server, own)));
  EXPECT_TRUE(is_answered(
      ping_by_tls(server, own, "-cert " + own.client_certificate() + " -key " + own.client_key())));
}

}  // namespace
}  // namespace guestlist::servers
