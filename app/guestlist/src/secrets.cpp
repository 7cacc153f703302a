#include "secrets.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "guestlist/base/bytes.hpp"

namespace guestlist {
namespace {

std::optional<std::filesystem::path> user_secret_path() {
  if (const char* const config = std::getenv("XDG_CONFIG_HOME");
      config != nullptr && *config == '/') {
    return std::filesystem::path(config) / "guestlist" / "secret";
  }
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::filesystem::path(home) / ".config" / "guestlist" / "secret";
  }
  return std::nullopt;
}

/// Links a finished file into place, so that of two processes that come first together one wins,
/// and nobody reads half a secret.
void make_user_secret(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::string temporary = path.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());  // with permissions for its owner alone
  if (descriptor < 0) return;
  const std::string digits = to_hex(Secret::random().bytes()) + "\n";
  const bool written =
      ::write(descriptor, digits.data(), digits.size()) == static_cast<ssize_t>(digits.size()) &&
      ::fsync(descriptor) == 0;
  ::close(descriptor);
  if (written) ::link(temporary.c_str(), path.c_str());
  ::unlink(temporary.c_str());
}

Result<Secret> user_secret() {
  const auto path = user_secret_path();
  if (path) {
    if (!std::filesystem::exists(*path)) make_user_secret(*path);
    auto secret = Secret::from_file(path->string());
    // A secret that is there and cannot be used is an error: a random one would not merge with the
    // others.
    if (secret || secret.error().code != Errc::not_found) return secret;
  }
  fmt::print(
      stderr,
      "guestlist: note: no home folder to keep a secret in; this filter gets one of its own and "
      "merges with no other (--secret-file helps)\n");
  return Secret::random();
}

HashKind kind_of(const HashOptions& options, HashKind otherwise) {
  if (options.hash == "xxh3") return HashKind::xxh3;
  if (options.hash == "siphash") return HashKind::siphash;
  return otherwise;
}

}  // namespace

KeyHasher make_hasher(HashKind kind, const Secret& secret) {
  switch (kind) {
    case HashKind::xxh3:
      return KeyHasher::xxh3(secret);
    case HashKind::xxh64:
      return KeyHasher::xxh64();
    case HashKind::siphash:
      break;
  }
  return KeyHasher::siphash(secret);
}

Result<ChosenHasher> choose_hasher(const HashOptions& options, HashKind otherwise) {
  const bool from_file = !options.secret_file.empty();
  auto secret = from_file ? Secret::from_file(options.secret_file) : user_secret();
  if (!secret) return fail(std::move(secret).error());
  return ChosenHasher{make_hasher(kind_of(options, otherwise), *secret),
                      from_file ? SecretPlacement::elsewhere : SecretPlacement::in_file};
}

Result<std::optional<Secret>> read_secret(const std::string& secret_file) {
  if (secret_file.empty()) return std::optional<Secret>();
  auto secret = Secret::from_file(secret_file);
  if (!secret) return fail(std::move(secret).error());
  return std::optional<Secret>(*secret);
}

}  // namespace guestlist
