// Where the server finds the module: the only symbol that the library shows.

#include <exception>
#include <new>

#include "bloom_keys.hpp"
#include "command.hpp"
#include "core/bit_memory.hpp"
#include "cuckoo_commands.hpp"
#include "cuckoo_keys.hpp"
#include "metrics.hpp"
#include "server_api.hpp"
#include "settings.hpp"

namespace guestlist::server {
namespace {

constexpr const char* module_name = "bf";
constexpr int module_version = 100;  // 0.1.0

void* try_zeroed(std::size_t bytes) {
  if (api::try_calloc != nullptr) return api::try_calloc(1, bytes);
  void* const memory = api::try_alloc(bytes);
  if (memory != nullptr) __builtin_memset(memory, 0, bytes);
  return memory;
}

const char* load(Context* context, Arguments arguments) {
  api::set_module_options(context, option_handle_io_errors | option_no_implicit_signal_modified);
  BitMemory::use({try_zeroed, api::free, api::malloc_size});
  if (api::add_acl_category != nullptr) {
    api::add_acl_category(context, "bloom");
    api::add_acl_category(context, "cuckoo");
  }
  for (const auto family :
       {bloom_commands, bloom_whole_commands, verdict_commands, cuckoo_commands}) {
    for (const CommandSpec& spec : family()) {
      if (const char* const refused = register_command(context, spec)) {
        api::log(context, "warning", "%s:", spec.name);
        return refused;
      }
    }
  }
  if (const char* const refused = register_bloom_types(context)) return refused;
  if (const char* const refused = register_cuckoo_types(context)) return refused;
  if (api::register_info_func(context, tell_metrics) != ok) return "the server takes no metrics";
  return register_settings(context, arguments);
}

}  // namespace
}  // namespace guestlist::server

extern "C" __attribute__((visibility("default"))) int RedisModule_OnLoad(
    guestlist::server::Context* context, guestlist::server::String** argv, int argc) {
  namespace server = guestlist::server;
  if (server::connect(context) != nullptr) return server::err;
  if (server::api::is_module_name_busy(server::module_name) != 0) return server::err;
  server::api::set_module_attribs(context, server::module_name, server::module_version,
                                  server::api_version);
  const char* const refused =
      server::load(context, server::Arguments(argv, static_cast<std::size_t>(argc)));
  if (refused == nullptr) return server::ok;
  server::api::log(context, "warning", "guestlist is not loaded: %s", refused);
  return server::err;
}
