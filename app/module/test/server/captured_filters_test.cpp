// Filters that RedisBloom wrote: made again they are the same bit for bit; loaded they answer the
// same, and are written back as they came.

#include "captured_filters.hpp"

#include "module_server.hpp"

namespace guestlist::server {
namespace {

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

class CapturedFilters : public ModuleTest {
 protected:
  std::string arguments() const override { return "bf-layout classic cf-strict yes"; }

  // The framing of DUMP names the version of the server that made it; what stands before is ours.
  static std::string body(const std::string& dump) { return dump.substr(0, dump.size() - 10); }

  void expect_answers(const CapturedFilter& filter) {
    const std::string family = filter.is_cuckoo() ? "CF" : "BF";
    for (std::size_t i = 0; i < filter.added; ++i) {
      const bool was_deleted = filter.deleted_step != 0 && i % filter.deleted_step == 0;
      if (was_deleted) continue;
      ASSERT_EQ(ask({family + ".EXISTS", filter.key(), filter.item(i)}), ":1\r\n") << i;
    }
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < 300; ++i) {
      if (ask({family + ".EXISTS", filter.key(), "other:" + std::to_string(i)}) == ":1\r\n")
        found.push_back(i);
    }
    EXPECT_EQ(found, filter.probe_ones);
  }

  void expect_same(const CapturedFilter& filter) {
    SCOPED_TRACE(filter.key());
    const std::string family = filter.is_cuckoo() ? "CF" : "BF";
    const std::string dump = ask({"DUMP", filter.key()});
    EXPECT_EQ(body(dump.substr(dump.find('\n') + 1, filter.dump.size())), body(filter.dump));
    std::string iterator = "0";
    for (const auto& [next, bytes] : filter.chunks) {
      EXPECT_EQ(ask({family + ".SCANDUMP", filter.key(), iterator}),
                "*2\r\n:" + next + "\r\n" + bulk(bytes));
      iterator = next;
    }
    EXPECT_EQ(ask({family + ".SCANDUMP", filter.key(), iterator}),
              filter.is_cuckoo() ? "*2\r\n:0\r\n$-1\r\n" : "*2\r\n:0\r\n$0\r\n\r\n");
    const std::string info = ask({family + ".INFO", filter.key()});
    for (const auto& [name, value] : filter.info) {
      std::string spaced = name;
      for (char& letter : spaced) letter = letter == '_' ? ' ' : letter;
      EXPECT_NE(info.find("+" + spaced + "\r\n:" + value + "\r\n"), std::string::npos)
          << name << info;
    }
    expect_answers(filter);
  }
};
GUESTLIST_ON_EVERY_SERVER(CapturedFilters);

TEST_P(CapturedFilters, AreMadeAgainBitForBit) {
  const auto filters = captured_filters();
  ASSERT_EQ(filters.size(), 11u);
  for (const CapturedFilter& filter : filters) {
    EXPECT_EQ(ask(filter.reserve), "+OK\r\n");
    const std::string family = filter.is_cuckoo() ? "CF" : "BF";
    std::string replies;
    for (std::size_t i = 0; i < filter.added; ++i)
      replies += ask({family + ".ADD", filter.key(), filter.item(i)})[1];
    if (filter.add_replies != "-") {
      EXPECT_EQ(replies, filter.add_replies);
    }
    std::string deleted;
    for (std::size_t i = 0; filter.deleted_step != 0 && i < filter.added; i += filter.deleted_step)
      deleted += ask({"CF.DEL", filter.key(), filter.item(i)})[1];
    EXPECT_EQ(deleted, filter.delete_replies);
    if (filter.cardinality >= 0) {
      EXPECT_EQ(ask({"BF.CARD", filter.key()}), ":" + std::to_string(filter.cardinality) + "\r\n");
    }
    expect_same(filter);
  }
}

TEST_P(CapturedFilters, AreRestoredAndWrittenBack) {
  for (const CapturedFilter& filter : captured_filters()) {
    ASSERT_EQ(ask({"RESTORE", filter.key(), "0", filter.dump}), "+OK\r\n") << filter.key();
    expect_same(filter);
  }
}

TEST_P(CapturedFilters, AreLoadedChunkByChunk) {
  for (const CapturedFilter& filter : captured_filters()) {
    const std::string family = filter.is_cuckoo() ? "CF" : "BF";
    for (const auto& [iterator, bytes] : filter.chunks) {
      ASSERT_EQ(ask({family + ".LOADCHUNK", filter.key(), iterator, bytes}), "+OK\r\n")
          << filter.key();
    }
    expect_same(filter);
  }
}

TEST_P(CapturedFilters, BatchesEqualSingleAdds) {
  for (const CapturedFilter& filter : captured_filters()) {
    if (filter.is_cuckoo()) continue;
    EXPECT_EQ(ask(filter.reserve), "+OK\r\n");
    Words add = {"BF.MADD", filter.key()};
    for (std::size_t i = 0; i < filter.added; ++i) add.push_back(filter.item(i));
    std::string replies;
    for (const std::string& line : words_of(ask(add)))
      if (line[0] == ':') replies += line[1];
    EXPECT_EQ(replies, filter.add_replies);
    expect_same(filter);
  }
}

}  // namespace
}  // namespace guestlist::server
