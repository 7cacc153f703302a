#pragma once

// A file of keys in a folder of its own, written as applications write one.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "temporary_folder.hpp"

namespace guestlist {

class KeyFile {
 public:
  explicit KeyFile(const std::string& content) { overwrite(content); }

  std::string path() const { return folder_ / "keys"; }
  std::string content() const {
    std::ostringstream all;
    all << std::ifstream(path(), std::ios::binary).rdbuf();
    return all.str();
  }
  void append(const std::string& text) const {
    std::ofstream(path(), std::ios::binary | std::ios::app) << text;
  }
  void overwrite(const std::string& text) const { std::ofstream(path(), std::ios::binary) << text; }
  void replace(const std::string& text) const {
    std::ofstream(path() + ".new", std::ios::binary) << text;
    std::filesystem::rename(path() + ".new", path());
  }
  void remove() const { std::filesystem::remove(path()); }

 private:
  TemporaryFolder folder_;
};

}  // namespace guestlist
