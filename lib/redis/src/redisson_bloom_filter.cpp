#include "guestlist/redis/redisson_bloom_filter.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "bitmap_filter.hpp"
#include "guestlist/redis/key_slot.hpp"

namespace guestlist {
namespace {

class RedissonPlaces final : public redis::BitmapPlaces {
 public:
  explicit RedissonPlaces(const RedissonParameters& parameters) : parameters_(parameters) {}

  void of(std::string_view encoded, std::vector<std::uint64_t>& places) const override {
    RedissonProbes probes(encoded, parameters_.size);
    for (std::uint32_t i = 0; i < parameters_.hash_iterations; ++i) {
      places.push_back(probes.next());
    }
  }
  std::vector<std::pair<std::string, std::string>> required_fields() const override {
    const auto texts = parameters_.fields();
    return {{std::string(RedissonParameters::field_names[0]), texts[0]},
            {std::string(RedissonParameters::field_names[1]), texts[1]}};
  }
  std::uint64_t size_bytes() const override { return parameters_.size_bytes(); }

 private:
  RedissonParameters parameters_;
};

Result<RedissonParameters> parse_values(const RedisReply& reply) {
  if (!reply.is_ok()) {
    return fail(reply.error());
  }
  const auto elements = reply.elements();
  std::array<std::optional<std::string_view>, 4> values;
  for (std::size_t i = 0; i < values.size() && i < elements.size(); ++i) {
    if (!elements[i].is_null()) {
      values[i] = elements[i].text();
    }
  }
  return RedissonParameters::parse(values);
}

class RedissonFormat final : public redis::BitmapFormat {
 public:
  RedissonFormat(std::string name, RedissonEncoding encoding)
      : name_(std::move(name)), config_(redisson_config_key(name_)), encoding_(encoding) {}

  const std::string& bitmap_key() const override { return name_; }
  const std::string& parameters_key() const override { return config_; }
  std::span<const std::string_view> parameter_fields() const override {
    return RedissonParameters::field_names;
  }
  Result<std::shared_ptr<const redis::BitmapPlaces>> places(
      const RedisReply& values) const override {
    const auto parameters = parse_values(values);
    if (!parameters) {
      return fail(parameters.error());
    }
    return std::shared_ptr<const redis::BitmapPlaces>(
        std::make_shared<RedissonPlaces>(*parameters));
  }
  Result<std::string_view> encode(std::string_view key, std::string& buffer) const override {
    return encoding_.encode(key, buffer);
  }

 private:
  std::string name_;
  std::string config_;
  RedissonEncoding encoding_;
};

// KEYS parameters. ARGV fields and texts. Returns 1, or 0 where there are some already.
constexpr std::string_view create_text = R"lua(
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
)lua";

// KEYS bitmap, parameters. ARGV milliseconds. Returns 1, or 0 where one of them is not there.
constexpr std::string_view expire_text = R"lua(
if redis.call('EXISTS', KEYS[1], KEYS[2]) < 2 then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
return 1
)lua";

// KEYS bitmap, parameters, new bitmap, new parameters. Returns 1; 0 where there is no filter; -1
// where the new name is taken. Neither rename frees anything, so both are short, however large the
// bitmap.
constexpr std::string_view rename_text = R"lua(
if redis.call('EXISTS', KEYS[3], KEYS[4]) > 0 then
  return -1
end
if redis.call('EXISTS', KEYS[2]) == 0 then
  return 0
end
redis.call('RENAME', KEYS[2], KEYS[4])
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('RENAME', KEYS[1], KEYS[3])
end
return 1
)lua";

Result<std::int64_t> run(redis::BitmapFilter& bitmap, std::string_view text,
                         std::initializer_list<std::string_view> keys,
                         std::span<const std::string_view> arguments, Deadline deadline) {
  const RedisScript script(text);
  RedisPipeline pipeline;
  pipeline.add_script(bitmap.slot(), script, std::span(keys.begin(), keys.size()), arguments);
  const auto replies = bitmap.client().execute(std::move(pipeline), deadline);
  if (!replies.front().is_ok()) {
    return fail(replies.front().error());
  }
  return replies.front().integer().value_or(0);
}

Error no_such_filter(const std::string& name) {
  return {Errc::not_found, fmt::format("there is no Redisson filter '{}'; create it first", name)};
}

}  // namespace

Result<std::shared_ptr<RedissonBloomFilter>> RedissonBloomFilter::make(
    std::shared_ptr<RedisClient> client, std::string name, RedissonEncoding encoding) {
  if (name.empty()) {
    return fail(Errc::invalid_argument, "the name of the Redisson filter is empty");
  }
  if (client->url().topology == RedisTopology::cluster) {
    if (auto valid = check_redisson_cluster_name(name); !valid) {
      return fail(std::move(valid).error());
    }
  }
  auto bitmap = std::make_shared<redis::BitmapFilter>(
      std::move(client), std::make_unique<RedissonFormat>(name, encoding));
  return std::shared_ptr<RedissonBloomFilter>(
      new RedissonBloomFilter(std::move(bitmap), std::move(name)));
}

void RedissonBloomFilter::check(std::span<const std::string_view> keys, Deadline deadline,
                                Verdicts done) {
  bitmap_->check(keys, deadline, std::move(done));
}

void RedissonBloomFilter::add_counted(std::span<const std::string_view> keys, Deadline deadline,
                                      Completion<std::uint64_t> done) {
  bitmap_->add(keys, deadline, std::move(done));
}

Result<KeyType> RedissonBloomFilter::open(Deadline deadline) {
  const auto now = parameters(deadline);
  if (!now) {
    return fail(now.error().code == Errc::not_found ? no_such_filter(name_) : now.error());
  }
  return KeyType::text;
}

