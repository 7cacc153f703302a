#include "server_api.hpp"

namespace guestlist::server {
namespace {

struct Import {
  const char* name;
  void* function;  ///< the address of the pointer
  bool is_required = true;
};

template <class Function>
Import import(const char* name, Function*& function, bool is_required = true) {
  return {name, reinterpret_cast<void*>(&function), is_required};
}

}  // namespace

const char* connect(Context* context) noexcept {
  // The first word of the context is the function that finds all others by their names.
  using Find = int (*)(const char* name, void* function);
  const auto find = reinterpret_cast<Find>(*reinterpret_cast<void**>(context));
  constexpr bool newer = false;
  const Import imports[] = {
      import("RedisModule_SetModuleAttribs", api::set_module_attribs),
      import("RedisModule_IsModuleNameBusy", api::is_module_name_busy),
      import("RedisModule_SetModuleOptions", api::set_module_options),
      import("RedisModule_CreateCommand", api::create_command),
      import("RedisModule_GetCommand", api::get_command),
      import("RedisModule_SetCommandInfo", api::set_command_info),
      import("RedisModule_SetCommandACLCategories", api::set_command_acl_categories, newer),
      import("RedisModule_AddACLCategory", api::add_acl_category, newer),
      import("RedisModule_GetServerVersion", api::get_server_version),
      import("RedisModule_Log", api::log),
      import("RedisModule_RegisterInfoFunc", api::register_info_func),
      import("RedisModule_InfoAddSection", api::info_add_section),
      import("RedisModule_InfoAddFieldULongLong", api::info_add_field_u_long_long),
      import("RedisModule_TryAlloc", api::try_alloc),
      import("RedisModule_TryCalloc", api::try_calloc, newer),
      import("RedisModule_Free", api::free),
      import("RedisModule_MallocSize", api::malloc_size),
      import("RedisModule_GetServerInfo", api::get_server_info),
      import("RedisModule_FreeServerInfo", api::free_server_info),
      import("RedisModule_ServerInfoGetFieldUnsigned", api::server_info_get_field_unsigned),
      import("RedisModule_ServerInfoGetFieldC", api::server_info_get_field_c),
      import("RedisModule_RegisterStringConfig", api::register_string_config),
      import("RedisModule_RegisterNumericConfig", api::register_numeric_config),
      import("RedisModule_RegisterBoolConfig", api::register_bool_config),
      import("RedisModule_RegisterEnumConfig", api::register_enum_config),
      import("RedisModule_LoadConfigs", api::load_configs),
      import("RedisModule_CreateDataType", api::create_data_type),
      import("RedisModule_OpenKey", api::open_key),
      import("RedisModule_CloseKey", api::close_key),
      import("RedisModule_KeyType", api::key_type),
      import("RedisModule_ModuleTypeGetType", api::module_type_get_type),
      import("RedisModule_ModuleTypeGetValue", api::module_type_get_value),
      import("RedisModule_ModuleTypeSetValue", api::module_type_set_value),
      import("RedisModule_DeleteKey", api::delete_key),
      import("RedisModule_GetAbsExpire", api::get_abs_expire),
      import("RedisModule_SetAbsExpire", api::set_abs_expire),
      import("RedisModule_SignalModifiedKey", api::signal_modified_key),
      import("RedisModule_NotifyKeyspaceEvent", api::notify_keyspace_event),
      import("RedisModule_StringPtrLen", api::string_ptr_len),
      import("RedisModule_StringToLongLong", api::string_to_long_long),
      import("RedisModule_StringToDouble", api::string_to_double),
      import("RedisModule_StringDMA", api::string_dma),
      import("RedisModule_CreateString", api::create_string),
      import("RedisModule_FreeString", api::free_string),
      import("RedisModule_GetContextFlags", api::get_context_flags),
      import("RedisModule_WrongArity", api::wrong_arity),
      import("RedisModule_ReplyWithError", api::reply_with_error),
      import("RedisModule_ReplyWithSimpleString", api::reply_with_simple_string),
      import("RedisModule_ReplyWithLongLong", api::reply_with_long_long),
      import("RedisModule_ReplyWithBool", api::reply_with_bool),
      import("RedisModule_ReplyWithDouble", api::reply_with_double),
      import("RedisModule_ReplyWithNull", api::reply_with_null),
      import("RedisModule_ReplyWithArray", api::reply_with_array),
      import("RedisModule_ReplyWithMap", api::reply_with_map),
      import("RedisModule_ReplyWithStringBuffer", api::reply_with_string_buffer),
      import("RedisModule_ReplyWithString", api::reply_with_string),
      import("RedisModule_Replicate", api::replicate),
      import("RedisModule_ReplicateVerbatim", api::replicate_verbatim),
      import("RedisModule_SaveUnsigned", api::save_unsigned),
      import("RedisModule_LoadUnsigned", api::load_unsigned),
      import("RedisModule_SaveDouble", api::save_double),
      import("RedisModule_LoadDouble", api::load_double),
      import("RedisModule_SaveStringBuffer", api::save_string_buffer),
      import("RedisModule_LoadStringBuffer", api::load_string_buffer),
      import("RedisModule_IsIOError", api::is_io_error),
      import("RedisModule_LogIOError", api::log_io_error),
      import("RedisModule_EmitAOF", api::emit_aof),
      import("RedisModule_DigestAddStringBuffer", api::digest_add_string_buffer),
      import("RedisModule_DigestAddLongLong", api::digest_add_long_long),
      import("RedisModule_DigestEndSequence", api::digest_end_sequence),
      import("RedisModule_DefragAlloc", api::defrag_alloc),
  };
  for (const Import& wanted : imports) {
    if (find(wanted.name, wanted.function) != ok && wanted.is_required) return wanted.name;
  }
  return nullptr;
}

}  // namespace guestlist::server
