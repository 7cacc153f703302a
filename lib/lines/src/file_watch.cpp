#include "file_watch.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace guestlist::lines {
namespace {

// Numbers of one change time: the lower half before it has settled, the upper one after that.
constexpr std::uint64_t numbers_of_a_stamp = 4096;
constexpr std::uint64_t first_settled_number = numbers_of_a_stamp / 2;

constexpr std::uint64_t ns_of(const timespec& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

constexpr std::uint64_t first_number_of(const FileStamp& stamp) noexcept {
  return stamp.changed_ns / numbers_of_a_stamp * numbers_of_a_stamp;
}

// A tick of the kernel is at most 10 ms; file systems without fractions keep one or two seconds.
Duration resolution_of(const FileStamp& stamp) noexcept {
  if (stamp.changed_ns % 1'000'000'000U == 0) return std::chrono::milliseconds(2100);
  return std::chrono::milliseconds(50);
}

}  // namespace

Result<FileLook> FileWatch::look() {
  const std::lock_guard lock(mutex_);
  return look_locked();
}

Result<FileLook> FileWatch::look_locked() {
  struct stat status {};
  const TimePoint now = clock_.now();
  if (::stat(path_.c_str(), &status) != 0)
    return fail(errno_error(Errc::unavailable, fmt::format("cannot look at '{}'", path_)));
  if (!S_ISREG(status.st_mode))
    return fail(Errc::unavailable, fmt::format("'{}' is no regular file", path_));
  const FileStamp stamp{status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
                        ns_of(status.st_mtim), ns_of(status.st_ctim)};
  last_.at = now;
  if (last_.version == 0 || stamp != last_.stamp) {
    last_.stamp = stamp;
    last_.is_settled = false;
    last_.version = std::max(last_.version + 1, first_number_of(stamp));
    if (first_version_ == 0) first_version_ = last_.version;
    first_seen_ = now;
  } else if (!last_.is_settled && now - first_seen_ >= std::max(settle_, resolution_of(stamp))) {
    last_.is_settled = true;
    last_.version = std::max(last_.version + 1, first_number_of(stamp) + first_settled_number);
  }
  return last_;
}

Result<FileLook> FileWatch::end() {
  const std::lock_guard lock(mutex_);
  auto look = look_locked();
  if (look && !look->is_settled) look->version = ++last_.version;
  return look;
}

bool FileWatch::has_stood_still_since(std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  const auto look = look_locked();
  if (!look) return false;
  const std::uint64_t first = first_number_of(look->stamp);
  if (version < first + first_settled_number || version >= first + numbers_of_a_stamp) return false;
  last_.is_settled = true;
  last_.version = std::max(last_.version, version);
  return true;
}

bool FileWatch::has_issued(std::uint64_t version) const {
  const std::lock_guard lock(mutex_);
  return first_version_ != 0 && version >= first_version_ && version <= last_.version;
}

}  // namespace guestlist::lines
