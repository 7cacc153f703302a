#include "guestlist/filter/filter_file_writer.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter_samples.hpp"
#include "guestlist/base/file.hpp"
#include "temporary_folder.hpp"

namespace guestlist {
namespace {

Errc refusal(const Result<void>& written) {
  return written ? Errc{} : static_cast<Errc>(written.error().code.value());
}

class FilterFileWriter : public testing::Test {
 protected:
  void write(const AnyFilter& filter, std::uint64_t generation) {
    FilterFileInfo info;
    info.generation = generation;
    const auto written = write_filter_file(path_, filter, info);
    ASSERT_TRUE(written) << written.error().message();
  }

  void expect_generation(std::uint64_t generation) {
    const auto file = FilterFile::open(path_);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ(generation, file->header().info.generation);
    EXPECT_TRUE(file->verify_all());
    EXPECT_EQ(Verdict::maybe(), file->check(sample_key(7)));
  }

  std::filesystem::perms permissions() const {
    return std::filesystem::status(path_).permissions();
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "a.filter";
};

TEST_F(FilterFileWriter, ReplacesAFileThatIsOpen) {
  write(sample_filter(Structure::bloom, 100), 1);
  const auto before = FilterFile::open(path_);
  ASSERT_TRUE(before);
  write(large_filter(Structure::bloom), 2);
  EXPECT_TRUE(before->verify_all());
  EXPECT_EQ(1U, before->header().info.generation);
  expect_generation(2);
  EXPECT_EQ(1, folder_.file_count());
}

TEST_F(FilterFileWriter, LeavesTheOldFileWhenItIsKilledHalfWay) {
  write(sample_filter(Structure::bloom, 100), 1);
  const AnyFilter filter = large_filter(Structure::bloom);
  const pid_t child = ::fork();
  if (child == 0) {
    (void)write_filter_file(path_, filter, FilterFileInfo(), SecretPlacement::in_file,
                            [](std::uint64_t done, std::uint64_t total) {
                              if (done > total / 2) ::kill(::getpid(), SIGKILL);
                            });
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  ASSERT_TRUE(WIFSIGNALED(status));
  expect_generation(1);
}

TEST_F(FilterFileWriter, LeavesTheOldFileAndNothingElseWhenTheDeviceIsFull) {
  write(sample_filter(Structure::bloom, 100), 1);
  const AnyFilter filter = large_filter(Structure::bloom);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto written = write_filter_file(path_, filter, FilterFileInfo());
    ::_exit(!written && written.error().code == Errc::unwritable ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  EXPECT_EQ(0, WEXITSTATUS(status));
  expect_generation(1);
  EXPECT_EQ(1, folder_.file_count());
}

TEST_F(FilterFileWriter, HidesANewFileFromOthersWhereItHoldsASecretThatMatters) {
  const auto others = std::filesystem::perms::others_read;
  write(sample_filter(Structure::bloom, 100), 1);
  EXPECT_EQ(std::filesystem::perms::none, permissions() & others);
  std::filesystem::permissions(path_, others, std::filesystem::perm_options::add);
  write(sample_filter(Structure::bloom, 100), 2);
  EXPECT_EQ(others, permissions() & others) << "a permission that was given is kept";

  const mode_t mask = ::umask(0022);
  ASSERT_TRUE(std::filesystem::remove(path_));
  ASSERT_TRUE(write_filter_file(path_, sample_filter(Structure::bloom, 10), FilterFileInfo(),
                                SecretPlacement::elsewhere));
  EXPECT_EQ(others, permissions() & others);
  ASSERT_TRUE(std::filesystem::remove(path_));
  ASSERT_TRUE(write_filter_file(
      path_, sample_filter(Structure::bloom, 10, KeyHasher::xxh3(Secret())), FilterFileInfo()));
  EXPECT_EQ(others, permissions() & others);
  ::umask(mask);
}

TEST_F(FilterFileWriter, RefusesTextsThatItWouldHaveToChange) {
  const AnyFilter filter = sample_filter(Structure::bloom, 10);
  FilterFileInfo info;
  info.position = "0/16B\n3748";
  EXPECT_EQ(Errc::invalid_argument, refusal(write_filter_file(path_, filter, info)));
  info.position.assign(FilterFileInfo::max_position_bytes + 1, 'x');
  EXPECT_EQ(Errc::invalid_argument, refusal(write_filter_file(path_, filter, info)));
  info.position.clear();
  info.key_type.assign(FilterFileInfo::max_key_type_bytes + 1, 'x');
  EXPECT_EQ(Errc::invalid_argument, refusal(write_filter_file(path_, filter, info)));
  EXPECT_EQ(0, folder_.file_count());
}

TEST_F(FilterFileWriter, MakesAnyOriginPrintable) {
  FilterFileInfo info;
  info.origin = "a\x1b[2J" + std::string(5000, 'x');
  ASSERT_TRUE(write_filter_file(path_, sample_filter(Structure::bloom, 10), info));
  const auto file = FilterFile::open(path_);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_TRUE(file->header().info.origin.starts_with("a?[2Jxxx"));
  EXPECT_EQ(FilterFileInfo::max_origin_bytes, file->header().info.origin.size());
}

TEST_F(FilterFileWriter, RefusesAFolderAsItsTarget) {
  const auto written =
      write_filter_file(folder_ / "", sample_filter(Structure::bloom, 10), FilterFileInfo());
  ASSERT_FALSE(written);
  EXPECT_EQ(Errc::unwritable, written.error().code);
}

}  // namespace
}  // namespace guestlist
