#include "guestlist/redis/module_filter.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>
#include <vector>

#include "guestlist/redis/key_slot.hpp"
#include "guestlist/redis/shared_filter_state.hpp"
#include "shard_view.hpp"

namespace guestlist {
namespace {

constexpr std::size_t keys_per_command = 256;

constexpr ModuleFilter::Family bloom = {"bf", "BF.RESERVE", "BF.INSERT", "BF.MEXISTS", "BF.INFO"};
constexpr ModuleFilter::Family cuckoo = {"cf", "CF.RESERVE", "CF.INSERTNX", "CF.MEXISTS",
                                         "CF.INFO"};

/// RESP3 answers with booleans, RESP2 with numbers.
bool is_true(const RedisReply& reply) {
  return reply.integer() == 1 || reply.text() == "t";
}

bool is_false(const RedisReply& reply) {
  return reply.integer() == 0 || reply.text() == "f";
}

Error module_error(const RedisReply& reply, const ModuleFilter::Family& family) {
  auto error = reply.error();
  if (reply.text().find("unknown command") != std::string_view::npos) {
    error.code = Errc::unavailable;
    error.detail = fmt::format(
        "the server has no {} commands: load a module that brings them "
        "(Redis 8, Redis Stack, valkey-bloom), or use another `as=`",
        family.structure == "bf" ? "BF.*" : "CF.*");
  } else if (reply.text().find("not found") != std::string_view::npos ||
             reply.text().find("does not exist") != std::string_view::npos) {
    error.code = Errc::not_found;
  } else if (reply.text().find("full") != std::string_view::npos) {
    error.code = Errc::full;
  }
  return error;
}

/// The value of a field in the reply to INFO, a map or a flat array.
std::optional<std::uint64_t> field(const RedisReply& info, std::string_view name) {
  const auto elements = info.elements();
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2) {
    if (elements[i].text() == name) {
      const auto value = elements[i + 1].integer();
      return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

class ModuleFilter::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(const Family& family, std::shared_ptr<RedisClient> client, std::string key)
      : family_(family), client_(std::move(client)), key_(std::move(key)), slot_(key_slot(key_)) {}

  void check(std::span<const std::string_view> keys, Deadline deadline, Verdicts done) {
    if (keys.empty()) {
      return done({});
    }
    RedisPipeline pipeline;
    for_each_part(keys, [&](std::span<const std::string_view> part) {
      std::vector<std::string_view> words = {family_.exists, key_};
      words.insert(words.end(), part.begin(), part.end());
      pipeline.add(slot_, words);
    });
    pipeline.add(slot_, {"EXISTS", key_});
    pipeline.add(slot_, {"WAIT", "0", "0"});
    pipeline.add(slot_, {"INFO", "replication"});
    client_->execute(std::move(pipeline), deadline,
                     [self = shared_from_this(), count = keys.size(), done = std::move(done)](
                         const RedisReplies& replies) { done(self->verdicts(replies, count)); });
  }

  void add(std::span<const std::string_view> keys, Deadline deadline,
           Completion<std::uint64_t> done) {
    if (keys.empty()) {
      return done(std::uint64_t{0});
    }
    RedisPipeline pipeline;
    for_each_part(keys, [&](std::span<const std::string_view> part) {
      std::vector<std::string_view> words = {family_.insert, key_, "NOCREATE", "ITEMS"};
      words.insert(words.end(), part.begin(), part.end());
      pipeline.add(slot_, words);
    });
    client_->execute(std::move(pipeline), deadline,
                     [self = shared_from_this(), done = std::move(done)](const auto& replies) {
                       done(self->count_added(replies));
                     });
  }

  RedisReply call(std::initializer_list<std::string_view> words, Deadline deadline) {
    return client_->call(slot_, words, deadline);
  }

  const Family& family() const noexcept { return family_; }
  const std::string& key() const noexcept { return key_; }
  const RedisClient& client() const noexcept { return *client_; }

 private:
  template <class Take>
  static void for_each_part(std::span<const std::string_view> keys, Take take) {
    for (std::size_t first = 0; first < keys.size(); first += keys_per_command) {
      take(keys.subspan(first, std::min(keys_per_command, keys.size() - first)));
    }
  }

  std::vector<Verdict> verdicts(const RedisReplies& replies, std::size_t count) {
    const auto closing = replies.size() - 3;
    const auto& exists = replies[closing];
    const auto all = [&](Reason reason) {
      return std::vector<Verdict>(count, Verdict::unknown(reason));
    };
    if (!exists.is_ok()) {
      return all(redis::reason_of(exists));
    }
    if (exists.integer() != 1) {
      return all(Reason::missing);
    }
    if (!replies[closing + 1].is_ok()) {
      return all(Reason::stale);
    }
    if (!is_trusted(exists.session(), replies[closing + 2])) {
      return all(Reason::incomplete);
    }
    std::vector<Verdict> out;
    for (std::size_t part = 0; part < closing; ++part) {
      const auto size = std::min(keys_per_command, count - out.size());
      const auto& reply = replies[part];
      if (!reply.is_ok() || reply.size() != size || reply.session() != exists.session()) {
        out.resize(out.size() + size, Verdict::unknown(redis::reason_of(reply)));
        continue;
      }
      for (const auto& found : reply.elements()) {
        out.push_back(is_true(found)    ? Verdict::maybe()
                      : is_false(found) ? Verdict::absent()
                                        : Verdict::unknown(Reason::mismatched));
      }
    }
    return out;
  }

  Result<std::uint64_t> count_added(const RedisReplies& replies) const {
    std::uint64_t added = 0;
    for (const auto& reply : replies) {
      if (!reply.is_ok()) {
        return fail(module_error(reply, family_));
      }
      for (const auto& one : reply.elements()) {
        if (!one.is_ok()) {
          return fail(module_error(one, family_));
        }
        if (one.integer() == -1) {
          return fail(Errc::full,
                      fmt::format("the filter '{}' is full; reserve a larger one", key_));
        }
        added += is_true(one) ? 1 : 0;
      }
    }
    return added;
  }

  bool is_trusted(std::uint64_t session, const RedisReply& info) {
    const std::lock_guard lock(mutex_);
    const auto server = ServerIdentity::parse(info);
    if (!server || info.session() != session || !server->is_master ||
        (!trusted_server_.empty() && trusted_server_ != server->replication_id)) {
      return false;
    }
    trusted_server_ = server->replication_id;
    return true;
  }

  const Family family_;
  const std::shared_ptr<RedisClient> client_;
  const std::string key_;
  const std::uint16_t slot_;
  std::mutex mutex_;
  std::string trusted_server_;
};

ModuleFilter::ModuleFilter(const Family& family, std::shared_ptr<RedisClient> client,
                           std::string key)
    : core_(std::make_shared<Core>(family, std::move(client), std::move(key))) {}

ModuleFilter::~ModuleFilter() = default;

ModuleBloomFilter::ModuleBloomFilter(std::shared_ptr<RedisClient> client, std::string key)
    : ModuleFilter(bloom, std::move(client), std::move(key)) {}

ModuleCuckooFilter::ModuleCuckooFilter(std::shared_ptr<RedisClient> client, std::string key)
    : ModuleFilter(cuckoo, std::move(client), std::move(key)) {}

void ModuleFilter::check(std::span<const std::string_view> keys, Deadline deadline, Verdicts done) {
  core_->check(keys, deadline, std::move(done));
}

void ModuleFilter::add_counted(std::span<const std::string_view> keys, Deadline deadline,
                               Completion<std::uint64_t> done) {
  core_->add(keys, deadline, std::move(done));
}

Result<KeyType> ModuleFilter::open(Deadline deadline) {
  const auto info = core_->call({core_->family().info, core_->key()}, deadline);
  if (!info.is_ok()) {
    return fail(module_error(info, core_->family()));
  }
  return KeyType::text;
}

Result<bool> ModuleFilter::create(std::uint64_t items, double fpr, Deadline deadline) {
  const auto capacity = fmt::format("{}", items);
  const auto rate = fmt::format("{}", fpr);
  const auto& family = core_->family();
  const auto made = family.structure == "bf"
                        ? core_->call({family.reserve, core_->key(), rate, capacity}, deadline)
                        : core_->call({family.reserve, core_->key(), capacity}, deadline);
  if (made.is_ok()) {
    return true;
  }
  if (made.text().find("exists") == std::string_view::npos) {
    return fail(module_error(made, family));
  }
  const auto facts = inspect(deadline);
  if (!facts) {
    return fail(facts.error());
  }
  // A cuckoo filter's capacity is rounded up by the server, a Bloom filter's grows by chaining.
  if (family.structure == "bf" ? facts->capacity != items : facts->capacity < items) {
    return fail(Errc::already_exists,
                fmt::format("the filter '{}' exists already and is left alone: its capacity is {}; "
                            "drop it, or name another",
                            core_->key(), facts->capacity));
  }
  return false;
}

Result<RemoteFilterFacts> ModuleFilter::inspect(Deadline deadline) {
  const auto& family = core_->family();
  const auto info = core_->call({family.info, core_->key()}, deadline);
  if (!info.is_ok()) {
    return fail(module_error(info, family));
  }
  RemoteFilterFacts facts;
  facts.structure = family.structure;
  facts.size_bytes = field(info, "Size").value_or(0);
  facts.bits = facts.size_bytes * 8;
  facts.items = field(info, "Number of items inserted");
  facts.hash = "the module's";
  if (family.structure == "bf") {
    facts.capacity = field(info, "Capacity").value_or(0);
  } else {
    facts.capacity =
        field(info, "Number of buckets").value_or(0) * field(info, "Bucket size").value_or(0);
  }
  return facts;
}

Result<std::uint64_t> ModuleFilter::drop(Deadline deadline) {
  const auto removed = core_->call({"UNLINK", core_->key()}, deadline);
  if (!removed.is_ok()) {
    return fail(removed.error());
  }
  if (removed.integer() == 0) {
    return fail(Errc::not_found, fmt::format("there is no filter '{}' at {}", core_->key(),
                                             core_->client().url().text()));
  }
  return static_cast<std::uint64_t>(removed.integer().value_or(0));
}

}  // namespace guestlist
