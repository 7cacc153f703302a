// The command's calls on filters in Redis, run as a child process against real servers.

#include <boost/json.hpp>

#include "command_run.hpp"
#include "guestlist/servers/redis_cluster.hpp"
#include "guestlist/servers/redis_server.hpp"
#include "guestlist/servers/required.hpp"

namespace guestlist {
namespace {

using servers::RedisCluster;
using servers::RedisServer;
using servers::required;

class RedisTargetTest : public CommandTest {
 protected:
  static void SetUpTestSuite() { server_ = new RedisServer(required(RedisServer::start())); }
  static void TearDownTestSuite() { delete server_; }
  void SetUp() override {
    CommandTest::SetUp();
    server_->command({"FLUSHALL"});
  }

  static std::string target(const std::string& parameters, const std::string& login = "") {
    return "'redis://" + login + server_->address() + "/?filter=f" + parameters + "'";
  }

  static RedisServer* server_;
};

RedisServer* RedisTargetTest::server_ = nullptr;

TEST_F(RedisTargetTest, CreatesAddsAsksInspectsAndDropsEachForm) {
  for (const std::string form :
       {"", "&shards=4", "&as=redisson", "&as=redisson&codec=kryo5", "&as=redisson&codec=json",
        "&as=redisson&codec=marshalling", "&as=guava&items=1000&fpr=0.001",
        "&as=guava&items=1000&fpr=0.001&funnel=twice"}) {
    const auto url = target(form);
    const Ran created = run("create " + url + " --items 1000 --fpr 0.001 --json");
    ASSERT_EQ(0, created.status) << form << created.err;
    EXPECT_NE(std::string::npos, created.out.find("\"created\":true")) << created.out;
    const Ran again = run("create " + url + " --items 1000 --fpr 0.001 --json");
    EXPECT_NE(std::string::npos, again.out.find("\"created\":false")) << again.out << again.err;
    EXPECT_EQ("2 of 2 were new\n", run("add " + url + " apple pear").out) << form;
    EXPECT_EQ("0 of 1 were new\n", run("add " + url + " -", "printf 'apple\\n' |").out) << form;
    const Ran asked = run("query " + url + " apple stone pear --print all");
    EXPECT_EQ("apple\tmaybe\nstone\tabsent\npear\tmaybe\n", asked.out) << form << asked.err;
    EXPECT_EQ(1, asked.status);
    const Ran seen = run("inspect " + url + " --json");
    ASSERT_EQ(0, seen.status) << seen.err;
    const auto figures = boost::json::parse(seen.out).as_object();
    EXPECT_EQ(2, figures.at("estimated_items").to_number<int>()) << form;
    EXPECT_EQ(0, run("drop " + url).status) << form;
    EXPECT_EQ(0, server_->command({"DBSIZE"}).integer) << form;
    expect_refusal("query " + url + " apple", "there is no", "");
    expect_refusal("drop " + url, "there is no");
  }
}

TEST_F(RedisTargetTest, LoadsANewGenerationAndKeepsWhatWasAddedMeanwhile) {
  write("keys", numbers(0, 20'000));
  const Ran loaded = run("load " + target("") + " keys --json");
  ASSERT_EQ(0, loaded.status) << loaded.err;
  EXPECT_EQ("20000\n", run("query " + target("") + " --count", "cat keys |").out);
  ASSERT_EQ(0, run("add " + target("") + " later").status);
  write("fewer", numbers(0, 10));
  ASSERT_EQ(0, run("load " + target("") + " fewer").status);
  EXPECT_EQ("5\tmaybe\nlater\tmaybe\n", run("query " + target("") + " 5 later --print all").out);
  EXPECT_EQ("15000\tabsent\n", run("query " + target("") + " 15000 --print all").out);
  for (const std::string form : {"&as=redisson", "&as=guava&items=20000&fpr=0.01"}) {
    server_->command({"FLUSHALL"});
    ASSERT_EQ(0, run("load " + target(form) + " keys --fpr 0.01").status) << form;
    EXPECT_EQ("20000\n", run("query " + target(form) + " --count", "cat keys |").out) << form;
  }
}

TEST_F(RedisTargetTest, KnowsTheSpellingsOfOneKey) {
  ASSERT_EQ(0, run("create " + target("") + " --items 1000 --key-type int").status);
  ASSERT_EQ(0, run("add " + target("") + " 007").status);
  EXPECT_EQ("7\tmaybe\n+07\tmaybe\nx\tunknown\n",
            run("query " + target("") + " 7 +07 x --print all").out);
  expect_refusal("query " + target("") + " 7 --key-type uuid", "keys of type int");
}

TEST_F(RedisTargetTest, SaysInOneLineWhatIsWrong) {
  ASSERT_EQ(0, run("create " + target("") + " --items 1000").status);
  expect_refusal("create " + target("") + " --items 2000", "exists already");
  expect_refusal("create " + target("") + " --items 1000 --fpr 0.02", "exists already");
  expect_refusal("query 'redis://127.0.0.1:1?filter=f' key", "cannot connect to 127.0.0.1:1");
  expect_refusal("query " + target("", "me:wrong@") + " key", "log-in was refused");
  expect_refusal("query 'redis://" + server_->address() + "/99?filter=f' key", "out of range");
  expect_refusal("query 'redis://" + server_->address() + "/5?filter=f' key", "there is no filter");
  expect_refusal("query 'redis://" + server_->address() + "' key", "names no filter");
  expect_refusal("query " + target("&as=what") + " key", "as=what");
  expect_refusal("query " + target("&what=1") + " key", "unknown parameter 'what'");
  expect_refusal("query " + target("&as=guava") + " key", "items=N");
  expect_refusal("query " + target("&as=redisson&codec=what") + " key", "codec");
  expect_refusal("query 'redis+cluster://" + server_->address() + "?filter=f' key", "Cluster");
  expect_refusal("query 'redis+sentinel://" + server_->address() + "/m?filter=f' key", "Sentinel");
  expect_refusal("query 'reddis://" + server_->address() + "?filter=f' key", "reddis");
  expect_refusal("add " + target("&as=bf") + " key", "module");
  expect_refusal("load " + target("") + " /no/such/file", "no/such");
  server_->command({"SET", "guestlist:{f/0}:state", "text"});
  expect_refusal("query " + target("") + " key", "WRONGTYPE");
}

TEST_F(RedisTargetTest, ReachesAClusterAndSpreadsItsShards) {
  auto cluster = required(RedisCluster::start());
  const std::string url = "'redis+cluster://127.0.0.1:" + std::to_string(cluster.node(0).port()) +
                          "?filter=f&shards=8'";
  write("keys", numbers(0, 5000));
  const Ran loaded = run("load " + url + " keys");
  ASSERT_EQ(0, loaded.status) << loaded.err;
  EXPECT_EQ("5000\n", run("query " + url + " --count", "cat keys |").out);
  EXPECT_EQ("1 of 1 were new\n", run("add " + url + " later").out);
  EXPECT_EQ(0, run("drop " + url).status);
  expect_refusal("create 'redis+cluster://127.0.0.1:" + std::to_string(cluster.node(0).port()) +
                     "?filter=a{b&as=redisson' --items 1000",
                 "slot");
}

}  // namespace
}  // namespace guestlist
