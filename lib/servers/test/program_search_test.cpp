#include "program_search.hpp"

#include <gtest/gtest.h>

namespace guestlist::servers {
namespace {

TEST(ProgramSearch, TheBuildsFindComesFirst) {
  EXPECT_EQ("/bin/sh", *search_program({"true", "/bin/sh", "coreutils"}));
}

TEST(ProgramSearch, ThePathIsSearchedWhereTheBuildFoundNothing) {
  EXPECT_TRUE(search_program({"sh", "", "dash"})->ends_with("/sh"));
  EXPECT_TRUE(search_program({"sh", "/nowhere/sh", "dash"})->ends_with("/sh"));
}

TEST(ProgramSearch, AMissingProgramSaysWhatToInstall) {
  const auto missing = search_program({"no-such-server", "", "no-such-package"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(
      "no-such-server is not installed: run scripts/setup.sh, or install the package "
      "no-such-package "
      "so that no-such-server is on the PATH",
      missing.error().detail);
}

}  // namespace
}  // namespace guestlist::servers
