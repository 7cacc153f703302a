#include "guestlist/redis/redis_pipeline.hpp"

#include <fmt/core.h>
#include <openssl/evp.h>

#include <array>

namespace guestlist {

RedisScript::RedisScript(std::string_view text) : text_(text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha1(), nullptr);
  for (unsigned i = 0; i < length; ++i) {
    digest_ += fmt::format("{:02x}", digest[i]);
  }
}

void RedisPipeline::begin(std::uint16_t slot, const RedisScript* script) {
  commands_.push_back({word_ends_.size(), slot, script});
}

void RedisPipeline::word(std::string_view text) {
  bytes_ += text;
  word_ends_.push_back(bytes_.size());
}

void RedisPipeline::add(std::uint16_t slot, std::initializer_list<std::string_view> arguments) {
  add(slot, std::span(arguments.begin(), arguments.size()));
}

void RedisPipeline::add(std::uint16_t slot, std::span<const std::string_view> arguments) {
  begin(slot, nullptr);
  for (const auto argument : arguments) {
    word(argument);
  }
}

void RedisPipeline::add_script(std::uint16_t slot, const RedisScript& script,
                               std::span<const std::string_view> keys,
                               std::span<const std::string_view> arguments) {
  begin(slot, &script);
  word("EVALSHA");
  word(script.digest());
  word(fmt::format("{}", keys.size()));
  for (const auto key : keys) {
    word(key);
  }
  for (const auto argument : arguments) {
    word(argument);
  }
}

void RedisPipeline::words(std::size_t command, std::vector<std::string_view>& out) const {
  out.clear();
  const auto last =
      command + 1 < commands_.size() ? commands_[command + 1].first_word : word_ends_.size();
  for (auto i = commands_[command].first_word; i < last; ++i) {
    const auto begin = i == 0 ? 0 : word_ends_[i - 1];
    out.push_back(std::string_view(bytes_).substr(begin, word_ends_[i] - begin));
  }
}

}  // namespace guestlist
