#include "guestlist/lines/block_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "guestlist/base/units.hpp"

namespace guestlist {

BlockReader::BlockReader(std::vector<std::string> paths, std::size_t block)
    : paths_(std::move(paths)), block_(block) {
  if (paths_.empty()) paths_.emplace_back("-");
}

Result<BlockReader> BlockReader::open(std::vector<std::string> paths, std::size_t block) {
  BlockReader reader(std::move(paths), block);
  reader.measure_inputs();
  if (auto opened = reader.open_current(); !opened) return fail(std::move(opened).error());
  return reader;
}

BlockReader::BlockReader(BlockReader&& other) noexcept
    : paths_(std::move(other.paths_)),
      block_(other.block_),
      at_(other.at_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_),
      bytes_read_(other.bytes_read_),
      total_bytes_(other.total_bytes_),
      can_be_read_twice_(other.can_be_read_twice_) {}

BlockReader& BlockReader::operator=(BlockReader&& other) noexcept {
  std::swap(paths_, other.paths_);
  std::swap(block_, other.block_);
  std::swap(at_, other.at_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(buffer_, other.buffer_);
  std::swap(begin_, other.begin_);
  std::swap(end_, other.end_);
  std::swap(bytes_read_, other.bytes_read_);
  std::swap(total_bytes_, other.total_bytes_);
  std::swap(can_be_read_twice_, other.can_be_read_twice_);
  return *this;
}

BlockReader::~BlockReader() {
  close_current();
}

void BlockReader::measure_inputs() {
  can_be_read_twice_ = true;
  for (const std::string& path : paths_) {
    struct stat status {};
    // Standard input may be a file too, but its position is shared with others: it is read once.
    const bool is_regular =
        path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    can_be_read_twice_ = can_be_read_twice_ && is_regular;
    if (is_regular) total_bytes_ += static_cast<std::uint64_t>(status.st_size);
  }
  if (!can_be_read_twice_) total_bytes_ = 0;
}

Result<void> BlockReader::open_current() {
  if (name() == "-") {
    descriptor_ = STDIN_FILENO;
    return {};
  }
  descriptor_ = ::open(name().c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) {
    const Errc reason = errno == ENOENT ? Errc::not_found : Errc::unreadable;
    return fail(errno_error(reason, fmt::format("cannot read '{}'", name())));
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && S_ISDIR(status.st_mode)) {
    return fail(Errc::unreadable,
                fmt::format("cannot read '{}': it is a folder; name the files in it", name()));
  }
  ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
  return {};
}

void BlockReader::close_current() noexcept {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
  descriptor_ = -1;
}

Result<bool> BlockReader::read_more() {
  const std::size_t kept = end_ - begin_;
  if (kept > max_record_bytes) {
    return fail(Errc::too_large,
                fmt::format("'{}': a record is longer than {}; is this the right kind of input?",
                            name(), format_bytes(max_record_bytes)));
  }
  // What is left over moves to the front; the buffer grows only for a record that does not fit.
  if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, kept);
  begin_ = 0;
  end_ = kept;
  if (buffer_.size() < kept + block_) buffer_.resize(kept * 2 + block_);
  while (true) {
    const ssize_t n = ::read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(errno_error(Errc::unreadable, fmt::format("cannot read '{}'", name())));
    end_ += static_cast<std::size_t>(n);
    bytes_read_ += static_cast<std::uint64_t>(n);
    return n > 0;
  }
}

Result<bool> BlockReader::next_input() {
  close_current();
  if (at_ + 1 >= paths_.size()) return false;
  ++at_;
  begin_ = end_ = 0;
  if (auto opened = open_current(); !opened) return fail(std::move(opened).error());
  return true;
}

}  // namespace guestlist
