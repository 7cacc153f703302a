#include "guestlist/servers/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
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
    case Program::nginx:
      return {"nginx", GUESTLIST_NGINX, "nginx-light"};
    case Program::haproxy:
      return {"haproxy", GUESTLIST_HAPROXY, "haproxy"};
  }
  return {};
}

bool is_executable(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<std::string> search_program(const ProgramNames& wanted) {
  if (const std::string built(wanted.path); !built.empty() && is_executable(built)) return built;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string found = fmt::format("{}/{}", folder, wanted.name);
    if (is_executable(found)) return found;
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
