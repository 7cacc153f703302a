#include "guestlist/base/file.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "temporary_folder.hpp"

namespace guestlist {
namespace {

class FileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }
  auto file_count() const { return folder_.file_count(); }
  std::string content(const std::string& name) const {
    return read_file(path(name), 1 << 20).value_or("(unreadable)");
  }

  const TemporaryFolder folder_;
};

TEST_F(FileTest, AppearsOnlyWhenCommitted) {
  auto file = AtomicFile::create(path("a"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write(as_bytes("head, body")));
  ASSERT_TRUE(file->write_at(0, as_bytes("HEAD")));
  EXPECT_FALSE(std::filesystem::exists(path("a")));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ("HEAD, body", content("a"));
  EXPECT_EQ(1, file_count());
}

TEST_F(FileTest, LeavesTheOldFileAndNothingElseWhenGivenUp) {
  ASSERT_TRUE(write_file(path("a"), as_bytes("old")));
  {
    auto file = AtomicFile::create(path("a"));
    ASSERT_TRUE(file && file->write(as_bytes("half of the n")));
  }
  EXPECT_EQ("old", content("a"));
  EXPECT_EQ(1, file_count());
}

TEST_F(FileTest, PutsANewFileOnlyWhereNoneIs) {
  ASSERT_TRUE(write_file(path("a"), as_bytes("old")));
  {
    auto file = AtomicFile::create(path("a"));
    ASSERT_TRUE(file && file->write(as_bytes("new")));
    EXPECT_EQ(Errc::already_exists, file->commit_new().error().code);
  }
  auto file = AtomicFile::create(path("b"));
  ASSERT_TRUE(file && file->write(as_bytes("new")) && file->commit_new());
  EXPECT_EQ("old", content("a"));
  EXPECT_EQ("new", content("b"));
  EXPECT_EQ(2, file_count());
}

TEST_F(FileTest, LetsOneOfManyPutANewFile) {
  std::atomic<int> succeeded = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      auto file = AtomicFile::create(path("a"));
      ASSERT_TRUE(file && file->write(as_bytes("whole")));
      succeeded += file->commit_new().has_value() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(1, succeeded);
  EXPECT_EQ("whole", content("a"));
  EXPECT_EQ(1, file_count());
}

TEST_F(FileTest, KeepsTheOldFileWhenTheWriterIsKilled) {
  ASSERT_TRUE(write_file(path("a"), as_bytes("old")));
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = AtomicFile::create(path("a"));
    if (file && file->write(as_bytes("half of the n"))) ::kill(::getpid(), SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ("old", content("a"));
}

TEST_F(FileTest, KeepsTheOldFileWhenTheDeviceIsFull) {
  ASSERT_TRUE(write_file(path("a"), as_bytes("old")));
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto written = write_file(path("a"), std::vector<std::byte>(8192));
    ::_exit(!written && written.error().code == Errc::unwritable ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  EXPECT_EQ(0, WEXITSTATUS(status));
  EXPECT_EQ("old", content("a"));
  EXPECT_EQ(1, file_count());
}

TEST_F(FileTest, KeepsThePermissionsOfTheFileItReplaces) {
  ASSERT_TRUE(write_file(path("a"), as_bytes("old")));
  ASSERT_EQ(0, ::chmod(path("a").c_str(), 0600));
  ASSERT_TRUE(write_file(path("a"), as_bytes("new")));
  EXPECT_EQ(std::filesystem::perms::owner_read | std::filesystem::perms::owner_write,
            std::filesystem::status(path("a")).permissions());
}

TEST_F(FileTest, HidesANewFileFromOthersWhereThatIsAskedFor) {
  auto file = AtomicFile::create(path("a"), Readers::owner_and_group);
  ASSERT_TRUE(file && file->commit());
  EXPECT_EQ(std::filesystem::perms::none,
            std::filesystem::status(path("a")).permissions() & std::filesystem::perms::others_all);
}

TEST_F(FileTest, ReplacesWhatASymbolicLinkNamesAndKeepsTheLink) {
  ASSERT_TRUE(write_file(path("target"), as_bytes("old")));
  std::filesystem::create_symlink("target", path("link"));
  ASSERT_TRUE(write_file(path("link"), as_bytes("new")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ("new", content("target"));
}

TEST_F(FileTest, RefusesFoldersAndMissingFoldersWithTheName) {
  const auto folder = AtomicFile::create(folder_.path().string());
  ASSERT_FALSE(folder);
  EXPECT_EQ(Errc::unwritable, folder.error().code);
  EXPECT_NE(std::string::npos, folder.error().message().find("it is a folder"));
  EXPECT_FALSE(AtomicFile::create(path("no/such/folder")));
  EXPECT_EQ(Errc::unreadable, MappedFile::open(folder_.path().string()).error().code);
  EXPECT_EQ(Errc::not_found, MappedFile::open(path("missing")).error().code);
}

TEST_F(FileTest, MapsTheBytesAndKeepsThemWhenTheFileIsReplaced) {
  ASSERT_TRUE(write_file(path("a"), as_bytes("old")));
  const auto mapped = MappedFile::open(path("a"));
  ASSERT_TRUE(mapped);
  ASSERT_TRUE(write_file(path("a"), as_bytes("new")));
  EXPECT_EQ("old", as_text(mapped->bytes()));
}

TEST_F(FileTest, MapsAnEmptyFileAsNoBytes) {
  ASSERT_TRUE(write_file(path("a"), {}));
  const auto mapped = MappedFile::open(path("a"));
  ASSERT_TRUE(mapped);
  EXPECT_TRUE(mapped->bytes().empty());
}

TEST_F(FileTest, ReadsNoMoreThanTheLimit) {
  ASSERT_TRUE(write_file(path("a"), as_bytes("12345")));
  EXPECT_EQ("12345", *read_file(path("a"), 5));
  EXPECT_EQ(Errc::too_large, read_file(path("a"), 4).error().code);
}

}  // namespace
}  // namespace guestlist
