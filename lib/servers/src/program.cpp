#include "guestlist/servers/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <ranges>
#include <string_view>

#include "program_search.hpp"

namespace guestlist::servers {
namespace {

ProgramNames names_of(Program program) {
  switch (program) {
    case Program::redis_server:
      return {"redis-server", GUESTLIST_REDIS_SERVER, "redis-server"};
    case Program::valkey_server:
      return {"valkey-server", GUESTLIST_VALKEY_SERVER, "valkey-server"};
    case Program::postgres:
      return {"postgres", GUESTLIST_POSTGRES, "postgresql"};
    case Program::initdb:
      return {"initdb", GUESTLIST_INITDB, "postgresql"};
    case Program::openssl:
      return {"openssl", GUESTLIST_OPENSSL, "openssl"};
  }
  return {};
}

bool is_executable(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<std::string> search_program(const ProgramNames& wanted) {
  if (const std::string built(wanted.path); !built.empty() && is_executable(built)) return built;
  const char* folders = std::getenv("PATH");
  for (const auto folder : std::views::split(std::string_view(folders ? folders : ""), ':')) {
    const std::string path =
        fmt::format("{}/{}", std::string_view(folder.begin(), folder.end()), wanted.name);
    if (is_executable(path)) return path;
  }
  return fail(Errc::not_found,
              fmt::format("{0} is not installed: run scripts/setup.sh, or install the package {1} "
                          "so that {0} is on the PATH",
                          wanted.name, wanted.package));
}

Result<std::string> find_program(Program program) {
  return search_program(names_of(program));
}

}  // namespace guestlist::servers
