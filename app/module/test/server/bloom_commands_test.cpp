// BF.* on the wire: every reply and every refusal, byte for byte.

#include "module_server.hpp"

namespace guestlist::server {
namespace {

class BloomCommands : public ModuleTest {};
GUESTLIST_ON_EVERY_SERVER(BloomCommands);

TEST_P(BloomCommands, ReserveRefusesWhatCannotBe) {
  EXPECT_EQ(ask("BF.RESERVE k 0.01"),
            "-ERR wrong number of arguments for 'BF.RESERVE' command\r\n");
  EXPECT_EQ(ask("BF.RESERVE k x 100"), "-ERR bad error rate\r\n");
  EXPECT_EQ(ask("BF.RESERVE k nan 100"), "-ERR bad error rate\r\n");
  for (const char* const rate : {"0", "1", "-0.1", "2", "inf"}) {
    EXPECT_EQ(ask({"BF.RESERVE", "k", rate, "100"}),
              "-ERR error rate must be in the range (0.000000, 1.000000)\r\n")
        << rate;
  }
  EXPECT_EQ(ask("BF.RESERVE k 0.01 x"), "-ERR bad capacity\r\n");
  EXPECT_EQ(ask("BF.RESERVE k 0.01 9223372036854775808"), "-ERR bad capacity\r\n");
  for (const char* const capacity : {"0", "-1", "1073741825", "9223372036854775807"}) {
    EXPECT_EQ(ask({"BF.RESERVE", "k", "0.01", capacity}),
              "-ERR capacity must be in the range [1, 1073741824]\r\n")
        << capacity;
  }
  EXPECT_EQ(ask("BF.RESERVE k 0.01 100 EXPANSION"), "-ERR no expansion\r\n");
  EXPECT_EQ(ask("BF.RESERVE k 0.01 100 EXPANSION x"), "-ERR bad expansion\r\n");
  EXPECT_EQ(ask("BF.RESERVE k 0.01 100 EXPANSION -1"),
            "-ERR expansion must be in the range [0, 32768]\r\n");
  EXPECT_EQ(ask("BF.RESERVE k 0.01 100 EXPANSION 32769"),
            "-ERR expansion must be in the range [0, 32768]\r\n");
  EXPECT_EQ(ask("BF.RESERVE k 0.01 100 NONSCALING EXPANSION 2"),
            "-Nonscaling filters cannot expand\r\n");
  EXPECT_EQ(ask("BF.RESERVE k 0.01 100 a b c d"),
            "-ERR wrong number of arguments for 'BF.RESERVE' command\r\n");
  EXPECT_EQ(ask("EXISTS k"), ":0\r\n") << "a refusal leaves the key as it was";
}

TEST_P(BloomCommands, ReserveTakesWhatItKnows) {
  EXPECT_EQ(ask("BF.RESERVE k 0.01 100 nonscaling expansion 0"), "+OK\r\n");
  EXPECT_EQ(ask("BF.RESERVE k 0.01 100"), "-ERR item exists\r\n");
  EXPECT_EQ(ask("BF.RESERVE unknown 0.01 100 whatever"), "+OK\r\n");
  EXPECT_EQ(ask("BF.RESERVE expansion 0.01 100"), "+OK\r\n") << "a key may be named as an option";
  EXPECT_EQ(ask("BF.INFO expansion EXPANSION"), "*1\r\n:2\r\n");
  EXPECT_EQ(ask("SET text x"), "+OK\r\n");
  EXPECT_EQ(ask("BF.RESERVE text 0.01 100"),
            "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n");
}

TEST_P(BloomCommands, AddTellsWhatIsNew) {
  EXPECT_EQ(ask("BF.ADD k a"), ":1\r\n");
  EXPECT_EQ(ask("BF.ADD k a"), ":0\r\n");
  EXPECT_EQ(ask("BF.MADD k a b b c"), "*4\r\n:0\r\n:1\r\n:0\r\n:1\r\n");
  EXPECT_EQ(ask("BF.EXISTS k a"), ":1\r\n");
  EXPECT_EQ(ask("BF.EXISTS k z"), ":0\r\n");
  EXPECT_EQ(ask("BF.MEXISTS k a z c"), "*3\r\n:1\r\n:0\r\n:1\r\n");
  EXPECT_EQ(ask("BF.CARD k"), ":3\r\n");
  EXPECT_EQ(ask("HELLO 3").substr(0, 1), "%");
  EXPECT_EQ(ask("BF.ADD k d"), "#t\r\n");
  EXPECT_EQ(ask("BF.MADD k d e"), "*2\r\n#f\r\n#t\r\n");
  EXPECT_EQ(ask("BF.EXISTS k e"), "#t\r\n");
  EXPECT_EQ(ask("BF.MEXISTS k e z"), "*2\r\n#t\r\n#f\r\n");
  EXPECT_EQ(ask("BF.CARD k"), ":5\r\n");
}

TEST_P(BloomCommands, ItemsAreBytes) {
  const std::string zero("\0a", 2);
  EXPECT_EQ(ask({"BF.ADD", "k", ""}), ":1\r\n");
  EXPECT_EQ(ask({"BF.ADD", "k", zero}), ":1\r\n");
  EXPECT_EQ(ask({"BF.EXISTS", "k", std::string("\0b", 2)}), ":0\r\n");
  const std::string long_item(1 << 20, 'x');
  EXPECT_EQ(ask({"BF.ADD", "k", long_item}), ":1\r\n");
  EXPECT_EQ(ask({"BF.MEXISTS", "k", "", zero, long_item}), "*3\r\n:1\r\n:1\r\n:1\r\n");
}

TEST_P(BloomCommands, MissingKeysAndOtherTypes) {
  EXPECT_EQ(ask("BF.EXISTS none a"), ":0\r\n");
  EXPECT_EQ(ask("BF.MEXISTS none a b"), "*2\r\n:0\r\n:0\r\n");
  EXPECT_EQ(ask("BF.CARD none"), ":0\r\n");
  EXPECT_EQ(ask("BF.INFO none"), "-ERR not found\r\n");
  EXPECT_EQ(ask("BF.SCANDUMP none 0"), "-ERR not found\r\n");
  EXPECT_EQ(ask("BF.DEBUG none"), "-ERR not found\r\n");
  ask("SET text x");
  const std::string wrong =
      "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
  EXPECT_EQ(ask("BF.EXISTS text a"), ":0\r\n");
  EXPECT_EQ(ask("BF.MEXISTS text a b"), "*2\r\n:0\r\n:0\r\n");
  EXPECT_EQ(ask("BF.ADD text a"), wrong);
  EXPECT_EQ(ask("BF.MADD text a"), wrong);
  EXPECT_EQ(ask("BF.INSERT text ITEMS a"), wrong);
  EXPECT_EQ(ask("BF.CARD text"), wrong);
  EXPECT_EQ(ask("BF.INFO text"), wrong);
  EXPECT_EQ(ask("BF.SCANDUMP text 0"), wrong);
  EXPECT_EQ(ask("BF.LOADCHUNK text 1 x"), wrong);
  EXPECT_EQ(ask("GET text"), "$1\r\nx\r\n");
}

TEST_P(BloomCommands, FixedFiltersFill) {
  EXPECT_EQ(ask("BF.RESERVE k 0.01 2 NONSCALING"), "+OK\r\n");
  EXPECT_EQ(ask("BF.MADD k a b c d e"), "*3\r\n:1\r\n:1\r\n-ERR non scaling filter is full\r\n");
  EXPECT_EQ(ask("BF.ADD k c"), "-ERR non scaling filter is full\r\n");
  EXPECT_EQ(ask("BF.ADD k a"), ":0\r\n");
  EXPECT_EQ(ask("BF.INSERT k ITEMS a c"), "*2\r\n:0\r\n-ERR non scaling filter is full\r\n");
  EXPECT_EQ(ask("BF.CARD k"), ":2\r\n");
  EXPECT_EQ(ask("BF.INFO k EXPANSION"), "*1\r\n$-1\r\n");
}

TEST_P(BloomCommands, InsertReadsItsOptionsByTheirFirstLetters) {
  EXPECT_EQ(ask("BF.INSERT k capXX 10 errZZ 0.2 nonQ Ifoo a"), "*1\r\n:1\r\n");
  EXPECT_EQ(ask("BF.INFO k CAPACITY"), "*1\r\n:10\r\n");
  EXPECT_EQ(ask("BF.INFO k EXPANSION"), "*1\r\n$-1\r\n");
  EXPECT_EQ(ask("BF.INSERT none NOCREATE ITEMS a"), "-ERR not found\r\n");
  EXPECT_EQ(ask("BF.INSERT k NOCREATE ITEMS a b"), "*2\r\n:0\r\n:1\r\n");
  EXPECT_EQ(ask("BF.INSERT k CAPACITY 99 ITEMS a"), "*1\r\n:0\r\n") << "ignored where it exists";
  EXPECT_EQ(ask("BF.INSERT x ERROR 2 ITEMS a"), "-Bad error rate\r\n");
  EXPECT_EQ(ask("BF.INSERT x ERROR nan ITEMS a"), "-Bad error rate\r\n");
  EXPECT_EQ(ask("BF.INSERT x CAPACITY 0 ITEMS a"), "-Bad capacity\r\n");
  EXPECT_EQ(ask("BF.INSERT x CAPACITY 9223372036854775808 ITEMS a"), "-Bad capacity\r\n");
  EXPECT_EQ(ask("BF.INSERT x EXPANSION -1 ITEMS a"), "-Bad expansion\r\n");
  EXPECT_EQ(ask("BF.INSERT x EXPANSION x ITEMS a"), "-Bad expansion\r\n");
  EXPECT_EQ(ask("BF.INSERT x WHAT ITEMS a"), "-Unknown argument received\r\n");
  const std::string arity = "-ERR wrong number of arguments for 'BF.INSERT' command\r\n";
  EXPECT_EQ(ask("BF.INSERT x NOCREATE ITEMS"), arity);
  EXPECT_EQ(ask("BF.INSERT x NOCREATE CAPACITY"), arity);
  EXPECT_EQ(ask("BF.INSERT x CAPACITY 10"), arity);
  EXPECT_EQ(ask("BF.INSERT y NONSCALING EXPANSION 4 ITEMS a"), "*1\r\n:1\r\n");
  EXPECT_EQ(ask("BF.INFO y EXPANSION"), "*1\r\n$-1\r\n");
  EXPECT_EQ(ask("EXISTS x"), ":0\r\n");
}

TEST_P(BloomCommands, InsertTakesTheOptionsOfValkey) {
  const std::string seed = "0123456789abcdef0123456789ABCDEF";
  EXPECT_EQ(ask({"BF.INSERT", "a", "SEED", seed, "CAPACITY", "100", "ITEMS", "x", "y"}),
            "*2\r\n:1\r\n:1\r\n");
  EXPECT_EQ(ask({"BF.INSERT", "b", "CAPACITY", "100", "SEED", seed}), "*0\r\n");
  EXPECT_EQ(ask("BF.MADD b x y"), "*2\r\n:1\r\n:1\r\n");
  EXPECT_EQ(ask("DUMP a"), ask("DUMP b")) << "one seed, one set of bits";
  EXPECT_EQ(ask("BF.INSERT c SEED short"), "-ERR invalid seed\r\n");
  EXPECT_EQ(ask("BF.INSERT c TIGHTENING x"), "-ERR bad tightening ratio\r\n");
  EXPECT_EQ(ask("BF.INSERT c TIGHTENING 1"), "-ERR (0 < tightening ratio range < 1)\r\n");
  EXPECT_EQ(ask("BF.INSERT c TIGHTENING 0.5 ITEMS x"), "*1\r\n:1\r\n");
  EXPECT_EQ(ask("BF.INSERT d NONSCALING VALIDATESCALETO 100"),
            "-ERR cannot use NONSCALING and VALIDATESCALETO options together\r\n");
  EXPECT_EQ(ask("BF.INSERT d CAPACITY 1 VALIDATESCALETO 100000000000"),
            "-ERR provided VALIDATESCALETO causes bloom object to exceed memory limit\r\n");
  EXPECT_EQ(ask("BF.INSERT d CAPACITY 1 EXPANSION 1 TIGHTENING 0.1 VALIDATESCALETO 100"),
            "-ERR provided VALIDATESCALETO causes false positive to degrade to 0\r\n");
  EXPECT_EQ(ask("BF.INSERT d CAPACITY 100 VALIDATESCALETO 10000 ITEMS x"), "*1\r\n:1\r\n");
}

TEST_P(BloomCommands, InfoIsAnArrayAndAMap) {
  ask("CONFIG SET bf.bf-layout classic");
  ask("BF.RESERVE k 0.001 100");
  EXPECT_EQ(ask("BF.INFO k"),
            "*10\r\n+Capacity\r\n:100\r\n+Size\r\n:296\r\n+Number of filters\r\n:1\r\n"
            "+Number of items inserted\r\n:0\r\n+Expansion rate\r\n:2\r\n");
  EXPECT_EQ(ask("BF.INFO k size"), "*1\r\n:296\r\n");
  EXPECT_EQ(ask("BF.INFO k filters"), "*1\r\n:1\r\n");
  EXPECT_EQ(ask("BF.INFO k ITEMS"), "*1\r\n:0\r\n");
  EXPECT_EQ(ask("BF.INFO k nothing"), "-Invalid information value\r\n");
  ask("HELLO 3");
  EXPECT_EQ(ask("BF.INFO k"),
            "%5\r\n+Capacity\r\n:100\r\n+Size\r\n:296\r\n+Number of filters\r\n:1\r\n"
            "+Number of items inserted\r\n:0\r\n+Expansion rate\r\n:2\r\n");
  EXPECT_EQ(ask("BF.INFO k CAPACITY"), "%1\r\n+Capacity\r\n:100\r\n");
  ask("BF.RESERVE fixed 0.001 100 NONSCALING");
  EXPECT_EQ(ask("BF.INFO fixed EXPANSION"), "%1\r\n+Expansion rate\r\n_\r\n");
}

TEST_P(BloomCommands, ChunksAreRefusedWithTheirReason) {
  EXPECT_EQ(ask("BF.SCANDUMP k x"), "-Second argument must be numeric\r\n");
  EXPECT_EQ(ask("BF.LOADCHUNK k x y"), "-ERR Second argument must be numeric\r\n");
  EXPECT_EQ(ask("BF.LOADCHUNK k 2 y"), "-ERR not found\r\n");
  EXPECT_EQ(ask("BF.LOADCHUNK k 1 y"), "-ERR received bad data\r\n");
  ask("BF.RESERVE k 0.01 100");
  EXPECT_EQ(ask("BF.LOADCHUNK k 1 y"), "-ERR received bad data\r\n");
  EXPECT_EQ(ask("BF.LOADCHUNK k 0 y"), "-ERR received bad data\r\n");
  EXPECT_EQ(ask("BF.LOADCHUNK k -5 y"), "-ERR received bad data\r\n");
  EXPECT_EQ(ask("BF.LOADCHUNK k 100000 y"), "-ERR invalid offset - no link found\r\n");
  EXPECT_EQ(ask({"BF.LOADCHUNK", "k", "9001", std::string(9000, 'x')}),
            "-ERR invalid chunk - Too big for current filter\r\n");
  EXPECT_EQ(ask("BF.SCANDUMP k -1"), "*2\r\n:0\r\n$0\r\n\r\n");
  EXPECT_EQ(ask("BF.SCANDUMP k 100000"), "*2\r\n:0\r\n$0\r\n\r\n");
}

TEST_P(BloomCommands, SettingsMakeTheDefaults) {
  EXPECT_EQ(ask("CONFIG SET bf.bf-initial-size 5000 bf.bf-expansion-factor 0 bf.bf-error-rate 0.4"),
            "+OK\r\n");
  EXPECT_EQ(ask("CONFIG GET bf.bf-error-rate"), "*2\r\n$16\r\nbf.bf-error-rate\r\n$4\r\n0.25\r\n");
  ask("BF.ADD k a");
  EXPECT_EQ(ask("BF.INFO k CAPACITY"), "*1\r\n:5000\r\n");
  EXPECT_EQ(ask("BF.INFO k EXPANSION"), "*1\r\n$-1\r\n");
  EXPECT_NE(ask("CONFIG SET bf.bf-error-rate 1")
                .find("Value for `bf-error-rate` must be in the range (0.000000, 1.000000)"),
            std::string::npos);
  EXPECT_NE(ask("CONFIG SET bf.bf-error-rate x").find("Invalid value for `bf-error-rate`"),
            std::string::npos);
  EXPECT_EQ(ask("CONFIG SET bf.bf-initial-size 0").substr(0, 1), "-");
  EXPECT_EQ(ask("CONFIG SET bf.bloom-capacity 7"), "+OK\r\n");
  EXPECT_EQ(ask("CONFIG GET bf.bf-initial-size"), "*2\r\n$18\r\nbf.bf-initial-size\r\n$1\r\n7\r\n");
}

TEST_P(BloomCommands, MemoryIsRefusedBeforeItIsTaken) {
  EXPECT_EQ(ask("CONFIG SET bf.bf-memory-limit 1mb"), "+OK\r\n");
  EXPECT_EQ(ask("BF.RESERVE k 0.001 1000000"),
            "-ERR operation exceeds bloom object memory limit\r\n");
  EXPECT_EQ(ask("CONFIG SET bf.bf-memory-limit 0 maxmemory 100mb"), "+OK\r\n");
  EXPECT_EQ(ask("BF.RESERVE k 0.001 100000000"), "-ERR Insufficient memory to create filter\r\n");
  EXPECT_EQ(ask("CONFIG SET maxmemory 0 bf.bf-max-capacity 100000000000"), "+OK\r\n");
  EXPECT_EQ(ask("BF.RESERVE k 0.001 100000000000"),
            "-ERR Insufficient memory to create filter\r\n");
  EXPECT_EQ(ask("EXISTS k"), ":0\r\n");
}

}  // namespace
}  // namespace guestlist::server
