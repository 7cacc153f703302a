#pragma once

// A folder of one server or one test, gone when its object goes. What a killed process leaves
// behind stays, with the server's log in it.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "guestlist/base/result.hpp"

namespace guestlist::servers {

/// Distinct objects: safe. Shared objects: read only.
class TemporaryFolder {
 public:
  /// `guestlist-NAME-XXXXXX` in the system's folder for temporary files, for its owner alone.
  /// Errors: `unwritable`.
  static Result<TemporaryFolder> create(std::string_view name);

  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const noexcept { return path_; }
  /// The path of `name` inside.
  std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  explicit TemporaryFolder(std::filesystem::path path) noexcept : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace guestlist::servers
