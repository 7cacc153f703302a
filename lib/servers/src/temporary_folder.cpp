#include "guestlist/servers/temporary_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

namespace guestlist::servers {

Result<TemporaryFolder> TemporaryFolder::create(std::string_view name) {
  std::error_code unknown;
  auto parent = std::filesystem::temp_directory_path(unknown);
  if (unknown) parent = "/tmp";
  std::string path = (parent / fmt::format("guestlist-{}-XXXXXX", name)).string();
  if (::mkdtemp(path.data()) == nullptr) {
    return fail(errno_error(
        Errc::unwritable, fmt::format("no folder can be made in {}; set TMPDIR", parent.string())));
  }
  return TemporaryFolder(std::filesystem::path(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace guestlist::servers
