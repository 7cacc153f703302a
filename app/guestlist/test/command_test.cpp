#include <boost/json.hpp>

#include "command_run.hpp"

namespace guestlist {
namespace {

boost::json::object json_of(const std::string& text) {
  boost::system::error_code failed;
  const auto value = boost::json::parse(text, failed);
  EXPECT_FALSE(failed) << text;
  return value.is_object() ? value.as_object() : boost::json::object();
}

double number(const boost::json::object& object, const char* field) {
  const auto* const value = object.if_contains(field);
  EXPECT_TRUE(value != nullptr && value->is_number()) << field;
  return value != nullptr && value->is_number() ? value->to_number<double>() : -1;
}

TEST_F(CommandTest, PlansTheNativeFilterAtMost102TenthsOfABitAKey) {
  const auto plan = json_of(run("plan --items 1000000 --fpr 0.01 --json").out);
  EXPECT_EQ("bloom", plan.at("structure").as_string());
  EXPECT_LE(number(plan, "bits_per_key"), 10.2);
  EXPECT_EQ(1'000'000, number(plan, "items"));
  EXPECT_EQ(number(plan, "size_bytes") * 8, number(plan, "bits"));
}

TEST_F(CommandTest, BuildsAFilterThatDeniesNoKeyAndKeepsTheRate) {
  write("keys", numbers(0, 100'000));
  write("others", numbers(100'000, 200'000));
  for (const char* structure :
       {"bloom", "split-block", "classic-bloom", "counting-bloom", "scalable-bloom", "cuckoo"}) {
    const Ran built =
        run("build keys -o f.gl --fpr 0.01 --json --structure " + std::string(structure));
    ASSERT_EQ(0, built.status) << built.err;
    const auto figures = json_of(built.out);
    EXPECT_EQ(structure, figures.at("structure").as_string());
    EXPECT_EQ(100'000, number(figures, "lines"));
    EXPECT_GE(number(figures, "capacity"), 100'000);
    EXPECT_EQ("100000\n", run("query f.gl --count", "cat keys |").out) << structure;
    const Ran asked = run("query f.gl --json", "cat others |");
    EXPECT_EQ(1, asked.status);
    EXPECT_LE(number(json_of(asked.out), "maybe"), 1000 + 5 * 31.5) << structure;
  }
}

TEST_F(CommandTest, AsksLikeGrep) {
  write("keys", "apple\npear\n");
  ASSERT_EQ(0, run("build keys -o f.gl --fpr 1e-9").status);
  const Ran found = run("query f.gl apple pear");
  EXPECT_EQ(0, found.status);
  EXPECT_EQ("apple\npear\n", found.out);
  const Ran some = run("query f.gl apple stone --print absent");
  EXPECT_EQ(1, some.status);
  EXPECT_EQ("stone\n", some.out);
  EXPECT_EQ("apple\tmaybe\nstone\tabsent\n",
            run("query f.gl --print all", "printf 'apple\\nstone' |").out);
  EXPECT_EQ("1\n", run("query f.gl apple stone --count").out);
  const auto counts = json_of(run("query f.gl apple stone --json").out);
  EXPECT_EQ(1, number(counts, "maybe"));
  EXPECT_EQ(1, number(counts, "absent"));
  EXPECT_EQ(0, number(counts, "unknown"));
}

TEST_F(CommandTest, KnowsTheSpellingsOfOneKey) {
  write("ids", "007\n 8\n+9\nten\n");
  const Ran built = run("build ids -o f.gl --key-type int --fpr 1e-9");
  ASSERT_EQ(0, built.status);
  EXPECT_NE(std::string::npos, built.err.find("1 of 4 keys are no int"));
  const Ran asked = run("query f.gl 7 08 ' 9 ' ten --print all");
  EXPECT_EQ("7\tmaybe\n08\tmaybe\n 9 \tmaybe\nten\tunknown\n", asked.out);
  EXPECT_EQ(0, asked.status);
  expect_refusal("query f.gl 7 --key-type uuid", "built with keys of type int");
}

TEST_F(CommandTest, ReadsColumnsOfCsvAndFieldsOfJson) {
  write("t.csv", "\xEF\xBB\xBFid,name\r\n1,\"a \"\"b\"\"\"\r\n2,\"c\nd\"\r\n");
  ASSERT_EQ(0, run("build t.csv --csv name -o f.gl --fpr 1e-9").status);
  EXPECT_EQ("a \"b\"\n", run("query f.gl 'a \"b\"' 1 id name").out);
  EXPECT_EQ(0, run("query f.gl \"$(printf 'c\\nd')\"").status);
  write("t.jsonl",
        "{\"id\": 12345678901234567890, \"x\": {\"y\": \"z\"}}\n\n{\"id\": \"q\", \"x\": {\"y\": "
        "-1}}\n");
  ASSERT_EQ(0, run("build t.jsonl --json id -o f.gl --fpr 1e-9").status);
  EXPECT_EQ("12345678901234567890\nq\n", run("query f.gl 12345678901234567890 q z").out);
  const Ran both = run("build --json x.y t.jsonl -o f.gl --fpr 1e-9 --json");
  EXPECT_EQ(2, number(json_of(both.out), "lines"));
  EXPECT_EQ("z\n-1\n", run("query f.gl -- z -1 q").out);
}

TEST_F(CommandTest, DoesNotGuessWhetherAWordIsAFieldOrAFile) {
  write("id", "whole line\n");
  write("keys.jsonl", "{\"id\": 7}\n");
  expect_refusal("build keys.jsonl --json id -o refused.gl", "a field or a file?");
  EXPECT_EQ(0, run("build keys.jsonl --json-field id -o f.gl").status);
  EXPECT_EQ("7\n", run("query f.gl 7").out);
  EXPECT_EQ(0, run("build -o f.gl id --json").status);
}

TEST_F(CommandTest, ProvesNothingAboutTheEmptyKeyAndReadsBothLineEnds) {
  write("keys", "a\r\n\r\nb\r\n");
  ASSERT_EQ(0, run("build keys -o f.gl --crlf --fpr 1e-9").status);
  EXPECT_EQ("a\nb\n", run("query f.gl --crlf", "cat keys |").out);
  EXPECT_EQ("\tunknown\n", run("query f.gl '' --print all").out);
}

TEST_F(CommandTest, MergesWhatOneUserBuiltAndRefusesUnlikeFilters) {
  write("a", numbers(0, 1000));
  write("b", numbers(1000, 2000));
  ASSERT_EQ(0, run("build a -o a.gl --items 2000").status);
  ASSERT_EQ(0, run("build b -o b.gl --items 2000").status);
  ASSERT_EQ(0, run("merge a.gl b.gl -o c.gl").status);
  EXPECT_EQ("2000\n", run("query c.gl --count", "cat a b |").out);
  ASSERT_EQ(0, run("build b -o other.gl --items 3000").status);
  expect_refusal("merge a.gl other.gl -o refused.gl", "do not merge");
  ASSERT_EQ(0, run("build b -o split.gl --items 2000 --structure split-block").status);
  expect_refusal("merge a.gl split.gl -o refused.gl", "do not merge");
  ASSERT_EQ(0, run("build b -o secret.gl --items 2000", "rm -r home && mkdir home &&").status);
  expect_refusal("merge a.gl secret.gl -o refused.gl", "do not merge");
}

TEST_F(CommandTest, LeavesAnExistingFilterAlone) {
  const Ran created = run("create f.gl --items 1000 --fpr 0.01 --json");
  ASSERT_EQ(0, created.status) << created.err;
  EXPECT_EQ(1000, number(json_of(created.out), "capacity"));
  EXPECT_EQ("2 of 2 were new\n", run("add f.gl a b").out);
  EXPECT_EQ("1 of 3 were new\n", run("add f.gl -", "printf 'a\\nb\\nc\\n' |").out);
  EXPECT_EQ(0, run("create f.gl --items 1000 --fpr 0.01").status);
  EXPECT_EQ("a\nb\nc\n", run("query f.gl a b c").out);
  const std::string before = read("f.gl");
  EXPECT_EQ(2, run("create f.gl --items 2000 --fpr 0.01").status);
  EXPECT_EQ(2, run("create f.gl --items 1000 --fpr 0.02").status);
  EXPECT_EQ(before, read("f.gl"));
}

TEST_F(CommandTest, LosesNoKeyWhenManyAddAtOnce) {
  ASSERT_EQ(0, run("create f.gl --items 1000 --fpr 0.001").status);
  const std::string adds =
      "for i in 1 2 3 4 5 6 7 8 9 10; do '" GUESTLIST_COMMAND "' add f.gl key-$i & done; wait;";
  run("--version", adds);
  EXPECT_EQ("10\n", run("query f.gl --count", "seq -f 'key-%g' 1 10 |").out);
}

TEST_F(CommandTest, PublishesALoadAsTheNextGeneration) {
  write("old", "a\nb\n");
  write("new", "b\nc\n");
  ASSERT_EQ(0, run("build old -o f.gl --items 100 --fpr 1e-9").status);
  ASSERT_EQ(0, run("load f.gl new").status);
  EXPECT_EQ("a\tabsent\nb\tmaybe\nc\tmaybe\n", run("query f.gl a b c --print all").out);
  EXPECT_EQ(2, number(json_of(run("inspect f.gl --json").out), "generation"));
  write("empty", "");
  EXPECT_EQ(2, run("load f.gl empty").status);
  EXPECT_EQ("b\n", run("query f.gl b").out);
}

TEST_F(CommandTest, NeedsTheSecretWhereTheFileHasOnlyItsFingerprint) {
  write("secret", "000102030405060708090a0b0c0d0e0f\n");
  write("wrong", "100102030405060708090a0b0c0d0e0f\n");
  write("keys", "a\n");
  ASSERT_EQ(0, run("build keys -o f.gl --secret-file secret").status);
  EXPECT_EQ("a\n", run("query f.gl a --secret-file secret").out);
  EXPECT_EQ(2, run("query f.gl a").status);
  EXPECT_EQ(2, run("query f.gl a --secret-file wrong").status);
  EXPECT_EQ(2, run("add f.gl b").status);
}

TEST_F(CommandTest, PrintsEachLineOnceInOrder) {
  const std::string lines = "b\na\nb\n\nc\r\n\na";
  write("in", lines);
  const Ran ran = run("dedup in --items 100 --fpr 1e-9");
  EXPECT_EQ("b\na\n\nc\r\n", ran.out);
  EXPECT_NE(std::string::npos, ran.err.find("7 lines, 3 duplicates"));
  const Ran json = run("dedup --items 100 --fpr 1e-9 --json", "cat in |");
  EXPECT_EQ("b\na\n\nc\r\n", json.out);
  EXPECT_EQ(3, number(json_of(json.err), "duplicates"));
}

TEST_F(CommandTest, RemembersLinesBetweenRuns) {
  EXPECT_EQ("a\nb\n",
            run("dedup --items 100 --fpr 1e-9 --state s.gl", "printf 'a\\nb\\na\\n' |").out);
  EXPECT_EQ("c\n", run("dedup --items 100 --fpr 1e-9 --state s.gl", "printf 'a\\nc\\n' |").out);
  EXPECT_EQ("", run("dedup --state s.gl", "printf 'a\\nb\\nc\\n' |").out);
  EXPECT_EQ(2, run("dedup --items 200 --fpr 1e-9 --state s.gl", "printf 'z\\n' |").status);
}

TEST_F(CommandTest, WritesAndReadsGuavaStreams) {
  write("keys", "user:0\nTom\xE5\x93\xA5\n");
  ASSERT_EQ(0, run("build keys -o f.bin --format guava --funnel string --strategy mitz-32 --items "
                   "1 --fpr 0.03")
                   .status);
  EXPECT_EQ(std::string("\x00\x05\x00\x00\x00\x01\x00\x80\x00\x1b\x60\x00\x1a\x00", 14),
            read("f.bin"));
  EXPECT_EQ("user:0\n", run("query f.bin user:0 --format guava --funnel string").out);
  EXPECT_EQ(1, run("query f.bin user:1 --format guava --funnel string").status);
  EXPECT_EQ("1 of 1 were new\n", run("add f.bin more --format guava --funnel string").out);
  EXPECT_EQ(64, number(json_of(run("inspect f.bin --format guava --json").out), "bits"));
  EXPECT_EQ(0, run("merge f.bin f.bin -o g.bin --format guava").status);
  write("short", std::string("\x01\x07\x7f\xff\xff\xff", 6));
  EXPECT_EQ(2, run("inspect short --format guava").status);
  write("words", "1\nx\n");
  expect_refusal("build words -o refused.gl --format guava --funnel long --items 5",
                 "'x' is no long");
}

TEST_F(CommandTest, SizesGuavaStreamsAsTheVersionAskedFor) {
  write("keys", "a\n");
  const std::string build = "build keys --format guava --funnel string --items 1 --fpr 0.01 --json";
  EXPECT_EQ(6, number(json_of(run(build + " -o old.bin").out), "probes"));
  EXPECT_EQ(7, number(json_of(run(build + " -o new.bin --sizing by-fpr").out), "probes"));
}

TEST_F(CommandTest, RefusesBadInputInOneLineAndWritesNothing) {
  write("keys", "a\nb\n");
  write("empty", "");
  write("t.csv", "id,name\n1,a\n2\n");
  write("open.csv", "id,name\n1,\"a\n");
  write("bad.jsonl", "{\"id\": 1}\n{\"id\": }\n");
  const std::string build = "build keys -o refused.gl ";
  for (const char* fpr : {"0", "1", "NaN", "-1", "abc", "inf", "1e-400"})
    expect_refusal(build + "--fpr " + fpr, "--fpr");
  for (const char* items : {"0", "1e18", "-5", "1.5", "abc", "NaN", "99999999999999999999999"}) {
    expect_refusal(build + "--items " + items, "--items");
    expect_refusal("plan --fpr 0.01 --items " + std::string(items), "--items");
  }
  expect_refusal("build missing -o refused.gl", "cannot read 'missing'");
  expect_refusal("build home -o refused.gl --items 5", "it is a folder");
  expect_refusal("build empty -o refused.gl", "no keys");
  expect_refusal("build keys -o home", "it is a folder");
  expect_refusal("build keys -o no/such/folder/f.gl", "cannot write");
  expect_refusal("build -o refused.gl", "--items is missing", "cat keys |");
  expect_refusal("build t.csv --csv nope -o refused.gl --items 5", "its columns are: id, name");
  expect_refusal("build t.csv --csv id -o refused.gl --items 5", "line 3");
  expect_refusal("build open.csv --csv id -o refused.gl --items 5", "quote");
  expect_refusal("build bad.jsonl --json-field id -o refused.gl --items 5", "line 2");
  expect_refusal("build bad.jsonl --json-field nope -o refused.gl --items 5", "no field 'nope'");
  expect_refusal("query keys a", "no guestlist filter file");
  expect_refusal("query missing a", "cannot read 'missing'");
  expect_refusal("query redis://127.0.0.1:1?filter=x a", "cannot connect to 127.0.0.1:1");
  expect_refusal("drop keys", "rm");
  expect_refusal("frob", "no call 'frob'");
  expect_refusal("build keys", "--output");
  expect_refusal("build keys -o refused.gl --frob", "--frob");
  expect_refusal("build keys -o refused.gl --key-type frob", "--key-type");
}

TEST_F(CommandTest, KeepsTheOldFileWhenTheDiskIsFull) {
  write("keys", numbers(0, 100'000));
  ASSERT_EQ(0, run("build keys -o f.gl --fpr 0.1").status);
  const std::string before = read("f.gl");
  // The limit on file size stands for the full disk; the shell must not die of the signal.
  const Ran ran = run("build keys -o f.gl --fpr 0.001", "trap '' XFSZ; ulimit -f 8;");
  EXPECT_EQ(2, ran.status);
  EXPECT_EQ(before, read("f.gl"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_FALSE(entry.path().string().ends_with(".tmp")) << entry.path();
  }
}

TEST_F(CommandTest, TakesNoVerdictFromAFileWithAFlippedByte) {
  write("keys", numbers(0, 1000));
  ASSERT_EQ(0, run("build keys -o f.gl --fpr 0.01").status);
  const std::string good = read("f.gl");
  for (std::size_t at = 0; at < good.size(); at += good.size() / 40) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    write("bad.gl", bad);
    const Ran ran = run("query bad.gl 1 2 3 stone --print all");
    const bool refused = ran.status == 2 && ran.out.empty();
    const bool doubts = ran.out == "1\tunknown\n2\tunknown\n3\tunknown\nstone\tunknown\n";
    EXPECT_TRUE(refused || doubts) << at << ": " << ran.out << ran.err;
  }
}

TEST_F(CommandTest, ReadsMoreThanItsMemoryHolds) {
  // 300 MB of input under a limit of 200 MB of address space, CSV and quotes included.
  const std::string limit =
      "ulimit -v 200000; yes '\"some value\",1234567890' | head -c 300000000 | sed "
      "'1s/.*/name,id/' |";
  const Ran ran = run("build --csv id -o f.gl --items 1000 --json", limit);
  EXPECT_EQ(0, ran.status) << ran.err;
  EXPECT_GT(number(json_of(ran.out), "lines"), 10'000'000);
}

}  // namespace
}  // namespace guestlist
