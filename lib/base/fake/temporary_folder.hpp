#pragma once

// A folder of one test, which no other process has, gone with all it holds when the test ends.

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace guestlist {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "guestlist-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const noexcept { return path_; }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  auto file_count() const {
    return std::distance(std::filesystem::directory_iterator(path_),
                         std::filesystem::directory_iterator{});
  }

 private:
  std::filesystem::path path_;
};

}  // namespace guestlist
