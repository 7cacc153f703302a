#include "bitmap_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "guestlist/redis/key_slot.hpp"
#include "guestlist/redis/shared_filter_state.hpp"
#include "shard_view.hpp"

namespace guestlist::redis {
namespace {

// KEYS bitmap, parameters. ARGV places a key, number of required fields, then each with its text,
// then the places. Returns {1, keys that changed a bit}, or {0} where a field has another text.
constexpr std::string_view add_text = R"lua(
local per_key, fields = tonumber(ARGV[1]), tonumber(ARGV[2])
local at = 3
for i = 1, fields do
  if redis.call('HGET', KEYS[2], ARGV[at]) ~= ARGV[at + 1] then
    return {0}
  end
  at = at + 2
end
local changed, call, bitmap = 0, redis.call, KEYS[1]
while at <= #ARGV do
  local set = 0
  for i = at, at + per_key - 1 do
    set = set + call('SETBIT', bitmap, ARGV[i], 1)
  end
  if set < per_key then
    changed = changed + 1
  end
  at = at + per_key
end
return {1, changed}
)lua";

const RedisScript& add_script() {
  static const RedisScript script(add_text);
  return script;
}

/// A string that grows in one step holds the server for as long as it takes to clear the memory.
constexpr std::uint64_t growth_step = std::uint64_t{16} << 20;
constexpr std::uint64_t count_step = std::uint64_t{1} << 20;

/// An add with a bitmap that is not there is the first one, unless Redis may have evicted it.
bool may_evict(const RedisReply& info_memory) {
  return !info_memory.is_ok() ||
         info_memory.text().find("maxmemory_policy:allkeys") != std::string_view::npos;
}

Error evicted(const std::string& bitmap) {
  return {
      Errc::corrupt,
      fmt::format("the bitmap '{}' is gone from Redis, and its policy may have evicted it: what "
                  "was added before is lost; load the filter again, and set another "
                  "maxmemory-policy",
                  bitmap)};
}

Error changed_meanwhile(const std::string& bitmap) {
  return {Errc::mismatched,
          fmt::format("the parameters of '{}' were changed while keys were added; nothing of this "
                      "call counts as added: try again",
                      bitmap)};
}

}  // namespace

struct BitmapFilter::Checking {
  std::vector<std::string> encoded;
  std::vector<std::size_t> indices;  ///< of the keys that have a form
  std::vector<Verdict> verdicts;
  Deadline deadline;
  Membership::Verdicts done;
  Places places;
  int round = 0;

  void finish() { done(verdicts); }
  void finish(Verdict verdict) {
    for (const auto index : indices) {
      verdicts[index] = verdict;
    }
    finish();
  }
};

struct BitmapFilter::Adding {
  std::vector<std::string> encoded;
  Deadline deadline;
  Completion<std::uint64_t> done;
  Places places;
  int round = 0;
};

BitmapFilter::BitmapFilter(std::shared_ptr<RedisClient> client,
                           std::unique_ptr<const BitmapFormat> format)
    : client_(std::move(client)),
      format_(std::move(format)),
      slot_(key_slot(format_->bitmap_key())) {}

BitmapFilter::Places BitmapFilter::known() const {
  const std::lock_guard lock(mutex_);
  return places_;
}

void BitmapFilter::learn(Places places) {
  const std::lock_guard lock(mutex_);
  places_ = std::move(places);
}

bool BitmapFilter::is_trusted(std::uint64_t session, const RedisReply& info) {
  const std::lock_guard lock(mutex_);
  const auto server = ServerIdentity::parse(info);
  if (!server || info.session() != session || !server->is_master ||
      (!trusted_server_.empty() && trusted_server_ != server->replication_id)) {
    return false;
  }
  trusted_server_ = server->replication_id;
  return true;
}

void BitmapFilter::append_parameters(RedisPipeline& pipeline) const {
  pipeline.add(slot_, {"STRLEN", format_->bitmap_key()});
  pipeline.add(slot_, {"WAIT", "0", "0"});
  pipeline.add(slot_, {"INFO", "replication"});
  if (!format_->parameters_key().empty()) {
    std::vector<std::string_view> words = {"HMGET", format_->parameters_key()};
    const auto fields = format_->parameter_fields();
    words.insert(words.end(), fields.begin(), fields.end());
    pipeline.add(slot_, words);
  }
}

void BitmapFilter::check(std::span<const std::string_view> keys, Deadline deadline,
                         Membership::Verdicts done) {
  const auto checking = std::make_shared<Checking>();
  checking->verdicts.assign(keys.size(), Verdict::unknown(Reason::unparsable));
  checking->deadline = deadline;
  checking->done = std::move(done);
  std::string buffer;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (const auto encoded = format_->encode(keys[i], buffer)) {
      checking->encoded.emplace_back(*encoded);
      checking->indices.push_back(i);
    }
  }
  if (checking->indices.empty()) {
    return checking->finish();
  }
  checking->places = known();
  send(checking);
}