Result<bool> RedissonBloomFilter::create(std::uint64_t items, double fpr, Deadline deadline) {
  const auto wanted = RedissonParameters::make(static_cast<std::int64_t>(items), fpr);
  if (!wanted) {
    return fail(wanted.error());
  }
  const auto texts = wanted->fields();
  std::vector<std::string_view> arguments;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    arguments.push_back(RedissonParameters::field_names[i]);
    arguments.push_back(texts[i]);
  }
  // A bitmap without parameters is what is left of another filter; its bits would be taken for
  // ours.
  const auto left_over = bitmap_->client().call(bitmap_->slot(), {"EXISTS", name_}, deadline);
  if (!left_over.is_ok()) {
    return fail(left_over.error());
  }
  auto there = parameters(deadline);
  if (!there && there.error().code != Errc::not_found) {
    return fail(std::move(there).error());
  }
  if (!there && left_over.integer() == 1) {
    return fail(
        Errc::already_exists,
        fmt::format("the key '{}' is there without its parameters '{}': it is what is left of "
                    "another filter, or another program's; remove it first",
                    name_, bitmap_->format().parameters_key()));
  }
  const auto made =
      run(*bitmap_, create_text, {bitmap_->format().parameters_key()}, arguments, deadline);
  if (!made) {
    return fail(made.error());
  }
  if (*made == 1) {
    if (auto grown = bitmap_->grow(wanted->size_bytes(), deadline); !grown) {
      return fail(std::move(grown).error());
    }
    return true;
  }
  there = parameters(deadline);
  if (!there) {
    return fail(std::move(there).error());
  }
  if (there->size != wanted->size || there->hash_iterations != wanted->hash_iterations) {
    return fail(
        Errc::already_exists,
        fmt::format("the Redisson filter '{}' exists already and is left alone: it was made "
                    "for {} items at {}; drop it, or name another",
                    name_, there->expected_insertions, there->false_probability));
  }
  return false;
}

Result<RedissonParameters> RedissonBloomFilter::parameters(Deadline deadline) {
  std::vector<std::string_view> words = {"HMGET", bitmap_->format().parameters_key()};
  const auto fields = bitmap_->format().parameter_fields();
  words.insert(words.end(), fields.begin(), fields.end());
  RedisPipeline pipeline;
  pipeline.add(bitmap_->slot(), words);
  return parse_values(bitmap_->client().execute(std::move(pipeline), deadline).front());
}

Result<std::uint64_t> RedissonBloomFilter::count(Deadline deadline) {
  const auto now = parameters(deadline);
  if (!now) {
    return fail(now.error());
  }
  const auto set = bitmap_->count_bits(deadline);
  if (!set) {
    return fail(set.error());
  }
  const auto count = now->count(*set);
  if (!count) {
    return fail(Errc::full, fmt::format("every bit of '{}' is set: it holds too many keys for a "
                                        "count; build a larger one",
                                        name_));
  }
  return *count;
}

Result<RemoteFilterFacts> RedissonBloomFilter::inspect(Deadline deadline) {
  const auto now = parameters(deadline);
  if (!now) {
    return fail(now.error());
  }
  const auto set = bitmap_->count_bits(deadline);
  if (!set) {
    return fail(set.error());
  }
  RemoteFilterFacts facts;
  facts.structure = "redisson";
  facts.capacity = now->expected_insertions;
  facts.fpr = now->false_probability;
  facts.bits = now->size;
  facts.size_bytes = now->size_bytes();
  facts.hash = "highwayhash-128";
  facts.estimated_items = now->count(*set);
  facts.fill = static_cast<double>(*set) / static_cast<double>(now->size);
  facts.fpr_now = std::pow(*facts.fill, now->hash_iterations);
  const auto length = bitmap_->client().call(bitmap_->slot(), {"STRLEN", name_}, deadline);
  if (length.integer() == 0) {
    facts.distrust = "its bitmap is not there: nothing was added yet, or it was evicted";
  }
  return facts;
}

Result<std::uint64_t> RedissonBloomFilter::drop(Deadline deadline) {
  return bitmap_->drop(deadline);
}

Result<void> RedissonBloomFilter::expire(Duration time_to_live, Deadline deadline) {
  const auto milliseconds = fmt::format(
      "{}", std::chrono::duration_cast<std::chrono::milliseconds>(time_to_live).count());
  const std::string_view arguments[] = {milliseconds};
  const auto done =
      run(*bitmap_, expire_text, {name_, bitmap_->format().parameters_key()}, arguments, deadline);
  if (!done) {
    return fail(done.error());
  }
  return *done == 1 ? Result<void>() : Result<void>(fail(no_such_filter(name_)));
}

Result<void> RedissonBloomFilter::rename(const std::string& new_name, Deadline deadline) {
  const auto new_config = redisson_config_key(new_name);
  if (bitmap_->client().url().topology == RedisTopology::cluster &&
      (key_slot(new_name) != bitmap_->slot() || key_slot(new_config) != bitmap_->slot())) {
    return fail(
        Errc::invalid_argument,
        fmt::format("a Cluster keeps '{}' and '{}' in different slots and cannot rename one "
                    "to the other; give both the same hash tag",
                    name_, new_name));
  }
  const auto done =
      run(*bitmap_, rename_text, {name_, bitmap_->format().parameters_key(), new_name, new_config},
          {}, deadline);
  if (!done) {
    return fail(done.error());
  }
  if (*done == -1) {
    return fail(Errc::already_exists,
                fmt::format("'{}' is taken; drop it first, or choose another name", new_name));
  }
  return *done == 1 ? Result<void>() : Result<void>(fail(no_such_filter(name_)));
}

}  // namespace guestlist
