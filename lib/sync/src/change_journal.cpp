#include "guestlist/sync/change_journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "guestlist/base/file.hpp"

namespace guestlist {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the journal is written as it is in memory");

constexpr std::string_view magic("GLJRNL\x01\n", 8);
constexpr std::size_t head_bytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);
/// A portion of changes is far below it; a larger size is damage.
constexpr std::uint32_t max_payload_bytes = std::uint32_t{256} << 20;

template <class T>
void append_number(std::string& buffer, T number) {
  buffer.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append_text(std::string& buffer, std::string_view text) {
  append_number(buffer, static_cast<std::uint32_t>(text.size()));
  buffer.append(text);
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

template <class T>
std::optional<T> take_number(std::string_view& bytes) {
  T number;
  if (bytes.size() < sizeof number) return std::nullopt;
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes.remove_prefix(sizeof number);
  return number;
}

std::optional<std::string_view> take_text(std::string_view& bytes) {
  const auto size = take_number<std::uint32_t>(bytes);
  if (!size || *size > bytes.size()) return std::nullopt;
  const std::string_view text = bytes.substr(0, *size);
  bytes.remove_prefix(*size);
  return text;
}

/// The payload of the next record where it is whole.
std::optional<std::string_view> take_record(std::string_view& bytes) {
  const auto size = take_number<std::uint32_t>(bytes);
  const auto checksum = take_number<std::uint64_t>(bytes);
  if (!size || !checksum || *size > max_payload_bytes || *size > bytes.size()) return std::nullopt;
  const std::string_view payload = bytes.substr(0, *size);
  bytes.remove_prefix(*size);
  if (XXH3_64bits(payload.data(), payload.size()) != *checksum) return std::nullopt;
  return payload;
}

}  // namespace

Result<ChangeJournal> ChangeJournal::create(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return fail(errno_error(Errc::unwritable, fmt::format("cannot write the journal '{}'", path)));
  }
  ChangeJournal journal(path, descriptor);
  if (!write_all(descriptor, magic))
    return fail(errno_error(Errc::unwritable, fmt::format("cannot write the journal '{}'", path)));
  journal.size_bytes_ = magic.size();
  return journal;
}

ChangeJournal::ChangeJournal(std::string path, int descriptor) noexcept
    : path_(std::move(path)), descriptor_(descriptor) {}

ChangeJournal::ChangeJournal(ChangeJournal&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_bytes_(other.size_bytes_),
      has_failed_(other.has_failed_),
      buffer_(std::move(other.buffer_)) {}

ChangeJournal& ChangeJournal::operator=(ChangeJournal&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(has_failed_, other.has_failed_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

ChangeJournal::~ChangeJournal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> ChangeJournal::append(std::span<const std::string> keys,
                                   const SourcePosition& position) {
  if (has_failed_) return fail(Errc::unwritable, fmt::format("the journal '{}' has ended", path_));
  buffer_.assign(head_bytes, '\0');
  append_text(buffer_, position.text());
  for (const std::string& key : keys) append_text(buffer_, key);
  const std::string_view payload = std::string_view(buffer_).substr(head_bytes);
  const auto size = static_cast<std::uint32_t>(payload.size());
  const std::uint64_t checksum = XXH3_64bits(payload.data(), payload.size());
  std::memcpy(buffer_.data(), &size, sizeof size);
  std::memcpy(buffer_.data() + sizeof size, &checksum, sizeof checksum);
  if (payload.size() > max_payload_bytes || !write_all(descriptor_, buffer_)) {
    // A record may be there in part; whatever came after it would not be read.
    has_failed_ = true;
    return fail(errno_error(Errc::unwritable, fmt::format("cannot write the journal '{}'", path_)));
  }
  size_bytes_ += buffer_.size();
  return {};
}

Result<void> ChangeJournal::replay(const std::string& path, const Record& record) {
  const auto file = MappedFile::open(path);
  if (!file) return fail(file.error());
  std::string_view rest(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  if (!rest.starts_with(magic))
    return fail(Errc::foreign_format, fmt::format("'{}' is no journal", path));
  rest.remove_prefix(magic.size());
  std::vector<std::string_view> keys;
  while (auto payload = take_record(rest)) {
    const auto text = take_text(*payload);
    const auto position = text ? SourcePosition::parse(*text) : std::nullopt;
    keys.clear();
    if (!position) return {};
    while (!payload->empty()) {
      const auto key = take_text(*payload);
      if (!key) return {};
      keys.push_back(*key);
    }
    record(keys, *position);
  }
  return {};
}

}  // namespace guestlist