void BitmapFilter::send(const std::shared_ptr<Checking>& checking) {
  RedisPipeline pipeline;
  std::vector<std::string> numbers;
  std::vector<std::string_view> words;
  std::vector<std::uint64_t> places;
  for (std::size_t first = 0; checking->places && first < checking->encoded.size();
       first += keys_per_command) {
    places.clear();
    const auto last = std::min(first + keys_per_command, checking->encoded.size());
    for (auto i = first; i < last; ++i) {
      checking->places->of(checking->encoded[i], places);
    }
    numbers.clear();
    for (const auto place : places) {
      numbers.push_back(fmt::format_int(place).str());
    }
    words = {"BITFIELD_RO", format_->bitmap_key()};
    for (const auto& number : numbers) {
      words.insert(words.end(), {"GET", "u1", number});
    }
    pipeline.add(slot_, words);
  }
  append_parameters(pipeline);
  client_->execute(std::move(pipeline), checking->deadline,
                   [self = shared_from_this(), checking](const RedisReplies& replies) {
                     self->received(checking, replies);
                   });
}

void BitmapFilter::received(const std::shared_ptr<Checking>& checking,
                            const RedisReplies& replies) {
  const auto reads =
      checking->places ? (checking->encoded.size() + keys_per_command - 1) / keys_per_command : 0;
  const auto& length = replies[reads];
  const auto& wait = replies[reads + 1];
  const auto& info = replies[reads + 2];
  const auto parameters = replies.size() > reads + 3 ? replies[reads + 3] : RedisReply();
  if (!length.is_ok()) {
    return checking->finish(Verdict::unknown(reason_of(length)));
  }
  const auto now = format_->places(parameters);
  if (!now) {
    learn(nullptr);
    const auto code = now.error().code;
    return checking->finish(Verdict::unknown(code == Errc::not_found ? Reason::missing
                                             : code == Errc::corrupt ? Reason::corrupt
                                                                     : reason_of(parameters)));
  }
  if (!checking->places || checking->places->required_fields() != (*now)->required_fields()) {
    learn(*now);
    checking->places = *now;
    if (checking->round++ == 0) {
      return send(checking);
    }
    return checking->finish(Verdict::unknown(Reason::mismatched));
  }
  if (length.integer().value_or(0) == 0) {
    return checking->finish(Verdict::unknown(Reason::missing));
  }
  if (!wait.is_ok()) {
    return checking->finish(Verdict::unknown(Reason::stale));
  }
  if (!is_trusted(length.session(), info)) {
    return checking->finish(Verdict::unknown(Reason::incomplete));
  }
  std::vector<std::uint64_t> places;
  for (std::size_t read = 0; read < reads; ++read) {
    const auto bits = replies[read].elements();
    const auto first = read * keys_per_command;
    const auto last = std::min(first + keys_per_command, checking->encoded.size());
    const auto per_key = bits.size() / (last - first);
    for (auto i = first; i < last; ++i) {
      auto& verdict = checking->verdicts[checking->indices[i]];
      if (!replies[read].is_ok() || replies[read].session() != length.session() || per_key == 0) {
        verdict =
            Verdict::unknown(replies[read].is_ok() ? Reason::stale : reason_of(replies[read]));
        continue;
      }
      const auto begin = bits.begin() + static_cast<std::ptrdiff_t>((i - first) * per_key);
      const bool all_set = std::all_of(begin, begin + static_cast<std::ptrdiff_t>(per_key),
                                       [](const RedisReply& bit) { return bit.integer() == 1; });
      verdict = all_set ? Verdict::maybe() : Verdict::absent();
    }
  }
  checking->finish();
}

void BitmapFilter::add(std::span<const std::string_view> keys, Deadline deadline,
                       Completion<std::uint64_t> done) {
  const auto adding = std::make_shared<Adding>();
  std::string buffer;
  for (const auto key : keys) {
    auto encoded = format_->encode(key, buffer);
    if (!encoded) {
      return done(fail(std::move(encoded).error()));
    }
    adding->encoded.emplace_back(*encoded);
  }
  if (adding->encoded.empty()) {
    return done(std::uint64_t{0});
  }
  adding->deadline = deadline;
  adding->done = std::move(done);
  // What is there is read first: an add must not make a bitmap anew that was evicted.
  RedisPipeline pipeline;
  append_parameters(pipeline);
  pipeline.add(slot_, {"INFO", "memory"});
  client_->execute(
      std::move(pipeline), deadline,
      [self = shared_from_this(), adding](const RedisReplies& replies) {
        if (!replies[0].is_ok()) {
          return adding->done(fail(replies[0].error()));
        }
        const bool has_parameters = !self->format_->parameters_key().empty();
        if (has_parameters && !replies[3].is_ok()) {
          return adding->done(fail(replies[3].error()));
        }
        auto places = self->format_->places(has_parameters ? replies[3] : RedisReply());
        if (!places) {
          return adding->done(fail(std::move(places).error()));
        }
        if (replies[0].integer() == 0) {
          if (!has_parameters) {
            return adding->done(
                fail(Errc::not_found, fmt::format("there is no bitmap '{}'; create it first",
                                                  self->format_->bitmap_key())));
          }
          if (may_evict(replies.back())) {
            return adding->done(fail(evicted(self->format_->bitmap_key())));
          }
        }
        adding->places = *places;
        self->learn(*places);
        self->send(adding);
      });
}

