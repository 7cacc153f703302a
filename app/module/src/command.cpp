#include "command.hpp"

#include <algorithm>
#include <cctype>

namespace guestlist::server {

bool is_word(std::string_view text, std::string_view word) noexcept {
  return std::ranges::equal(text, word, [](char left, char right) {
    return std::tolower(static_cast<unsigned char>(left)) ==
           std::tolower(static_cast<unsigned char>(right));
  });
}

const char* register_command(Context* context, const CommandSpec& spec) {
  const int last_key = spec.second_key != 0 ? spec.second_key : spec.key_count == -1 ? -1 : 1;
  const int step = spec.second_key != 0 ? spec.second_key - 1 : 1;
  if (api::create_command(context, spec.name, spec.function, spec.flags, 1, last_key, step) != ok)
    return "a command exists already; is another module loaded that has it?";
  Command* const command = api::get_command(context, spec.name);
  if (command == nullptr) return "the server does not know the command";

  static const CommandInfoVersion version;
  KeySpec keys[3];
  keys[0].flags = spec.key_flags;
  keys[0].begin_search = begin_search_index;
  keys[0].begin.index.position = 1;
  if (spec.key_count == -1) {
    // The first is written, the others are read.
    keys[1].flags = key_read_only | key_access;
    keys[1].begin_search = begin_search_index;
    keys[1].begin.index.position = 2;
    keys[1].find_keys = 3;
    keys[1].find.range = {-1, 1, 0};
  }
  if (spec.second_key != 0) {
    keys[1].flags = key_read_only | key_access;
    keys[1].begin_search = begin_search_index;
    keys[1].begin.index.position = spec.second_key;
  }
  CommandInfo info;
  info.version = &version;
  info.summary = spec.summary;
  info.complexity = spec.complexity;
  info.since = spec.since;
  info.tips = spec.tips;
  info.arity = spec.arity;
  info.key_specs = keys;
  info.arguments = spec.arguments;
  if (api::set_command_info(command, &info) != ok) return "the server refused its documentation";
  if (api::set_command_acl_categories != nullptr && api::add_acl_category != nullptr &&
      api::set_command_acl_categories(command, spec.acl_categories) != ok)
    return "the server refused its categories";
  return nullptr;
}

}  // namespace guestlist::server
