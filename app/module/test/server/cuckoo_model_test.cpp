// The one law of the CF.* commands, through the socket: an item that was added and not deleted is
// never absent, whatever else happens to the filter.

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "module_server.hpp"

namespace guestlist::server {
namespace {

class CuckooModel : public ModuleTest {
 protected:
  /// Small filters, so that they are full, grow and are compacted within a few hundred commands.
  void run(std::uint32_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_.seed(seed);
    live_.clear();
    ask("DEL k");
    static const char* const shapes[] = {
        "CF.RESERVE k 4",
        "CF.RESERVE k 64 EXPANSION 2",
        "CF.RESERVE k 30 BUCKETSIZE 1 EXPANSION 4",
        "CF.RESERVE k 40 BUCKETSIZE 4 EXPANSION 1 MAXITERATIONS 50",
        "CF.RESERVE k 100 BUCKETSIZE 3 EXPANSION 2",
        "CF.RESERVE k 200 EXPANSION 0",
        "CF.RESERVE k 3700 BUCKETSIZE 1 EXPANSION 2",
    };
    ASSERT_EQ(ask(shapes[pick(std::size(shapes))]), "+OK\r\n");
    for (int step = 0; step < 600 && !HasFailure(); ++step) {
      one_step();
      if (step % 50 == 0) expect_all_there();
    }
    expect_all_there();
    expect_each_there();
    const std::string told = ask("CF.INFO k");
    EXPECT_NE(told.find("+Number of items inserted\r\n:" + std::to_string(live_.size()) + "\r\n"),
              std::string::npos)
        << told;
  }

 private:
  std::size_t pick(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
  std::string any_item() { return "item:" + std::to_string(pick(400)); }

  void one_step() {
    switch (pick(10)) {
      case 0:
      case 1:
      case 2:
        return add(pick(4) == 0 ? "CF.ADDNX" : "CF.ADD", {any_item()});
      case 3: {
        Words items;
        for (std::size_t i = pick(40) + 1; i-- > 0;) items.push_back(any_item());
        return add(pick(4) == 0 ? "CF.INSERTNX" : "CF.INSERT", items);
      }
      case 4:
        if (pick(8) == 0) {
          EXPECT_EQ(ask("CF.COMPACT k"), "+OK\r\n");
        }
        return;
      case 5:
        if (pick(8) == 0) reload();
        return;
      default:
        return remove_one();
    }
  }

  void add(const std::string& command, const Words& items) {
    Words words = {command, "k"};
    if (command.starts_with("CF.INSERT")) words.emplace_back("ITEMS");
    words.insert(words.end(), items.begin(), items.end());
    std::string replies;
    for (const std::string& line : words_of(ask(words))) {
      if (line[0] == ':') replies += line[1];
    }
    // An error, which the filter is allowed to give when it is full, stores nothing.
    for (std::size_t i = 0; i < replies.size(); ++i) {
      if (replies[i] == '1') live_.insert(items[i]);
    }
  }
  void remove_one() {
    if (live_.empty()) return;
    const auto victim = std::next(live_.begin(), static_cast<std::ptrdiff_t>(pick(live_.size())));
    EXPECT_EQ(ask({"CF.DEL", "k", *victim}), ":1\r\n") << *victim;
    live_.erase(victim);
  }
  /// Through DUMP and RESTORE, which is also how snapshots have it.
  void reload() {
    const std::string reply = ask("DUMP k");
    const std::size_t start = reply.find('\n') + 1;
    const std::string dump = reply.substr(start, reply.size() - start - 2);
    ask("DEL k");
    ASSERT_EQ(ask({"RESTORE", "k", "0", dump}), "+OK\r\n");
  }
  void expect_all_there() {
    Words words = {"CF.MEXISTS", "k"};
    words.insert(words.end(), live_.begin(), live_.end());
    if (live_.empty()) return;
    EXPECT_EQ(ask(words).find(":0\r\n"), std::string::npos) << "a live item is denied";
  }
  void expect_each_there() {
    for (const std::string& item : std::set<std::string>(live_.begin(), live_.end())) {
      ASSERT_EQ(ask({"CF.EXISTS", "k", item}), ":1\r\n") << item;
      const std::string count = ask({"CF.COUNT", "k", item});
      EXPECT_GE(std::stoull(count.substr(1)), live_.count(item)) << item;
    }
  }

  std::mt19937 random_;
  std::multiset<std::string> live_;
};
GUESTLIST_ON_EVERY_SERVER(CuckooModel);

TEST_P(CuckooModel, NeverDeniesAnItemThatWasAddedAndNotDeleted) {
  for (std::uint32_t seed = 1; seed <= 30 && !HasFailure(); ++seed) run(seed);
}

TEST_P(CuckooModel, NeverDeniesAnItemThatWasAddedAndNotDeletedInStrictMode) {
  ASSERT_EQ(ask("CONFIG SET bf.cf-strict yes"), "+OK\r\n");
  for (std::uint32_t seed = 1; seed <= 30 && !HasFailure(); ++seed) run(seed);
}

}  // namespace
}  // namespace guestlist::server