void BitmapFilter::send(const std::shared_ptr<Adding>& adding) {
  RedisPipeline pipeline;
  const auto required = adding->places->required_fields();
  std::vector<std::uint64_t> places;
  std::vector<std::string> texts;
  for (std::size_t first = 0; first < adding->encoded.size(); first += keys_per_command) {
    const auto last = std::min(first + keys_per_command, adding->encoded.size());
    places.clear();
    for (auto i = first; i < last; ++i) {
      adding->places->of(adding->encoded[i], places);
    }
    texts = {fmt::format("{}", places.size() / (last - first)), fmt::format("{}", required.size())};
    for (const auto& [field, text] : required) {
      texts.push_back(field);
      texts.push_back(text);
    }
    for (const auto place : places) {
      texts.push_back(fmt::format_int(place).str());
    }
    std::vector<std::string_view> keys = {format_->bitmap_key()};
    if (!format_->parameters_key().empty()) {
      keys.emplace_back(format_->parameters_key());
    }
    pipeline.add_script(slot_, add_script(), keys,
                        std::vector<std::string_view>(texts.begin(), texts.end()));
  }
  client_->execute(std::move(pipeline), adding->deadline,
                   [self = shared_from_this(), adding](const RedisReplies& replies) {
                     self->received(adding, replies);
                   });
}

void BitmapFilter::received(const std::shared_ptr<Adding>& adding, const RedisReplies& replies) {
  std::uint64_t changed = 0;
  for (const auto& reply : replies) {
    if (!reply.is_ok()) {
      return adding->done(fail(reply.error()));
    }
    if (reply.size() < 2) {
      return adding->done(fail(changed_meanwhile(format_->bitmap_key())));
    }
    changed += static_cast<std::uint64_t>(reply[1].integer().value_or(0));
  }
  adding->done(changed);
}

Result<void> BitmapFilter::grow(std::uint64_t bytes, Deadline deadline) {
  // A short string stays as short as its bits need, as other clients would have it.
  const auto target = bytes > growth_step ? bytes : 1;
  const auto length = client_->call(slot_, {"STRLEN", format_->bitmap_key()}, deadline);
  if (!length.is_ok()) {
    return fail(length.error());
  }
  for (auto at = static_cast<std::uint64_t>(length.integer().value_or(0)); at < target;) {
    at = std::min(at + growth_step, target);
    // SETBIT of a bit to 0 makes the string longer and leaves what is there.
    const auto grown = client_->call(
        slot_, {"SETBIT", format_->bitmap_key(), fmt::format("{}", at * 8 - 1), "0"}, deadline);
    if (!grown.is_ok()) {
      return fail(grown.error());
    }
  }
  return {};
}

Result<std::uint64_t> BitmapFilter::count_bits(Deadline deadline) {
  const auto length = client_->call(slot_, {"STRLEN", format_->bitmap_key()}, deadline);
  if (!length.is_ok()) {
    return fail(length.error());
  }
  std::uint64_t count = 0;
  const auto end = static_cast<std::uint64_t>(length.integer().value_or(0));
  for (std::uint64_t at = 0; at < end; at += count_step) {
    const auto piece = client_->call(slot_,
                                     {"BITCOUNT", format_->bitmap_key(), fmt::format("{}", at),
                                      fmt::format("{}", at + count_step - 1)},
                                     deadline);
    if (!piece.is_ok()) {
      return fail(piece.error());
    }
    count += static_cast<std::uint64_t>(piece.integer().value_or(0));
  }
  return count;
}

Result<std::uint64_t> BitmapFilter::drop(Deadline deadline) {
  const auto removed =
      format_->parameters_key().empty()
          ? client_->call(slot_, {"UNLINK", format_->bitmap_key()}, deadline)
          : client_->call(slot_, {"UNLINK", format_->parameters_key(), format_->bitmap_key()},
                          deadline);
  if (!removed.is_ok()) {
    return fail(removed.error());
  }
  if (removed.integer() == 0) {
    return fail(Errc::not_found, fmt::format("there is no filter '{}' at {}", format_->bitmap_key(),
                                             client_->url().text()));
  }
  learn(nullptr);
  return static_cast<std::uint64_t>(removed.integer().value_or(0));
}

}  // namespace guestlist::redis
