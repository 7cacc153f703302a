#pragma once

// Runs the real command as a child process in a folder of its own, with a home of its own.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace guestlist {

struct Ran {
  int status = -1;
  std::string out;
  std::string err;
};

class CommandTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder =
        (std::filesystem::temp_directory_path() / "guestlist-command-XXXXXX").string();
    ASSERT_NE(nullptr, ::mkdtemp(folder.data()));
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// `arguments` as a shell would take them; `before` is put in front of the command (a pipe, a
  /// limit).
  Ran run(const std::string& arguments, const std::string& before = "") const {
    const std::string line =
        "cd '" + folder_.string() + "' && HOME='" + folder_.string() +
        "/home' XDG_CONFIG_HOME= && export HOME XDG_CONFIG_HOME && mkdir -p home && " + before +
        " '" GUESTLIST_COMMAND "' " + arguments + " >.out 2>.err </dev/null";
    const std::string piped = before.ends_with("|")
                                  ? line.substr(0, line.size() - std::string(" </dev/null").size())
                                  : line;
    const int status = std::system(piped.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, read(".out"), read(".err")};
  }
  /// A call that must fail with status 2, one line, nothing on stdout, and no file it was to write.
  void expect_refusal(const std::string& arguments, const std::string& words,
                      const std::string& before = "") const {
    const Ran ran = run(arguments, before);
    EXPECT_EQ(2, ran.status) << arguments << "\n" << ran.err;
    EXPECT_EQ("", ran.out) << arguments;
    EXPECT_EQ(1, std::count(ran.err.begin(), ran.err.end(), '\n')) << arguments << "\n" << ran.err;
    EXPECT_EQ(0u, ran.err.find("guestlist: ")) << arguments << "\n" << ran.err;
    EXPECT_NE(std::string::npos, ran.err.find(words)) << arguments << "\n" << ran.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "refused.gl")) << arguments;
  }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  std::string read(const std::string& name) const {
    std::ostringstream content;
    content << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return content.str();
  }
  static std::string numbers(int from, int to) {
    std::string lines;
    for (int i = from; i < to; ++i) lines += std::to_string(i) + "\n";
    return lines;
  }

  std::filesystem::path folder_;
};

}  // namespace guestlist
