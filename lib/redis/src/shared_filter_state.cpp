#include "guestlist/redis/shared_filter_state.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "guestlist/base/bytes.hpp"

namespace guestlist {
namespace {

using Fields = std::map<std::string_view, std::string_view>;

template <class Number>
bool read_number(std::string_view text, Number& value) noexcept {
  if (text.empty()) {
    return true;  // an absent field has its default
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

tl::unexpected<Error> foreign(std::string_view what) {
  return fail(Errc::foreign_format,
              fmt::format("the state of the filter in Redis has {}; the key belongs to another "
                          "program, or drop the filter and build it again",
                          what));
}

Result<std::optional<GenerationParameters>> parameters_of(const Fields& fields,
                                                          std::uint64_t generation) {
  const auto found = fields.find(fmt::format("generation:{}", generation));
  if (generation == 0 || found == fields.end()) {
    return std::optional<GenerationParameters>();
  }
  auto parsed = GenerationParameters::parse(found->second);
  if (!parsed) {
    return fail(std::move(parsed).error());
  }
  return std::optional(std::move(*parsed));
}

}  // namespace

Result<std::optional<SharedFilterState>> SharedFilterState::parse(const RedisReply& reply) {
  if (!reply.is_ok()) {
    return fail(reply.error());
  }
  const auto elements = reply.elements();
  if (elements.empty()) {
    return std::optional<SharedFilterState>();
  }
  Fields fields;
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2) {
    fields[elements[i].text()] = elements[i + 1].text();
  }
  int version = 0;
  if (!read_number(fields["format"], version) || version < 1) {
    return foreign("no format number");
  }
  if (version > format) {
    return fail(Errc::newer_version,
                fmt::format("the filter in Redis has format {}, and this build reads {}; update it",
                            version, format));
  }
  if (fields["epoch"].empty() && !fields["builder"].empty()) {
    return std::optional<SharedFilterState>();
  }
  SharedFilterState out;
  const auto secret = from_hex(fields["shard_secret"]);
  const auto key_type = key_type_from_name(fields["key_type"]);
  if (!secret || secret->size() != Secret::size || !key_type) {
    return foreign("no shard secret or no key type");
  }
  std::array<std::byte, Secret::size> raw{};
  std::copy(secret->begin(), secret->end(), raw.begin());
  out.shard_secret = Secret(raw);
  out.key_type = *key_type;
  if (!read_number(fields["shards"], out.shards) || out.shards == 0 || out.shards > max_shards ||
      !read_number(fields["generation"], out.generation) ||
      !read_number(fields["building"], out.building) || fields["epoch"].empty()) {
    return foreign("numbers that cannot be read");
  }
  out.epoch = fields["epoch"];
  out.log = fields["log"].empty() ? "0-0" : fields["log"];
  out.server = fields["server"];
  out.incomplete = fields["incomplete"];
  out.position = fields["position"];
  auto live = parameters_of(fields, out.generation);
  auto next = parameters_of(fields, out.building);
  if (!live) {
    return fail(std::move(live).error());
  }
  if (!next) {
    return fail(std::move(next).error());
  }
  if (out.generation != 0 && !*live) {
    return foreign("a generation without parameters");
  }
  out.live = std::move(*live);
  out.next = std::move(*next);
  return std::optional(std::move(out));
}

Result<ServerIdentity> ServerIdentity::parse(const RedisReply& reply) {
  if (!reply.is_ok()) {
    return fail(reply.error());
  }
  const auto value_of = [text = reply.text()](std::string_view field) {
    const auto at = text.find(field);
    if (at == std::string_view::npos) {
      return std::string_view{};
    }
    const auto begin = at + field.size();
    return text.substr(begin, text.find('\r', begin) - begin);
  };
  ServerIdentity out;
  out.replication_id = value_of("master_replid:");
  out.is_master = value_of("role:") == "master";
  if (out.replication_id.empty()) {
    return fail(Errc::unavailable,
                "the server does not tell its replication id (INFO replication), so lost writes "
                "could not be noticed; allow the command to this user");
  }
  return out;
}

}  // namespace guestlist
