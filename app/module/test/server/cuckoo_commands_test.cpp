// CF.* on the wire: every reply and every refusal, byte for byte.

#include "guestlist/hash/murmur2.hpp"
#include "module_server.hpp"

namespace guestlist::server {
namespace {

constexpr const char* wrong_type =
    "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";

class CuckooCommands : public ModuleTest {
 protected:
  std::string wrong_arity(const std::string& command) {
    return "-ERR wrong number of arguments for '" + command + "' command\r\n";
  }
};
GUESTLIST_ON_EVERY_SERVER(CuckooCommands);

TEST_P(CuckooCommands, ReserveRefusesWhatCannotBe) {
  EXPECT_EQ(ask("CF.RESERVE k 100 BUCKETSIZE"), wrong_arity("CF.RESERVE"));
  EXPECT_EQ(ask("CF.RESERVE k x"), "-Bad capacity\r\n");
  EXPECT_EQ(ask("CF.RESERVE k 9223372036854775808"), "-Bad capacity\r\n");
  for (const char* const option : {"MAXITERATIONS", "BUCKETSIZE", "EXPANSION"}) {
    EXPECT_EQ(ask({"CF.RESERVE", "k", "100", "x", option}),
              "-Couldn't parse " + std::string(option) + "\r\n")
        << "the last word";
    EXPECT_EQ(ask({"CF.RESERVE", "k", "100", option, "y"}),
              "-Couldn't parse " + std::string(option) + "\r\n");
  }
  for (const char* const number : {"0", "-1", "65536", "9223372036854775807"})
    EXPECT_EQ(ask({"CF.RESERVE", "k", "100", "MAXITERATIONS", number}),
              "-MAXITERATIONS: value must be in the range [1, 65535]\r\n");
  for (const char* const number : {"0", "-1", "256"})
    EXPECT_EQ(ask({"CF.RESERVE", "k", "100", "BUCKETSIZE", number}),
              "-BUCKETSIZE: value must be in the range [1, 255]\r\n");
  for (const char* const number : {"-1", "32769"})
    EXPECT_EQ(ask({"CF.RESERVE", "k", "100", "EXPANSION", number}),
              "-EXPANSION: value must be in the range [0, 32768]\r\n");
  for (const char* const capacity : {"3", "0", "-5", "1073741825", "9223372036854775807"})
    EXPECT_EQ(ask({"CF.RESERVE", "k", capacity}),
              "-Capacity must be in the range [2 * BUCKETSIZE, 1073741824]\r\n");
  EXPECT_EQ(ask("EXISTS k"), ":0\r\n") << "a refusal leaves the key as it was";
}

TEST_P(CuckooCommands, ReserveTakesWhatItKnows) {
  EXPECT_EQ(ask("CF.RESERVE k 100 bucketsize 4 expansion 3 maxiterations 7"), "+OK\r\n");
  EXPECT_EQ(ask("CF.DEBUG k"),
            "$77\r\nbktsize:4 buckets:32 items:0 deletes:0 filters:1 max_iterations:7 "
            "expansion:4\r\n");
  EXPECT_EQ(ask("CF.RESERVE k 100"), "-ERR item exists\r\n");
  EXPECT_EQ(ask("CF.RESERVE expansion 100"), "+OK\r\n") << "a key may be named as an option";
  EXPECT_EQ(ask("CF.RESERVE unknown 100 what ever"), "+OK\r\n");
  ask("SET text x");
  EXPECT_EQ(ask("CF.RESERVE text 100"), wrong_type);
}

TEST_P(CuckooCommands, AddsCopiesAndDeletesThem) {
  EXPECT_EQ(ask("CF.ADD k a"), ":1\r\n");
  EXPECT_EQ(ask("CF.ADD k a"), ":1\r\n");
  EXPECT_EQ(ask("CF.ADDNX k a"), ":0\r\n");
  EXPECT_EQ(ask("CF.ADDNX k b"), ":1\r\n");
  EXPECT_EQ(ask("CF.COUNT k a"), ":2\r\n");
  EXPECT_EQ(ask("CF.MEXISTS k a b z"), "*3\r\n:1\r\n:1\r\n:0\r\n");
  EXPECT_EQ(ask("CF.DEL k a"), ":1\r\n");
  EXPECT_EQ(ask("CF.EXISTS k a"), ":1\r\n");
  EXPECT_EQ(ask("CF.DEL k a"), ":1\r\n");
  EXPECT_EQ(ask("CF.EXISTS k a"), ":0\r\n");
  EXPECT_EQ(ask("CF.DEL k a"), ":0\r\n");
  EXPECT_EQ(ask("CF.INSERT k CAPACITY 50 ITEMS c d"), "*2\r\n:1\r\n:1\r\n");
  EXPECT_EQ(ask("CF.INSERTNX k NOCREATE ITEMS c e"), "*2\r\n:0\r\n:1\r\n");
  ask("HELLO 3");
  EXPECT_EQ(ask("CF.ADD k f"), "#t\r\n");
  EXPECT_EQ(ask("CF.ADDNX k f"), "#f\r\n");
  EXPECT_EQ(ask("CF.INSERT k ITEMS g"), "*1\r\n#t\r\n");
  EXPECT_EQ(ask("CF.INSERTNX k ITEMS g h"), "*2\r\n:0\r\n:1\r\n");
  EXPECT_EQ(ask("CF.COUNT k f"), ":1\r\n");
  EXPECT_EQ(ask("CF.EXISTS k f"), "#t\r\n");
  EXPECT_EQ(ask("CF.MEXISTS k f z"), "*2\r\n#t\r\n#f\r\n");
  EXPECT_EQ(ask("CF.DEL k f"), "#t\r\n");
  EXPECT_EQ(ask("CF.INFO k").substr(0, 4), "%8\r\n");
}

TEST_P(CuckooCommands, FullFiltersSaySo) {
  EXPECT_EQ(ask("CF.RESERVE k 4 EXPANSION 0"), "+OK\r\n");
  std::string last;
  for (int i = 0; i < 5; ++i) last = ask("CF.ADD k same");
  EXPECT_EQ(last, "-Filter is full\r\n");
  EXPECT_EQ(ask("CF.INSERT k ITEMS same"), "*1\r\n:-1\r\n");
  ask("CONFIG SET bf.cf-max-expansions 1");
  ask("CF.RESERVE grows 4");
  for (int i = 0; i < 5; ++i) last = ask("CF.ADD grows same");
  EXPECT_EQ(last, "-Maximum expansions reached\r\n");
  ask("HELLO 3");
  EXPECT_EQ(ask("CF.INSERT k ITEMS same"), "*1\r\n#f\r\n");
  EXPECT_EQ(ask("CF.INSERTNX k ITEMS same"), "*1\r\n:0\r\n");
}

TEST_P(CuckooCommands, StrictFiltersAskTheLimitFirst) {
  ask("CONFIG SET bf.cf-strict yes");
  ask("CONFIG SET bf.cf-max-expansions 1");
  EXPECT_EQ(ask("CF.RESERVE k 1000"), "+OK\r\n");
  EXPECT_EQ(ask("CF.ADD k a"), "-Maximum expansions reached\r\n");
  EXPECT_EQ(ask("CF.INSERT k ITEMS a b"), "-Maximum expansions reached\r\n");
}

TEST_P(CuckooCommands, InsertRefusesWhatItDoesNotKnow) {
  EXPECT_EQ(ask("CF.INSERT k WHAT ITEMS a"), "-Unknown argument received\r\n");
  EXPECT_EQ(ask("CF.INSERT k CAPACITY x ITEMS a"), "-Bad capacity\r\n");
  EXPECT_EQ(ask("CF.INSERT k CAPACITY 3 ITEMS a"),
            "-Capacity must be in the range [cf-bucket-size * 2, 1073741824]\r\n");
  EXPECT_EQ(ask("CF.INSERT k NOCREATE ITEMS a"), "-ERR not found\r\n");
  EXPECT_EQ(ask("CF.INSERT k NOCREATE ITEMS"), wrong_arity("CF.INSERT"));
  EXPECT_EQ(ask("CF.INSERT k NOCREATE CAPACITY"), wrong_arity("CF.INSERT"));
  EXPECT_EQ(ask("CF.INSERT k CAPACITY 100"), wrong_arity("CF.INSERT"));
  EXPECT_EQ(ask({"CF.INSERT", "k", "", "ITEMS", "a"}), "-Unknown argument received\r\n");
  EXPECT_EQ(ask("EXISTS k"), ":0\r\n");
}

TEST_P(CuckooCommands, MissingKeysAndOtherTypes) {
  EXPECT_EQ(ask("CF.EXISTS none a"), ":0\r\n");
  EXPECT_EQ(ask("CF.MEXISTS none a b"), "*2\r\n:0\r\n:0\r\n");
  EXPECT_EQ(ask("CF.COUNT none a"), ":0\r\n");
  EXPECT_EQ(ask("CF.DEL none a"), "-Not found\r\n");
  EXPECT_EQ(ask("CF.COMPACT none"), "-Cuckoo filter was not found\r\n");
  for (const char* const command : {"CF.INFO none", "CF.DEBUG none", "CF.HAZARD none",
                                    "CF.SCANDUMP none 0", "CF.LOADCHUNK none 2 x"})
    EXPECT_EQ(ask(std::string(command)), "-ERR not found\r\n") << command;
  ask("SET text x");
  EXPECT_EQ(ask("CF.EXISTS text a"), ":0\r\n");
  EXPECT_EQ(ask("CF.COUNT text a"), ":0\r\n");
  EXPECT_EQ(ask("CF.DEL text a"), "-Not found\r\n");
  for (const char* const command : {"CF.ADD text a", "CF.ADDNX text a", "CF.INSERT text ITEMS a",
                                    "CF.LOADCHUNK text 1 x", "CF.INFO text"})
    EXPECT_EQ(ask(std::string(command)), wrong_type) << command;
  EXPECT_EQ(ask("BF.ADD b a"), ":1\r\n");
  EXPECT_EQ(ask("CF.ADD b a"), wrong_type);
  EXPECT_EQ(ask("GET text"), "$1\r\nx\r\n");
}

TEST_P(CuckooCommands, HostileHeadersAreRefused) {
  EXPECT_EQ(ask("CF.SCANDUMP k x"), "-Invalid position\r\n");
  EXPECT_EQ(ask("CF.SCANDUMP k -1"), "-Invalid position\r\n");
  EXPECT_EQ(ask("CF.LOADCHUNK k 0 x"), "-Invalid position\r\n");
  EXPECT_EQ(ask("CF.LOADCHUNK k 1 x"), "-Invalid header\r\n");
  for (const std::size_t size : {32u, 38u, 46u}) {
    EXPECT_EQ(ask({"CF.LOADCHUNK", "k", "1", std::string(size, '\0')}),
              "-Couldn't create filter!\r\n");
    EXPECT_EQ(ask({"CF.LOADCHUNK", "k", "1", std::string(size, '\xff')}),
              "-Couldn't create filter!\r\n");
  }
  EXPECT_EQ(ask("EXISTS k"), ":0\r\n");
  ask("CF.ADD k a");
  EXPECT_EQ(ask("CF.LOADCHUNK k 1 x"), "-ERR item exists\r\n");
  EXPECT_EQ(ask("CF.LOADCHUNK k 9223372036854775807 x"), "-Couldn't load chunk!\r\n");
  EXPECT_EQ(ask({"CF.LOADCHUNK", "k", "5001", std::string(5000, 'x')}),
            "-Couldn't load chunk!\r\n");
  EXPECT_EQ(ask("CF.EXISTS k a"), ":1\r\n");
}

TEST_P(CuckooCommands, AFilterThatIsBeingLoadedIsNeitherBelievedNorChanged) {
  constexpr const char* refusal =
      "-ERR the filter is still being loaded: send its chunks in order to the last, or delete the "
      "key\r\n";
  for (const bool is_strict : {false, true}) {
    SCOPED_TRACE(is_strict);
    const std::string type = is_strict ? "+MBbloomCF\r\n" : "+GLcuckoo-\r\n";
    ask("FLUSHALL");
    ask({"CONFIG", "SET", "bf.cf-strict", is_strict ? "yes" : "no"});
    ask("CF.RESERVE k 4");
    for (int i = 0; i < 20; ++i) ask({"CF.ADD", "k", std::to_string(i)});
    EXPECT_EQ(ask("TYPE k"), type);
    std::vector<std::pair<std::string, std::string>> all;
    for (std::string next = "0"; all.empty() || next != "0";) {
      // *2, :ITERATOR, $SIZE, bytes
      const std::string reply = ask({"CF.SCANDUMP", "k", next});
      const std::size_t first = reply.find(':') + 1;
      next = reply.substr(first, reply.find('\r', first) - first);
      if (next == "0") break;
      const std::size_t bytes = reply.find('\n', reply.find('$')) + 1;
      all.emplace_back(next, reply.substr(bytes, reply.size() - bytes - 2));
    }
    ASSERT_GE(all.size(), 3u);
    ask({"CF.LOADCHUNK", "copy", all[0].first, all[0].second});
    ask({"CF.LOADCHUNK", "copy", all[1].first, all[1].second});
    ask("COPY copy copied");
    const std::string dump = ask("DUMP copy");
    const std::size_t start = dump.find('\n') + 1;
    ASSERT_EQ(ask({"RESTORE", "restored", "0", dump.substr(start, dump.size() - start - 2)}),
              "+OK\r\n");
    ask("PEXPIREAT copy 9999999999999");
    EXPECT_EQ(ask("DEBUG RELOAD"), "+OK\r\n");
    for (const std::string name : {"copy", "copied", "restored"}) {
      SCOPED_TRACE(name);
      EXPECT_EQ(ask("GL.CHECK " + name + " 19 never"), "*2\r\n+unknown\r\n+unknown\r\n");
      ask("CONFIG SET bf.bf-missing-key maybe");
      EXPECT_EQ(ask("CF.EXISTS " + name + " 19"), ":1\r\n");
      EXPECT_EQ(ask("CF.MEXISTS " + name + " 19 never"), "*2\r\n:1\r\n:1\r\n");
      ask("CONFIG SET bf.bf-missing-key absent");
      for (const char* const change : {"CF.ADD", "CF.ADDNX", "CF.DEL"})
        EXPECT_EQ(ask({change, name, "0"}), refusal) << change;
      EXPECT_EQ(ask("CF.INSERT " + name + " ITEMS 0"), refusal);
      EXPECT_EQ(ask("CF.COMPACT " + name), refusal);
      for (std::size_t i = 2; i < all.size(); ++i)
        ASSERT_EQ(ask({"CF.LOADCHUNK", name, all[i].first, all[i].second}), "+OK\r\n");
      for (int i = 0; i < 20; ++i)
        EXPECT_EQ(ask({"CF.EXISTS", name, std::to_string(i)}), ":1\r\n") << i;
      EXPECT_EQ(ask("TYPE " + name), type);
      EXPECT_EQ(ask("DUMP " + name), ask("DUMP k"));
      EXPECT_EQ(ask("CF.ADD " + name + " more"), ":1\r\n");
    }
    EXPECT_EQ(ask("PEXPIRETIME copy"), ":9999999999999\r\n") << "and expires when it did";
  }
}

TEST_P(CuckooCommands, FiltersOfTheOldHashAnswerByIt) {
  // 16 buckets of two; the buckets and the fingerprint of each item are those of its MurmurHash2.
  constexpr std::size_t buckets = 16;
  std::string slots(2 * buckets, '\0');
  for (const std::string item : {"a", "b", "c"}) {
    const std::uint32_t hash = murmur2_32(item, 0);
    std::size_t at = hash % buckets * 2;
    if (slots[at] != '\0') ++at;
    slots[at] = static_cast<char>(hash % 255 + 1);
  }
  std::string header(32, '\0');
  header[0] = 3;
  header[8] = buckets;
  header[24] = 1;
  ASSERT_EQ(ask({"CF.LOADCHUNK", "k", "1", header}), "+OK\r\n");
  EXPECT_EQ(ask("GL.CHECK k a z"), "*2\r\n+unknown\r\n+unknown\r\n") << "not whole yet";
  ASSERT_EQ(ask({"CF.LOADCHUNK", "k", "33", slots}), "+OK\r\n");
  ask("COPY k copied");
  EXPECT_EQ(ask("DEBUG RELOAD"), "+OK\r\n");
  for (const std::string name : {"k", "copied"}) {
    EXPECT_EQ(ask("CF.MEXISTS " + name + " a b c z"), "*4\r\n:1\r\n:1\r\n:1\r\n:0\r\n");
    EXPECT_EQ(ask("CF.ADD " + name + " d"), ":1\r\n");
    EXPECT_EQ(ask("CF.EXISTS " + name + " d"), ":1\r\n");
    EXPECT_EQ(ask("CF.DEL " + name + " d"), ":1\r\n");
    EXPECT_EQ(ask("CF.COUNT " + name + " a"), ":1\r\n");
    EXPECT_EQ(ask("GL.CHECK " + name + " a z"), "*2\r\n+maybe\r\n+unknown\r\n")
        << "a hash that no filter of its time was compared with proves nothing";
    const std::string dump = ask("CF.SCANDUMP " + name + " 0");
    EXPECT_EQ(dump.substr(0, dump.find('$') + 3), "*2\r\n:1\r\n$32") << "and goes back as it came";
  }
}

TEST_P(CuckooCommands, TablesOfOneSlotAreFilledBeforeTheyGrow) {
  EXPECT_EQ(ask("CF.RESERVE k 200000 BUCKETSIZE 1"), "+OK\r\n");  // 2^19 slots
  for (int first = 0; first < 230'000; first += 10'000) {
    Words words = {"CF.INSERT", "k", "ITEMS"};
    for (int i = first; i < first + 10'000; ++i) words.push_back("one:" + std::to_string(i));
    EXPECT_EQ(ask(words).find("-1"), std::string::npos);
  }
  const std::string told = ask("CF.DEBUG k");
  EXPECT_NE(told.find("buckets:524288 items:230000"), std::string::npos) << told;
  EXPECT_NE(told.find("filters:2 "), std::string::npos) << "its table and the overflow: " << told;
}

TEST_P(CuckooCommands, HazardShowsDeletesThatFoundNothing) {
  ask("CF.RESERVE k 1000");
  ask("CF.ADD k a");
  EXPECT_EQ(ask("CF.ADDNX k a"), ":0\r\n");
  EXPECT_EQ(ask("CF.DEL k never"), ":0\r\n");
  const std::string told = ask("CF.HAZARD k");
  EXPECT_NE(told.find("+Deletes of items that were not there\r\n:1\r\n"), std::string::npos)
      << told;
  EXPECT_NE(told.find("+Adds that stored nothing\r\n:1\r\n"), std::string::npos) << told;
}

TEST_P(CuckooCommands, CopiesAndDumpsAnswerTheSame) {
  ask("CF.RESERVE k 100");
  for (int i = 0; i < 500; ++i) ask({"CF.ADD", "k", std::to_string(i)});
  EXPECT_EQ(ask("COPY k copied"), ":1\r\n");
  EXPECT_EQ(ask("DUMP copied"), ask("DUMP k"));
  std::string dump = ask("DUMP k");
  dump = dump.substr(dump.find('\n') + 1, dump.size() - dump.find('\n') - 3);
  EXPECT_EQ(ask({"RESTORE", "restored", "0", dump}), "+OK\r\n");
  EXPECT_EQ(ask("DEBUG DIGEST-VALUE restored").substr(4), ask("DEBUG DIGEST-VALUE k").substr(4));
  EXPECT_EQ(ask("DUMP restored"), ask("DUMP k"));
}

}  // namespace
}  // namespace guestlist::server
