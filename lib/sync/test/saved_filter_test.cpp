#include "guestlist/sync/saved_filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "temporary_folder.hpp"

namespace guestlist {
namespace {

using testing::ElementsAre;
namespace files = std::filesystem;
using Keys = std::vector<std::string>;

class SavedFilterTest : public testing::Test {
 protected:
  SavedFilter open() { return SavedFilter::open(folder_.path(), "products").value(); }
  static FilterFileInfo info(std::uint64_t offset) {
    FilterFileInfo info;
    info.origin = "a table";
    info.position = at(offset).text();
    return info;
  }
  static SourcePosition at(std::uint64_t offset) { return {"log", offset}; }
  static BloomFilter filter_of(const Keys& keys) {
    auto filter = BloomFilter::make(FilterPlan::make(1000, 1e-6).value(),
                                    KeyHasher::siphash(Secret::random()));
    for (const std::string& key : keys) filter->insert(key);
    return *std::move(filter);
  }
  std::optional<SavedFilter::Content> load() {
    auto loaded = open().load("a table", "text");
    EXPECT_TRUE(loaded) << loaded.error().message();
    return loaded ? *std::move(loaded) : std::nullopt;
  }
  files::path journal(int number) const {
    return folder_ / ("products.journal." + std::to_string(number));
  }

  const TemporaryFolder folder_;
};

TEST_F(SavedFilterTest, HasNothingBeforeTheFirstSave) {
  EXPECT_FALSE(load());
}

TEST_F(SavedFilterTest, ComesBackWithEveryChangeUpToTheLastPosition) {
  {
    SavedFilter saved = open();
    ASSERT_TRUE(saved.begin_save(at(10)));
    ASSERT_TRUE(saved.append(Keys{"while", "saving"}, at(11)));
    ASSERT_TRUE(saved.finish_save(filter_of({"in the file"}), info(10)));
    ASSERT_TRUE(saved.append(Keys{std::string("with\0zero", 9), ""}, at(12)));
    ASSERT_TRUE(saved.append(Keys{}, at(20)));
  }
  const auto loaded = load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(at(20), loaded->position);
  for (const std::string& key :
       Keys{"in the file", "while", "saving", std::string("with\0zero", 9), ""})
    EXPECT_TRUE(loaded->filter.may_contain(key)) << key;
  EXPECT_FALSE(loaded->filter.may_contain("another"));
}

// Killed between the two halves of a save: the old file, the old journal and the new one.
TEST_F(SavedFilterTest, LosesNothingWhereASaveDidNotEnd) {
  {
    SavedFilter saved = open();
    ASSERT_TRUE(saved.begin_save(at(1)));
    ASSERT_TRUE(saved.finish_save(filter_of({"a"}), info(1)));
    ASSERT_TRUE(saved.append(Keys{"b"}, at(2)));
    ASSERT_TRUE(saved.begin_save(at(2)));
    ASSERT_TRUE(saved.append(Keys{"c"}, at(3)));
  }
  const auto loaded = load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(at(3), loaded->position);
  for (const char* key : {"a", "b", "c"}) EXPECT_TRUE(loaded->filter.may_contain(key)) << key;
}

TEST_F(SavedFilterTest, TakesNoJournalThatDoesNotGoOnFromWhatIsThere) {
  {
    SavedFilter saved = open();
    ASSERT_TRUE(saved.begin_save(at(1)));
    ASSERT_TRUE(saved.finish_save(filter_of({"a"}), info(1)));
    ASSERT_TRUE(saved.append(Keys{"b"}, at(2)));
    // "c" at 3 was lost, as on a full disk, and so was the file that had it.
    ASSERT_TRUE(saved.begin_save(at(3)));
    ASSERT_TRUE(saved.append(Keys{"d"}, at(4)));
  }
  const auto loaded = load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(at(2), loaded->position);
  EXPECT_TRUE(loaded->filter.may_contain("b"));
}

TEST_F(SavedFilterTest, EndsAtTheFirstRecordThatIsNotWholeWhereverItIsCut) {
  {
    SavedFilter saved = open();
    ASSERT_TRUE(saved.begin_save(at(1)));
    ASSERT_TRUE(saved.finish_save(filter_of({}), info(1)));
    ASSERT_TRUE(saved.append(Keys{"b"}, at(2)));
    ASSERT_TRUE(saved.append(Keys{"c"}, at(3)));
  }
  const auto whole = files::file_size(journal(1));
  for (auto size = whole - 1; size > 0; --size) {
    files::resize_file(journal(1), size);
    const auto loaded = load();
    ASSERT_TRUE(loaded) << size;
    EXPECT_LE(loaded->position.offset, 2u) << size;
    if (loaded->position.offset == 2) {
      EXPECT_TRUE(loaded->filter.may_contain("b")) << size;
    }
  }
}

TEST_F(SavedFilterTest, EndsAtARecordWithAFlippedByte) {
  {
    SavedFilter saved = open();
    ASSERT_TRUE(saved.begin_save(at(1)));
    ASSERT_TRUE(saved.finish_save(filter_of({}), info(1)));
    ASSERT_TRUE(saved.append(Keys{"b"}, at(2)));
  }
  std::fstream file(journal(1), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('B');
  file.close();
  const auto loaded = load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(at(1), loaded->position);
}

TEST_F(SavedFilterTest, WritesNothingAfterTheJournalWasEnded) {
  {
    SavedFilter saved = open();
    ASSERT_TRUE(saved.begin_save(at(1)));
    ASSERT_TRUE(saved.finish_save(filter_of({}), info(1)));
    saved.end_journal();
    ASSERT_TRUE(saved.append(Keys{"later"}, at(9)));
  }
  EXPECT_EQ(at(1), load()->position);
}

TEST_F(SavedFilterTest, IsNotThatOfAnotherSourceOrKeyType) {
  {
    SavedFilter saved = open();
    ASSERT_TRUE(saved.begin_save(at(1)));
    ASSERT_TRUE(saved.finish_save(filter_of({}), info(1)));
  }
  SavedFilter saved = open();
  EXPECT_FALSE(saved.load("another table", "text").value());
  EXPECT_FALSE(saved.load("a table", "int").value());
  EXPECT_TRUE(saved.load("a table", "text").value());
}

TEST_F(SavedFilterTest, BelongsToOneProcess) {
  const SavedFilter saved = open();
  const auto second = SavedFilter::open(folder_.path(), "products");
  ASSERT_FALSE(second);
  EXPECT_EQ(Errc::already_exists, second.error().code);
}

TEST_F(SavedFilterTest, RemovesTheJournalsThatTheFileReplaces) {
  SavedFilter saved = open();
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(saved.begin_save(at(i)));
    ASSERT_TRUE(saved.finish_save(filter_of({}), info(i)));
  }
  EXPECT_FALSE(files::exists(journal(2)));
  EXPECT_TRUE(files::exists(journal(3)));
}

}  // namespace
}  // namespace guestlist
