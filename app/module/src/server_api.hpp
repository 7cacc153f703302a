#pragma once

// What this module calls of the server: the functions of the public modules API that it uses, under
// names of its own, and the structures that cross the boundary. Written from the API reference;
// nothing is named here that is not called.
//
// The functions are pointers that `connect` fills when the server loads the module. Those that not
// every server from Redis 7.0 on has stay null where they are missing, and who calls them asks
// first.
//
// Distinct objects: there is one. Threads: the server calls a module from its main thread.

#include <cstddef>
#include <cstdint>

namespace guestlist::server {

// The server's own, known to us by pointer only.
struct Context;
struct Key;
struct String;
struct Io;
struct Digest;
struct InfoContext;
struct DefragContext;
struct Type;
struct Command;
struct ServerInfo;

inline constexpr int ok = 0;
inline constexpr int err = 1;
inline constexpr int api_version = 1;

inline constexpr int open_read = 1 << 0;
inline constexpr int open_write = 1 << 1;

enum KeyType { key_empty = 0, key_string = 1, key_module = 6 };

// Of context_flags.
inline constexpr int flag_replicated = 1 << 12;
inline constexpr int flag_loading = 1 << 13;
inline constexpr int flag_resp3 = 1 << 22;

// Of set_module_options.
inline constexpr int option_handle_io_errors = 1 << 0;
inline constexpr int option_no_implicit_signal_modified = 1 << 1;

// Of register_*_config.
inline constexpr unsigned config_default = 0;
inline constexpr unsigned config_memory = 1U << 7;
inline constexpr unsigned config_unprefixed = 1U << 9;

inline constexpr int notify_generic = 1 << 2;

// Of a key in a command's documentation.
inline constexpr std::uint64_t key_read_only = 1U << 0;
inline constexpr std::uint64_t key_read_write = 1U << 1;
inline constexpr std::uint64_t key_overwrite = 1U << 2;
inline constexpr std::uint64_t key_access = 1U << 4;
inline constexpr std::uint64_t key_update = 1U << 5;
inline constexpr std::uint64_t key_insert = 1U << 6;
inline constexpr std::uint64_t key_delete = 1U << 7;

using CommandFunction = int (*)(Context*, String**, int);

/// Version 4 of the methods of a type.
struct TypeMethods {
  std::uint64_t version = 4;
  void* (*rdb_load)(Io*, int) = nullptr;
  void (*rdb_save)(Io*, void*) = nullptr;
  void (*aof_rewrite)(Io*, String*, void*) = nullptr;
  std::size_t (*mem_usage)(const void*) = nullptr;
  void (*digest)(Digest*, void*) = nullptr;
  void (*free)(void*) = nullptr;
  int (*aux_load)(Io*, int, int) = nullptr;
  void (*aux_save)(Io*, int) = nullptr;
  int aux_save_triggers = 0;
  std::size_t (*free_effort)(String*, const void*) = nullptr;
  void (*unlink)(String*, const void*) = nullptr;
  void* (*copy)(String*, String*, const void*) = nullptr;
  int (*defrag)(DefragContext*, String*, void**) = nullptr;
  std::size_t (*mem_usage2)(void*, const void*, std::size_t) = nullptr;
  std::size_t (*free_effort2)(void*, const void*) = nullptr;
  void (*unlink2)(void*, const void*) = nullptr;
  void* (*copy2)(void*, void*, const void*) = nullptr;
};

enum BeginSearch { begin_search_invalid = 0, begin_search_index = 2 };

struct KeySpec {
  const char* notes = nullptr;
  std::uint64_t flags = 0;
  BeginSearch begin_search = begin_search_invalid;
  union {
    struct {
      int position;
    } index;
    struct {
      const char* keyword;
      int start_from;
    } keyword;
  } begin = {};
  int find_keys = 0;  ///< omitted: one key
  union {
    struct {
      int last_key;
      int step;
      int limit;
    } range;
    struct {
      int count_index;
      int first_key;
      int step;
    } counted;
  } find = {};
};

enum ArgumentType {
  argument_string = 0,
  argument_integer = 1,
  argument_double = 2,
  argument_key = 3,
  argument_pure_token = 6,
  argument_one_of = 7,
  argument_block = 8,
};
inline constexpr int argument_optional = 1 << 0;
inline constexpr int argument_multiple = 1 << 1;

/// A list of them ends with one that has no name.
struct Argument {
  const char* name = nullptr;
  ArgumentType type = argument_string;
  int key_spec_index = -1;
  const char* token = nullptr;
  const char* summary = nullptr;
  const char* since = nullptr;
  int flags = 0;
  const char* deprecated_since = nullptr;
  Argument* arguments = nullptr;
  const char* display_text = nullptr;
};

struct HistoryEntry {
  const char* since;
  const char* changes;
};

struct CommandInfoVersion {
  int version = 1;
  std::size_t history_entry_size = sizeof(HistoryEntry);
  std::size_t key_spec_size = sizeof(KeySpec);
  std::size_t argument_size = sizeof(Argument);
};

struct CommandInfo {
  const CommandInfoVersion* version = nullptr;
  const char* summary = nullptr;
  const char* complexity = nullptr;
  const char* since = nullptr;
  HistoryEntry* history = nullptr;
  const char* tips = nullptr;
  int arity = 0;
  KeySpec* key_specs = nullptr;
  Argument* arguments = nullptr;
};

/// The functions, each as the reference names it without its prefix.
namespace api {

// Life of the module.
inline void (*set_module_attribs)(Context*, const char* name, int version, int api_version);
inline int (*is_module_name_busy)(const char* name);
inline void (*set_module_options)(Context*, int options);
inline int (*create_command)(Context*, const char* name, CommandFunction, const char* flags,
                             int first_key, int last_key, int step);
inline Command* (*get_command)(Context*, const char* name);
inline int (*set_command_info)(Command*, const CommandInfo*);
inline int (*set_command_acl_categories)(Command*, const char* categories);  ///< 7.2
inline int (*add_acl_category)(Context*, const char* name);                  ///< 7.4
inline int (*get_server_version)();
inline void (*log)(Context*, const char* level, const char* format, ...);
inline int (*register_info_func)(Context*, void (*)(InfoContext*, int for_crash_report));
inline int (*info_add_section)(InfoContext*, const char* name);
inline int (*info_add_field_u_long_long)(InfoContext*, const char* field, unsigned long long value);

// Memory.
inline void* (*try_alloc)(std::size_t bytes);
inline void* (*try_calloc)(std::size_t count, std::size_t bytes);  ///< 7.4
inline void (*free)(void*);
inline std::size_t (*malloc_size)(void*);
inline ServerInfo* (*get_server_info)(Context*, const char* section);
inline void (*free_server_info)(Context*, ServerInfo*);
inline unsigned long long (*server_info_get_field_unsigned)(ServerInfo*, const char* field,
                                                            int* error);
inline const char* (*server_info_get_field_c)(ServerInfo*, const char* field);

// Settings.
inline int (*register_string_config)(Context*, const char* name, const char* initial,
                                     unsigned flags, String* (*get)(const char*, void*),
                                     int (*set)(const char*, String*, void*, String** error),
                                     int (*apply)(Context*, void*, String**), void* data);
inline int (*register_numeric_config)(Context*, const char* name, long long initial, unsigned flags,
                                      long long least, long long most,
                                      long long (*get)(const char*, void*),
                                      int (*set)(const char*, long long, void*, String** error),
                                      int (*apply)(Context*, void*, String**), void* data);
inline int (*register_bool_config)(Context*, const char* name, int initial, unsigned flags,
                                   int (*get)(const char*, void*),
                                   int (*set)(const char*, int, void*, String** error),
                                   int (*apply)(Context*, void*, String**), void* data);
inline int (*register_enum_config)(Context*, const char* name, int initial, unsigned flags,
                                   const char** words, const int* values, int count,
                                   int (*get)(const char*, void*),
                                   int (*set)(const char*, int, void*, String** error),
                                   int (*apply)(Context*, void*, String**), void* data);
inline int (*load_configs)(Context*);

// Keys.
inline Type* (*create_data_type)(Context*, const char* name, int encoding, TypeMethods*);
inline Key* (*open_key)(Context*, String* name, int mode);
inline void (*close_key)(Key*);
inline int (*key_type)(Key*);
inline Type* (*module_type_get_type)(Key*);
inline void* (*module_type_get_value)(Key*);
inline int (*module_type_set_value)(Key*, Type*, void* value);
inline int (*delete_key)(Key*);
inline long long (*get_abs_expire)(Key*);  ///< Unix time in ms, or -1
inline int (*set_abs_expire)(Key*, long long);
inline int (*signal_modified_key)(Context*, String* key);
inline int (*notify_keyspace_event)(Context*, int type, const char* event, String* key);

// Arguments.
inline const char* (*string_ptr_len)(const String*, std::size_t* length);
inline int (*string_to_long_long)(const String*, long long* value);
inline int (*string_to_double)(const String*, double* value);
inline char* (*string_dma)(Key*, std::size_t* length, int mode);
inline String* (*create_string)(Context*, const char* text, std::size_t length);
inline void (*free_string)(Context*, String*);
inline int (*get_context_flags)(Context*);

// Replies.
inline int (*wrong_arity)(Context*);
inline int (*reply_with_error)(Context*, const char* text);
inline int (*reply_with_simple_string)(Context*, const char* text);
inline int (*reply_with_long_long)(Context*, long long);
inline int (*reply_with_bool)(Context*, int);
inline int (*reply_with_double)(Context*, double);
inline int (*reply_with_null)(Context*);
inline int (*reply_with_array)(Context*, long length);
inline int (*reply_with_map)(Context*, long length);
inline int (*reply_with_string_buffer)(Context*, const char*, std::size_t);
inline int (*reply_with_string)(Context*, String*);

// Replication, and what the server runs for us.
inline int (*replicate)(Context*, const char* command, const char* format, ...);
inline int (*replicate_verbatim)(Context*);

// Persistence.
inline void (*save_unsigned)(Io*, std::uint64_t);
inline std::uint64_t (*load_unsigned)(Io*);
inline void (*save_double)(Io*, double);
inline double (*load_double)(Io*);
inline void (*save_string_buffer)(Io*, const char*, std::size_t);
inline char* (*load_string_buffer)(Io*, std::size_t* length);
inline int (*is_io_error)(Io*);
inline void (*log_io_error)(Io*, const char* level, const char* format, ...);
inline void (*emit_aof)(Io*, const char* command, const char* format, ...);
inline void (*digest_add_string_buffer)(Digest*, const char*, std::size_t);
inline void (*digest_add_long_long)(Digest*, long long);
inline void (*digest_end_sequence)(Digest*);
inline void* (*defrag_alloc)(DefragContext*, void*);

}  // namespace api

/// Fills the functions. `context` is what the server hands to the module when it loads it. Null, or
/// the name of a function that this server lacks and the module cannot do without.
const char* connect(Context* context) noexcept;

}  // namespace guestlist::server
