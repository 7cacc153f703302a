// The commands that only this module has: three answers, filters joined and emptied.

#include "module_server.hpp"

namespace guestlist::server {
namespace {

class OwnCommands : public ModuleTest {
 protected:
  static std::string key(const std::string& name) { return "{t}" + name; }

  /// All chunks of SCANDUMP, as LOADCHUNK takes them.
  std::vector<std::pair<std::string, std::string>> chunks(const std::string& name) {
    std::vector<std::pair<std::string, std::string>> all;
    std::string iterator = "0";
    for (;;) {
      const std::string reply = ask({"BF.SCANDUMP", name, iterator});
      const std::size_t number = reply.find(':') + 1;
      const std::size_t bulk = reply.find('$');
      iterator = reply.substr(number, reply.find('\r', number) - number);
      if (iterator == "0") return all;
      const std::size_t data = reply.find('\n', bulk) + 1;
      all.emplace_back(iterator, reply.substr(data, reply.size() - data - 2));
    }
  }
};
GUESTLIST_ON_EVERY_SERVER(OwnCommands);

constexpr const char* wrong =
    "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";

TEST_P(OwnCommands, CheckTellsAbsentOnlyOfAFilterThatIsThere) {
  EXPECT_EQ(ask("GL.CHECK k a"), "*1\r\n+unknown\r\n");
  ask("BF.ADD k a");
  EXPECT_EQ(ask("GL.CHECK k a z a"), "*3\r\n+maybe\r\n+absent\r\n+maybe\r\n");
  ask("SET text x");
  EXPECT_EQ(ask("GL.CHECK text a b"), "*2\r\n+unknown\r\n+unknown\r\n");
  EXPECT_EQ(ask("GL.CHECK k"), "-ERR wrong number of arguments for 'GL.CHECK' command\r\n");
  ask("UNLINK k");
  EXPECT_EQ(ask("GL.CHECK k a"), "*1\r\n+unknown\r\n");
}

TEST_P(OwnCommands, CheckTellsAbsentOfACuckooFilterUntilItIsDeletedFrom) {
  const auto verdicts = [this] { return ask("GL.CHECK k a z"); };
  ask("CF.RESERVE k 1000");
  EXPECT_EQ(verdicts(), "*2\r\n+absent\r\n+absent\r\n");
  ask("CF.INSERT k ITEMS a b");
  EXPECT_EQ(verdicts(), "*2\r\n+maybe\r\n+absent\r\n");
  ask("CF.DEL k never");
  ask("CF.ADDNX k a");
  EXPECT_EQ(verdicts(), "*2\r\n+maybe\r\n+absent\r\n") << "nothing was taken away";
  ask("CF.DEL k b");
  EXPECT_EQ(verdicts(), "*2\r\n+maybe\r\n+unknown\r\n") << "perhaps it was another's";
  ask("CONFIG SET bf.cf-deletes trusted");
  EXPECT_EQ(verdicts(), "*2\r\n+maybe\r\n+unknown\r\n") << "callers broke the rules";
  EXPECT_EQ(ask("GL.GUARD {k} a k"), wrong);
  EXPECT_EQ(ask("GL.GUARD k z nothing"), "*2\r\n+unknown\r\n$-1\r\n");
}

TEST_P(OwnCommands, CheckTrustsDeletesWhereItIsToldTo) {
  const auto verdict = [this] { return ask("GL.CHECK k z"); };
  const std::string absent = "*1\r\n+absent\r\n";
  const std::string unknown = "*1\r\n+unknown\r\n";
  for (const char* const misuse : {"CF.DEL k never", "CF.ADDNX k a", "CF.INSERTNX k ITEMS a"}) {
    SCOPED_TRACE(misuse);
    ask("FLUSHALL");
    ask("CONFIG SET bf.cf-deletes trusted");
    ask("CF.INSERT k CAPACITY 1000 ITEMS a b");
    ask("CF.DEL k b");
    EXPECT_EQ(verdict(), absent);
    ask("CONFIG SET bf.cf-deletes doubted");
    EXPECT_EQ(verdict(), unknown);
    ask("CONFIG SET bf.cf-deletes trusted");
    EXPECT_EQ(ask("CF.COMPACT k"), "+OK\r\n");
    ask("CONFIG SET bf.cf-deletes doubted");
    EXPECT_EQ(verdict(), unknown) << "what was deleted stays deleted";
    ask("CONFIG SET bf.cf-deletes trusted");
    ask(std::string(misuse));
    EXPECT_EQ(verdict(), unknown);
    ask("COPY k copied");
    EXPECT_EQ(ask("GL.CHECK copied z"), unknown);
  }
}

TEST_P(OwnCommands, CheckDoesNotKnowThePastOfAStrictFilter) {
  ask("CONFIG SET bf.cf-strict yes");
  ask("CF.ADD k a");
  EXPECT_EQ(ask("GL.CHECK k a z"), "*2\r\n+maybe\r\n+unknown\r\n");
  ask("CONFIG SET bf.cf-deletes trusted");
  EXPECT_EQ(ask("GL.CHECK k a z"), "*2\r\n+maybe\r\n+absent\r\n");
}

TEST_P(OwnCommands, CheckDoubtsACuckooFilterWhoseSlotsWereReplaced) {
  ask("CF.RESERVE k 1000");
  ask("CF.ADD k a");
  ask({"CF.LOADCHUNK", "k", "2", std::string(1, '\0')});
  EXPECT_EQ(ask("GL.CHECK k z"), "*1\r\n+absent\r\n") << "the same bytes again";
  ask("CF.LOADCHUNK k 2 x");
  ask("CONFIG SET bf.cf-deletes trusted");
  EXPECT_EQ(ask("GL.CHECK k z"), "*1\r\n+unknown\r\n");
}

TEST_P(OwnCommands, CheckTakesMoreItemsThanABatch) {
  Words add = {"BF.MADD", "k"};
  Words ask_all = {"GL.CHECK", "k"};
  std::string expected = "*1000\r\n";
  for (int i = 0; i < 1000; ++i) {
    add.push_back("in:" + std::to_string(i));
    ask_all.push_back("in:" + std::to_string(i));
    expected += "+maybe\r\n";
  }
  ask(add);
  EXPECT_EQ(ask(ask_all), expected);
}

TEST_P(OwnCommands, AFilterThatIsBeingLoadedIsUnknown) {
  for (const char* const layout : {"native", "classic"}) {
    SCOPED_TRACE(layout);
    ask({"CONFIG", "SET", "bf.bf-layout", layout});
    ask("FLUSHALL");
    ask("BF.RESERVE k 0.01 2 EXPANSION 1");
    ask("BF.MADD k a b c d e f");
    const auto all = chunks("k");
    ASSERT_GE(all.size(), 4u);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(ask("GL.CHECK copy a"), "*1\r\n+unknown\r\n") << "before chunk " << i;
      EXPECT_EQ(ask({"BF.LOADCHUNK", "copy", all[i].first, all[i].second}), "+OK\r\n");
      if (i + 1 == all.size()) break;
      ask("CONFIG SET bf.bf-missing-key maybe");
      EXPECT_EQ(ask("BF.EXISTS copy zzz"), ":1\r\n");
      EXPECT_EQ(ask("BF.MEXISTS copy zzz"), "*1\r\n:1\r\n");
      ask("CONFIG SET bf.bf-missing-key absent");
    }
    EXPECT_EQ(ask("GL.CHECK copy a f nothing"), "*3\r\n+maybe\r\n+maybe\r\n+absent\r\n");
    EXPECT_EQ(ask("BF.LOADCHUNK copy 2 "),
              "-ERR wrong number of arguments for 'BF.LOADCHUNK' "
              "command\r\n");
    EXPECT_EQ(ask({"BF.LOADCHUNK", "copy", "2", ""}), "+OK\r\n") << "says where the load is";
    EXPECT_EQ(ask("GL.CHECK copy a"), "*1\r\n+unknown\r\n");
  }
}

class LoadThatIsNotOver : public OwnCommands {};
GUESTLIST_ON_EVERY_SERVER(LoadThatIsNotOver);

TEST_P(LoadThatIsNotOver, StaysSoInEveryCopy) {
  for (const bool is_classic : {false, true}) {
    SCOPED_TRACE(is_classic);
    const std::string type = is_classic ? "+MBbloom--\r\n" : "+GLbloom--\r\n";
    ask("FLUSHALL");
    ask({"CONFIG", "SET", "bf.bf-layout", is_classic ? "classic" : "native"});
    ask("BF.RESERVE k 0.01 2 EXPANSION 1");
    ask("BF.MADD k a b c d e f");
    EXPECT_EQ(ask("TYPE k"), type);
    const auto all = chunks("k");
    for (std::size_t i = 0; i < 3; ++i)
      ASSERT_EQ(ask({"BF.LOADCHUNK", "copy", all[i].first, all[i].second}), "+OK\r\n");
    const std::string dump = ask("DUMP copy");
    const std::size_t start = dump.find('\n') + 1;
    ASSERT_EQ(ask({"RESTORE", "restored", "0", dump.substr(start, dump.size() - start - 2)}),
              "+OK\r\n");
    ask("COPY copy copied");
    ask("PEXPIREAT copy 9999999999999");
    ask("DEBUG RELOAD");
    for (const std::string name : {"copy", "restored", "copied"}) {
      EXPECT_EQ(ask("GL.CHECK " + name + " a"), "*1\r\n+unknown\r\n") << name;
      for (std::size_t i = 3; i < all.size(); ++i)
        ask({"BF.LOADCHUNK", name, all[i].first, all[i].second});
      EXPECT_EQ(ask("GL.CHECK " + name + " a f"), "*2\r\n+maybe\r\n+maybe\r\n") << name;
      EXPECT_EQ(ask("TYPE " + name), type);
      EXPECT_EQ(ask("DUMP " + name), ask("DUMP k"));
    }
    EXPECT_EQ(ask("PEXPIRETIME copy"), ":9999999999999\r\n") << "and expires when it did";
  }
}

TEST_P(OwnCommands, WhatIsAddedWhileAFilterArrivesStaysInIt) {
  ask("BF.RESERVE k 0.01 1000");
  ask("BF.MADD k a b c d e f");
  const auto all = chunks("k");
  ask({"BF.LOADCHUNK", "copy", all[0].first, all[0].second});
  for (int i = 0; i < 20; ++i) ask({"BF.ADD", "copy", "late" + std::to_string(i)});
  for (std::size_t i = 1; i < all.size(); ++i)
    ASSERT_EQ(ask({"BF.LOADCHUNK", "copy", all[i].first, all[i].second}), "+OK\r\n");
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(ask({"BF.EXISTS", "copy", "late" + std::to_string(i)}), ":1\r\n") << i;
}

TEST_P(OwnCommands, GuardChecksAndGets) {
  EXPECT_EQ(ask("GL.GUARD {t}k a {t}c"), "*2\r\n+unknown\r\n$-1\r\n");
  ask("BF.ADD {t}k a");
  EXPECT_EQ(ask("GL.GUARD {t}k a {t}c"), "*2\r\n+maybe\r\n$-1\r\n");
  EXPECT_EQ(ask("GL.GUARD {t}k z {t}c"), "*2\r\n+absent\r\n$-1\r\n");
  ask("SET {t}c value");
  EXPECT_EQ(ask("GL.GUARD {t}k a {t}c"), "*2\r\n+maybe\r\n$5\r\nvalue\r\n");
  EXPECT_EQ(ask("GL.GUARD {t}k z {t}c"), "*2\r\n+maybe\r\n$5\r\nvalue\r\n")
      << "what is in the cache is not absent";
  EXPECT_EQ(ask("GL.GUARD {t}none z {t}c"), "*2\r\n+unknown\r\n$5\r\nvalue\r\n");
  ask("SET {t}c 12345");
  EXPECT_EQ(ask("GL.GUARD {t}k a {t}c"), "*2\r\n+maybe\r\n$5\r\n12345\r\n");
  ask("LPUSH {t}list x");
  EXPECT_EQ(ask("GL.GUARD {t}k a {t}list"), wrong);
  EXPECT_EQ(ask("GL.GUARD {t}k a"), "-ERR wrong number of arguments for 'GL.GUARD' command\r\n");
  ask("HELLO 3");
  EXPECT_EQ(ask("GL.GUARD {t}k zz {t}no"), "*2\r\n+absent\r\n_\r\n");
}

TEST_P(OwnCommands, MergeJoinsWhatHasOneSecret) {
  for (const char* const layout : {"native", "classic"}) {
    SCOPED_TRACE(layout);
    ask({"CONFIG", "SET", "bf.bf-layout", layout, "bf.bf-random-secret", "no"});
    ask("FLUSHALL");
    ask("BF.RESERVE a 0.01 1000");
    ask("BF.RESERVE b 0.01 1000");
    ask("BF.MADD a a1 a2 both");
    ask("BF.MADD b b1 b2 both");
    EXPECT_EQ(ask("BF.MERGE d a b"), "+OK\r\n");
    EXPECT_EQ(ask("BF.MEXISTS d a1 a2 both b1 b2 zz"),
              "*6\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:0\r\n");
    EXPECT_EQ(ask("BF.CARD d"), ":6\r\n") << "the sum, for nobody knows what is in both";
    EXPECT_EQ(ask("BF.INFO d FILTERS"), "*1\r\n:1\r\n") << "one size, one array";
    EXPECT_EQ(ask("BF.INFO d CAPACITY"), "*1\r\n:1000\r\n");
    EXPECT_EQ(ask("BF.MERGE a a a b b"), "+OK\r\n") << "into itself";
    EXPECT_EQ(ask("BF.CARD a"), ":6\r\n");
    ask("BF.RESERVE large 0.01 100000");
    ask("BF.MADD large l1 l2");
    EXPECT_EQ(ask("BF.MERGE d large"), "+OK\r\n");
    EXPECT_EQ(ask("BF.INFO d FILTERS"), "*1\r\n:2\r\n");
    EXPECT_EQ(ask("BF.MEXISTS d a1 b2 l1 l2"), "*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n");
    EXPECT_EQ(ask("BF.ADD d more"), ":1\r\n");
    EXPECT_EQ(ask("BF.EXISTS large more"), ":0\r\n") << "sources are copied";
    EXPECT_EQ(ask("BF.CARD large"), ":2\r\n");
  }
}

TEST_P(OwnCommands, MergeRefusesAndLeavesTheTargetAsItWas) {
  EXPECT_EQ(ask("BF.MERGE d none"), "-ERR not found\r\n");
  EXPECT_EQ(ask("BF.MERGE d"), "-ERR wrong number of arguments for 'BF.MERGE' command\r\n");
  ask("SET text x");
  EXPECT_EQ(ask("BF.MERGE d text"), wrong);
  ask("BF.ADD a 1");
  EXPECT_EQ(ask("BF.MERGE text a"), wrong);
  ask("BF.ADD b 2");
  EXPECT_EQ(ask("BF.MERGE d a b"),
            "-ERR filters of different layouts or secrets cannot be merged\r\n")
      << "each has a random secret";
  ask("CONFIG SET bf.bf-random-secret no");
  ask("BF.RESERVE fixed 0.01 3 NONSCALING");
  ask("BF.RESERVE same 0.01 3 NONSCALING");
  ask("BF.RESERVE other 0.01 300");
  ask("BF.MADD fixed x y");
  ask("BF.MADD same z w");
  ask("BF.ADD other v");
  EXPECT_EQ(ask("BF.MERGE fixed other"),
            "-ERR only filters of the same size can be merged into one that does not scale\r\n");
  EXPECT_EQ(ask("BF.MERGE fixed same"), "-ERR non scaling filter is full\r\n");
  EXPECT_EQ(ask("BF.MEXISTS fixed x y z w"), "*4\r\n:1\r\n:1\r\n:0\r\n:0\r\n");
  ask("CONFIG SET bf.bf-memory-limit 1kb");
  ask("BF.RESERVE small 0.01 10");
  EXPECT_EQ(ask("CONFIG SET bf.bf-memory-limit 100"), "+OK\r\n");
  EXPECT_EQ(ask("BF.MERGE small other"), "-ERR operation exceeds bloom object memory limit\r\n");
  EXPECT_EQ(ask("EXISTS d"), ":0\r\n");
}

TEST_P(OwnCommands, ClearForgetsEveryItem) {
  EXPECT_EQ(ask("BF.CLEAR k"), "-ERR not found\r\n");
  ask("BF.RESERVE k 0.01 2");
  ask("BF.MADD k a b c d e f g");
  EXPECT_EQ(ask("BF.CLEAR k"), "+OK\r\n");
  EXPECT_EQ(ask("BF.MEXISTS k a b c d e f g"), "*7\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n");
  EXPECT_EQ(ask("BF.CARD k"), ":0\r\n");
  EXPECT_EQ(ask("BF.INFO k FILTERS"), "*1\r\n:1\r\n");
  EXPECT_EQ(ask("BF.INFO k CAPACITY"), "*1\r\n:2\r\n");
  EXPECT_EQ(ask("BF.ADD k a"), ":1\r\n");
  ask("SET text x");
  EXPECT_EQ(ask("BF.CLEAR text"), wrong);
}

TEST_P(OwnCommands, InfoCountsWhatThereIs) {
  const auto number = [this](const std::string& field) {
    const std::string info = ask("INFO modules bf_bloom_core_metrics");
    const std::size_t at = info.find("bf_bloom_" + field + ":");
    return at == std::string::npos ? -1 : std::stoll(info.substr(info.find(':', at) + 1));
  };
  EXPECT_EQ(number("num_objects"), 0);
  ask("BF.RESERVE k 0.01 2");
  ask("BF.MADD k a b c");
  ask("BF.ADD other a");
  EXPECT_EQ(number("num_objects"), 2);
  EXPECT_EQ(number("num_filters_across_objects"), 3);
  EXPECT_EQ(number("num_items_across_objects"), 4);
  EXPECT_EQ(number("capacity_across_objects"), 106);
  EXPECT_GT(number("total_memory_bytes"), 0);
  ask("COPY k copy");
  EXPECT_EQ(number("num_items_across_objects"), 7);
  ask("BF.CLEAR k");
  EXPECT_EQ(number("num_items_across_objects"), 4);
  ask("DEL copy");
  EXPECT_EQ(number("num_objects"), 2);
  ask("FLUSHALL SYNC");
  EXPECT_EQ(number("num_objects"), 0);
  EXPECT_EQ(number("total_memory_bytes"), 0);
}

TEST_P(OwnCommands, InfoCountsCuckooFiltersToo) {
  const auto number = [this](const std::string& field) {
    const std::string info = ask("INFO modules bf_cuckoo_core_metrics");
    const std::size_t at = info.find("bf_cuckoo_" + field + ":");
    return at == std::string::npos ? -1 : std::stoll(info.substr(info.find(':', at) + 1));
  };
  EXPECT_EQ(number("num_objects"), 0);
  ask("CF.RESERVE k 4 BUCKETSIZE 1");
  ask("CF.INSERT k ITEMS a a a");
  ask("CF.ADD other a");
  EXPECT_EQ(number("num_objects"), 2);
  EXPECT_EQ(number("num_filters_across_objects"), 3) << "a table holds an item at most twice";
  EXPECT_EQ(number("num_items_across_objects"), 4);
  EXPECT_EQ(number("total_memory_bytes"), 2 * 16 + 2048);
  EXPECT_EQ(number("capacity_across_objects"), 2 * 16 + 2048);
  ask("CF.DEL k a");
  EXPECT_EQ(number("num_items_across_objects"), 3);
  ask("COPY k copy");
  EXPECT_EQ(number("num_objects"), 3);
  ask("UNLINK copy");
  ask("FLUSHALL SYNC");
  EXPECT_EQ(number("num_objects"), 0);
  EXPECT_EQ(number("total_memory_bytes"), 0);
}

}  // namespace
}  // namespace guestlist::server
