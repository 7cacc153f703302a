#include "guestlist/base/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace guestlist {
namespace {

// A symbolic link is followed, so that the file it names is replaced and not the link.
std::string resolve(const std::string& path) {
  std::error_code ignored;
  const auto target = std::filesystem::canonical(path, ignored);
  return ignored ? path : target.string();
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Error read_error(const std::string& path) {
  const Errc reason = errno == ENOENT ? Errc::not_found : Errc::unreadable;
  return errno_error(reason, "cannot read '" + path + "'");
}

Error write_error(const std::string& path) {
  return errno_error(Errc::unwritable, "cannot write '" + path + "'");
}

mode_t permissions_for(const std::string& path, Readers readers) {
  struct stat existing {};
  if (::stat(path.c_str(), &existing) == 0) return existing.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return (readers == Readers::everyone ? 0666 : 0660) & ~mask;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: a pipe without a writer must be refused, not waited for.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return fail(read_error(path));
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    Error error = read_error(path);
    ::close(descriptor);
    return fail(std::move(error));
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor);
    const char* what = S_ISDIR(status.st_mode) ? "a folder" : "not a regular file";
    return fail(Errc::unreadable, "cannot read '" + path + "': it is " + what);
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    ::close(descriptor);
    return MappedFile(nullptr, 0);
  }
  void* const mapping = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  Error error = mapping == MAP_FAILED ? read_error(path) : Error{};
  ::close(descriptor);
  if (mapping == MAP_FAILED) return fail(std::move(error));
  return MappedFile(static_cast<const std::byte*>(mapping), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  // munmap takes the address that mmap gave, and writes nothing through it.
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

AtomicFile::AtomicFile(std::string path, std::string temporary, int descriptor) noexcept
    : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

Result<AtomicFile> AtomicFile::create(const std::string& given_path, Readers readers) {
  const std::string path = resolve(given_path);
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    const char* what = S_ISDIR(status.st_mode) ? "a folder" : "not a regular file";
    return fail(Errc::unwritable,
                "cannot write '" + path + "': it is " + what + "; name a file to write");
  }
  const auto slash = path.rfind('/');
  const std::string base = slash == std::string::npos ? path : path.substr(slash + 1);
  std::string temporary = folder_of(path) + "/." + base + ".XXXXXX.tmp";
  const int descriptor = ::mkostemps(temporary.data(), 4, O_CLOEXEC);
  if (descriptor < 0) return fail(write_error(path));
  AtomicFile file(path, std::move(temporary), descriptor);
  if (::fchmod(descriptor, permissions_for(path, readers)) != 0) return fail(write_error(path));
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

AtomicFile::~AtomicFile() {
  discard();
}

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

Result<void> AtomicFile::write(ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(write_error(path_));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> AtomicFile::write_at(std::uint64_t offset, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(write_error(path_));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<void> AtomicFile::flush() {
  if (::fsync(descriptor_) != 0) return fail(write_error(path_));
  if (::close(std::exchange(descriptor_, -1)) != 0) return fail(write_error(path_));
  return {};
}

void AtomicFile::flush_folder() const noexcept {
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    // Some file systems refuse to flush a folder; the rename itself has succeeded by now.
    ::fsync(folder);
    ::close(folder);
  }
}

Result<void> AtomicFile::commit() {
  if (auto flushed = flush(); !flushed) return flushed;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return fail(write_error(path_));
  temporary_.clear();
  flush_folder();
  return {};
}

Result<void> AtomicFile::commit_new() {
  if (auto flushed = flush(); !flushed) return flushed;
  int done = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE);
  // Some file systems, NFS among them, cannot rename so, and can link.
  if (done != 0 && errno == EINVAL) done = ::link(temporary_.c_str(), path_.c_str());
  if (done != 0 && errno == EEXIST)
    return fail(Errc::already_exists, "'" + path_ + "' exists already");
  if (done != 0) return fail(write_error(path_));
  discard();
  flush_folder();
  return {};
}

Result<FileLock> FileLock::try_acquire(const std::string& path) {
  FileLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.descriptor_ < 0)
    return fail(errno_error(Errc::unwritable, "cannot lock '" + path + "'"));
  if (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return fail(Errc::already_exists, "another process has locked '" + path + "'");
    return fail(errno_error(Errc::unwritable, "cannot lock '" + path + "'"));
  }
  return lock;
}

Result<FileLock> FileLock::acquire(const std::string& path) {
  while (true) {
    FileLock lock(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (lock.descriptor_ < 0) return fail(read_error(path));
    while (::flock(lock.descriptor_, LOCK_EX) != 0) {
      if (errno != EINTR) return fail(read_error(path));
    }
    // Whoever held the lock before may have replaced the file: then this lock is on the old one.
    struct stat held {};
    struct stat named {};
    if (::fstat(lock.descriptor_, &held) != 0 || ::stat(path.c_str(), &named) != 0) {
      return fail(read_error(path));
    }
    if (held.st_ino == named.st_ino && held.st_dev == named.st_dev) return lock;
  }
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  auto file = MappedFile::open(path);
  if (!file) return fail(std::move(file).error());
  if (file->bytes().size() > limit) {
    return fail(Errc::too_large, "'" + path + "' has " + std::to_string(file->bytes().size()) +
                                     " bytes; at most " + std::to_string(limit) + " are read");
  }
  return std::string(as_text(file->bytes()));
}

Result<void> write_file(const std::string& path, ByteView content) {
  auto file = AtomicFile::create(path);
  if (!file) return fail(std::move(file).error());
  if (auto written = file->write(content); !written) return fail(std::move(written).error());
  return file->commit();
}

}  // namespace guestlist
