#pragma once

// Commands that travel together: one write and one round trip a node, whatever their number. They
// run in order on each node and are no transaction; where a Cluster redirects one of them it runs
// after the others.
//
// A command may be carried out twice (a reply that was lost, a redirection in between): send only
// what may safely happen again.
//
// Distinct objects: safe. Shared objects: one thread.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace guestlist {

/// A Lua script. It is sent by its digest; the client sends the text where a server does not know
/// it. Requires: the text lives as long as the program.
class RedisScript {
 public:
  explicit RedisScript(std::string_view text);

  std::string_view text() const noexcept { return text_; }
  /// SHA-1 in lower-case hexadecimal digits.
  std::string_view digest() const noexcept { return digest_; }

 private:
  std::string_view text_;
  std::string digest_;
};

class RedisPipeline {
 public:
  /// The slot (key_slot) says which node of a Cluster is meant. The arguments are copied.
  void add(std::uint16_t slot, std::initializer_list<std::string_view> arguments);
  void add(std::uint16_t slot, std::span<const std::string_view> arguments);
  /// Requires: `script` lives until the replies are there; every key that the script touches is in
  /// `keys`, and all are of `slot`.
  void add_script(std::uint16_t slot, const RedisScript& script,
                  std::span<const std::string_view> keys,
                  std::span<const std::string_view> arguments);

  std::size_t size() const noexcept { return commands_.size(); }
  bool empty() const noexcept { return commands_.empty(); }
  /// What the arguments take in memory.
  std::size_t bytes() const noexcept { return bytes_.size(); }

  std::uint16_t slot(std::size_t command) const noexcept { return commands_[command].slot; }
  const RedisScript* script(std::size_t command) const noexcept {
    return commands_[command].script;
  }
  /// The command's words, valid until the pipeline changes.
  void words(std::size_t command, std::vector<std::string_view>& out) const;

 private:
  struct Command {
    std::size_t first_word;
    std::uint16_t slot;
    const RedisScript* script;
  };
  void begin(std::uint16_t slot, const RedisScript* script);
  void word(std::string_view text);

  std::vector<Command> commands_;
  std::vector<std::size_t> word_ends_;
  std::string bytes_;
};

}  // namespace guestlist
