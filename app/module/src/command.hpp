#pragma once

// What all commands share: their table, keys that are opened and closed, replies.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/bloom_value.hpp"
#include "server_api.hpp"

namespace guestlist::server {

/// A command as the server is told of it. Texts live as long as the module.
struct CommandSpec {
  const char* name;
  CommandFunction function;
  const char* flags;
  const char* acl_categories;
  int arity;
  std::uint64_t key_flags;
  const char* summary;
  const char* complexity;
  const char* since;
  Argument* arguments;
  const char* tips = nullptr;
  /// Of a second key, or 0.
  int second_key = 0;
  /// How many arguments from the first key on are keys; -1: all that follow.
  int key_count = 1;
};

using Arguments = std::span<String*>;

inline std::string_view view(const String* text) noexcept {
  std::size_t size = 0;
  const char* const data = api::string_ptr_len(text, &size);
  return {data, size};
}

/// Whether two words are one, apart from the case of ASCII letters.
bool is_word(std::string_view text, std::string_view word) noexcept;

inline int reply_error(Context* context, const char* text) {
  api::reply_with_error(context, text);
  return ok;
}
inline int reply_ok(Context* context) {
  api::reply_with_simple_string(context, "OK");
  return ok;
}
inline constexpr const char* wrong_type =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

/// A key while a command works on it.
class OpenKey {
 public:
  OpenKey(Context* context, String* name, int mode)
      : context_(context), name_(name), key_(api::open_key(context, name, mode)) {}
  OpenKey(const OpenKey&) = delete;
  OpenKey& operator=(const OpenKey&) = delete;
  ~OpenKey() {
    if (key_ != nullptr) api::close_key(key_);
  }

  bool is_missing() const { return key_ == nullptr || api::key_type(key_) == key_empty; }
  /// The value where it is of this type; null where the key is missing or of another.
  void* value_of(Type* type) const {
    if (key_ == nullptr || api::key_type(key_) != key_module ||
        api::module_type_get_type(key_) != type)
      return nullptr;
    return api::module_type_get_value(key_);
  }
  /// Puts a value into the key, in place of what was there; when it expires stays.
  void set(Type* type, void* value) {
    const long long expiry = api::get_abs_expire(key_);
    api::module_type_set_value(key_, type, value);
    if (expiry != -1) api::set_abs_expire(key_, expiry);
  }
  /// Tells those who watch the key or listen for its events.
  void changed(const char* event) {
    api::signal_modified_key(context_, name_);
    api::notify_keyspace_event(context_, notify_generic, event, name_);
  }
  Key* raw() const noexcept { return key_; }

 private:
  Context* context_;
  String* name_;
  Key* key_;
};

std::span<const CommandSpec> bloom_commands();
/// Of whole filters: joined, emptied, built elsewhere.
std::span<const CommandSpec> bloom_whole_commands();
/// Of any filter, and with three answers.
std::span<const CommandSpec> verdict_commands();

/// Registers a command with its documentation. Null, or what went wrong.
const char* register_command(Context* context, const CommandSpec& spec);

}  // namespace guestlist::server
