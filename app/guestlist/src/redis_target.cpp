#include "redis_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "argument_keys.hpp"
#include "guestlist/base/units.hpp"
#include "guestlist/redis/guava_redis_bloom_filter.hpp"
#include "guestlist/redis/module_filter.hpp"
#include "guestlist/redis/redisson_bloom_filter.hpp"
#include "guestlist/redis/shared_bloom_filter.hpp"
#include "numbers.hpp"
#include "progress.hpp"

namespace guestlist {
namespace {

constexpr std::array<std::string_view, 15> parameters_read = {
    "filter", "as", "codec", "java", "items",   "fpr",           "funnel",           "serializer",
    "shards", "ca", "cert",  "key",  "timeout", "sentinel_user", "sentinel_password"};

Result<void> check_parameters(const RedisUrl& url) {
  for (const auto& [name, value] : url.parameters) {
    if (std::find(parameters_read.begin(), parameters_read.end(), name) == parameters_read.end()) {
      return fail(Errc::invalid_argument,
                  fmt::format("the Redis URL has the unknown parameter '{}'; there are filter, as, "
                              "codec, java, items, fpr, funnel, serializer, shards, ca, cert, key, "
                              "timeout, sentinel_user, sentinel_password",
                              name));
    }
  }
  if (url.parameter("filter").empty()) {
    return fail(Errc::invalid_argument,
                "the Redis URL names no filter; add ?filter=NAME to it (in quotes for the shell)");
  }
  return {};
}

template <class Filter>
Result<std::shared_ptr<RemoteFilter>> as_remote(Result<std::shared_ptr<Filter>> filter) {
  if (!filter) return fail(std::move(filter).error());
  return std::shared_ptr<RemoteFilter>(*std::move(filter));
}

Result<std::shared_ptr<RemoteFilter>> make_redisson(const RedisUrl& url,
                                                    std::shared_ptr<RedisClient> client) {
  const auto encoding = RedissonEncoding::parse(url.parameter("codec"), url.parameter("java"));
  if (!encoding) return fail(encoding.error());
  return as_remote(RedissonBloomFilter::make(std::move(client),
                                             std::string(url.parameter("filter")), *encoding));
}

Result<std::shared_ptr<RemoteFilter>> make_guava(const RedisUrl& url,
                                                 std::shared_ptr<RedisClient> client,
                                                 std::optional<PlannedSize> size) {
  if (const auto items = url.parameter("items"); !items.empty()) {
    const auto fpr = url.parameter("fpr");
    const auto parsed = parse_size(std::string(items), fpr.empty() ? "0.01" : std::string(fpr));
    if (!parsed) return fail(parsed.error());
    size = *parsed;
  }
  if (!size) {
    return fail(Errc::invalid_argument,
                "a Guava bitmap does not hold its parameters: add &items=N&fpr=P to the URL, as in "
                "the program that filled it");
  }
  const auto funnel_name = url.parameter("funnel").empty() ? "once" : url.parameter("funnel");
  const auto funnel = guava_bitmap_funnel_from_name(funnel_name);
  if (!funnel) {
    return fail(Errc::invalid_argument,
                fmt::format("the Redis URL has funnel={}; it is once or twice (putString twice)",
                            funnel_name));
  }
  std::string key(url.parameter("filter"));
  const auto serializer = url.parameter("serializer");
  if (serializer == "jdk") {
    auto serialized = jdk_serialized_key(key);
    if (!serialized) return fail(std::move(serialized).error());
    key = *std::move(serialized);
  } else if (!serializer.empty() && serializer != "string") {
    return fail(
        Errc::invalid_argument,
        fmt::format("the Redis URL has serializer={}; it is string (StringRedisTemplate) or "
                    "jdk (RedisTemplate)",
                    serializer));
  }
  return as_remote(GuavaRedisBloomFilter::make(std::move(client), std::move(key), size->items,
                                               size->fpr, *funnel));
}

Result<std::shared_ptr<RemoteFilter>> make_filter_of(const RedisUrl& url,
                                                     std::shared_ptr<RedisClient> client,
                                                     std::optional<PlannedSize> size) {
  const auto as = url.parameter("as").empty() ? "native" : url.parameter("as");
  std::string name(url.parameter("filter"));
  if (as == "native") return as_remote(SharedBloomFilter::make(std::move(client), std::move(name)));
  if (as == "redisson") return make_redisson(url, std::move(client));
  if (as == "guava") return make_guava(url, std::move(client), size);
  if (as == "bf") {
    return std::shared_ptr<RemoteFilter>(
        std::make_shared<ModuleBloomFilter>(std::move(client), std::move(name)));
  }
  if (as == "cf") {
    return std::shared_ptr<RemoteFilter>(
        std::make_shared<ModuleCuckooFilter>(std::move(client), std::move(name)));
  }
  return fail(Errc::invalid_argument,
              fmt::format("the Redis URL has as={}; it is native, redisson, guava, bf or cf", as));
}

}  // namespace

Result<RedisTarget> RedisTarget::parse(const std::string& target, std::optional<PlannedSize> size) {
  const auto url = RedisUrl::parse(target);
  if (!url) return fail(url.error());
  if (auto checked = check_parameters(*url); !checked) return fail(std::move(checked).error());
  RedisTarget out;
  if (const auto shards = url->parameter("shards"); !shards.empty()) {
    const auto [end, error] =
        std::from_chars(shards.data(), shards.data() + shards.size(), out.shards_);
    if (error != std::errc{} || end != shards.data() + shards.size() || out.shards_ == 0 ||
        out.shards_ > 1024) {
      return fail(
          Errc::invalid_argument,
          fmt::format("the Redis URL has shards={}; it is a number from 1 to 1024", shards));
    }
  }
  auto client = RedisClient::make(*url);
  if (!client) return fail(std::move(client).error());
  auto filter = make_filter_of(*url, *client, size);
  if (!filter) return fail(std::move(filter).error());
  out.client_ = *std::move(client);
  out.filter_ = *std::move(filter);
  out.name_ = url->parameter("filter");
  out.is_native_ = url->parameter("as").empty() || url->parameter("as") == "native";
  return out;
}

Deadline RedisTarget::deadline() const {
  return Deadline::after(std::chrono::seconds(10), SteadyClock());
}

std::string RedisTarget::text() const {
  return fmt::format("{} at {}", name_, client_->url().text());
}

Result<std::uint64_t> RedisTarget::add(std::span<const std::string_view> keys) const {
  return wait_for<std::uint64_t>(
      [&](const Completion<std::uint64_t>& done) { filter_->add_counted(keys, deadline(), done); });
}

std::vector<Verdict> RedisTarget::check(std::span<const std::string_view> keys) const {
  auto verdicts = wait_for<std::vector<Verdict>>([&](const auto& done) {
    filter_->check(keys, deadline(), [done](std::span<const Verdict> answers) {
      done(std::vector<Verdict>(answers.begin(), answers.end()));
    });
  });
  return *std::move(verdicts);
}

Result<KeyType> agreed_key_type(const RedisTarget& target, const std::string& option,
                                KeyType of_filter) {
  if (target.is_native()) return agreed_key_type(option, std::string(name(of_filter)));
  return option.empty() ? Result<KeyType>(of_filter) : parse_key_type(option);
}

Result<Filled> for_each_batch(
    KeyReader& reader, KeyType type,
    const std::function<Result<std::uint64_t>(std::span<const std::string_view> keys)>& take) {
  constexpr std::size_t batch_keys = 4096;
  const auto began = std::chrono::steady_clock::now();
  Progress progress("reading", reader.input().total_bytes(), Progress::Unit::bytes);
  Filled filled;
  std::vector<std::string_view> keys;
  std::vector<std::string> canonical;
  std::string buffer;
  while (true) {
    if (auto read = reader.next(keys); !read) return fail(std::move(read).error());
    if (keys.empty()) break;
    for (std::size_t first = 0; first < keys.size(); first += batch_keys) {
      const auto last = std::min(first + batch_keys, keys.size());
      canonical.clear();
      for (auto i = first; i < last; ++i) {
        if (const auto spelt = canonicalize(type, keys[i], buffer)) canonical.emplace_back(*spelt);
      }
      const std::vector<std::string_view> batch(canonical.begin(), canonical.end());
      const auto added = take(batch);
      if (!added) return fail(added.error());
      filled.keys += last - first;
      filled.unparsable += last - first - canonical.size();
      filled.added += *added;
    }
    progress(reader.input().bytes_read());
  }
  filled.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return filled;
}

boost::json::object describe(const RemoteFilterFacts& facts) {
  boost::json::object figures = {{"structure", facts.structure},
                                 {"capacity", facts.capacity},
                                 {"fpr", facts.fpr},
                                 {"bits", facts.bits},
                                 {"size_bytes", facts.size_bytes},
                                 {"hash", facts.hash},
                                 {"generation", facts.generation}};
  if (facts.capacity > 0) {
    figures["bits_per_key"] = static_cast<double>(facts.bits) / static_cast<double>(facts.capacity);
  }
  if (facts.items) figures["items"] = *facts.items;
  if (facts.estimated_items) figures["estimated_items"] = *facts.estimated_items;
  if (facts.fill) figures["fill"] = *facts.fill;
  if (facts.fpr_now) figures["fpr_now"] = *facts.fpr_now;
  if (!facts.distrust.empty()) figures["distrust"] = facts.distrust;
  return figures;
}

std::string text_of(const RemoteFilterFacts& facts) {
  std::string text;
  const auto line = [&](std::string_view label, const std::string& value) {
    text += fmt::format("{:<18}{}\n", label, value);
  };
  line("structure", facts.structure);
  line("size", fmt::format("{} ({:.2f} bits a planned key)", format_bytes(facts.size_bytes),
                           static_cast<double>(facts.bits) /
                               static_cast<double>(std::max<std::uint64_t>(1, facts.capacity))));
  line("planned", fmt::format("{} items at an fpr of {}", format_count(facts.capacity), facts.fpr));
  if (facts.items) line("items counted", format_count(*facts.items));
  if (facts.estimated_items) line("items estimated", format_count(*facts.estimated_items));
  if (facts.fill) line("fill", fmt::format("{:.2f} %", *facts.fill * 100));
  if (facts.fpr_now) line("fpr now", fmt::format("{:.4g}", *facts.fpr_now));
  line("hash", facts.hash);
  line("generation", fmt::format("{}", facts.generation));
  if (!facts.distrust.empty()) line("not trusted", facts.distrust);
  return text;
}

}  // namespace guestlist
