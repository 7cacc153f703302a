#include "settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

namespace guestlist::server {
namespace {

Settings current;
String* shown_error_rate = nullptr;
String* shown_tightening = nullptr;

struct NumberSetting {
  const char* name;
  long long least;
  long long most;
  long long* value;
  unsigned flags = config_default;
};

// Two names for one value where two modules chose different ones.
std::span<const NumberSetting> number_settings() {
  constexpr long long anything = 1LL << 62;
  static const NumberSetting all[] = {
      {"bf-initial-size", 1, 1LL << 30, &current.initial_size},
      {"bloom-capacity", 1, 1LL << 30, &current.initial_size},
      {"bf-expansion-factor", 0, Settings::max_expansion, &current.expansion},
      {"bloom-expansion", 0, Settings::max_expansion, &current.expansion},
      {"bf-max-capacity", 1, 1LL << 40, &current.max_capacity},
      {"bf-memory-limit", 0, anything, &current.object_bytes, config_memory},
      {"bloom-memory-usage-limit", 0, anything, &current.object_bytes, config_memory},
      {"cf-bucket-size", 1, 255, &current.bucket_size},
      {"cf-initial-size", 4, 1LL << 30, &current.cuckoo_size},
      {"cf-max-iterations", 1, 65535, &current.max_iterations},
      {"cf-expansion-factor", 0, Settings::max_expansion, &current.cuckoo_expansion},
      {"cf-max-expansions", 1, 65536, &current.max_expansions},
  };
  return all;
}

struct SwitchSetting {
  const char* name;
  bool* value;
};

std::span<const SwitchSetting> switch_settings() {
  static const SwitchSetting all[] = {
      {"bloom-use-random-seed", &current.has_random_secret},
      {"bf-random-secret", &current.has_random_secret},
      {"bloom-defrag-enabled", &current.is_defragmented},
      {"bf-defrag", &current.is_defragmented},
      {"cf-strict", &current.is_strict},
  };
  return all;
}

struct ChoiceSetting {
  const char* name;
  std::array<const char*, 2> words;  ///< for false and true
  bool* value;
};

std::span<ChoiceSetting> choice_settings() {
  static ChoiceSetting all[] = {
      {"bf-layout", {"native", "classic"}, &current.is_classic},
      {"bf-missing-key", {"absent", "maybe"}, &current.missing_may_exist},
      {"cf-deletes", {"doubted", "trusted"}, &current.trusts_deletes},
  };
  return all;
}

struct RateSetting {
  const char* name;
  double* value;
  String** shown;
};

std::span<const RateSetting> rate_settings() {
  static const RateSetting all[] = {
      {"bf-error-rate", &current.error_rate, &shown_error_rate},
      {"bloom-fp-rate", &current.error_rate, &shown_error_rate},
      {"bloom-tightening-ratio", &current.tightening, &shown_tightening},
  };
  return all;
}

String* text_of(const std::string& text) {
  return api::create_string(nullptr, text.data(), text.size());
}

std::string_view view(const String* text) {
  std::size_t size = 0;
  const char* const data = api::string_ptr_len(text, &size);
  return {data, size};
}

bool set_rate(const RateSetting& setting, std::string_view text, std::string& problem) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    problem = std::string("Invalid value for `") + setting.name + "`";
    return false;
  }
  if (!(value > 0 && value < 1)) {
    problem =
        std::string("Value for `") + setting.name + "` must be in the range (0.000000, 1.000000)";
    return false;
  }
  if (setting.value == &current.error_rate) value = std::min(value, Settings::max_error_rate);
  *setting.value = value;
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  if (*setting.shown != nullptr) api::free_string(nullptr, *setting.shown);
  *setting.shown = text_of({digits, written.ptr});
  return true;
}

bool equals(std::string_view text, std::string_view word) {
  return std::ranges::equal(text, word, [](char left, char right) {
    return std::tolower(static_cast<unsigned char>(left)) ==
           std::tolower(static_cast<unsigned char>(right));
  });
}

/// Two settings bound each other: a filter starts with at least two buckets.
bool is_consistent(const NumberSetting& setting, long long value, std::string& problem) {
  const bool buckets_too_large =
      setting.value == &current.bucket_size && value * 2 > current.cuckoo_size;
  const bool filter_too_small =
      setting.value == &current.cuckoo_size && value < current.bucket_size * 2;
  if (!buckets_too_large && !filter_too_small) return true;
  const long long least = filter_too_small ? current.bucket_size * 2 : setting.least;
  const long long most =
      buckets_too_large ? std::min(255LL, current.cuckoo_size / 2) : setting.most;
  problem = std::string("Value for `") + setting.name + "` must be in the range [" +
            std::to_string(least) + ", " + std::to_string(most) + "]";
  return false;
}

bool set_argument(std::string_view name, std::string_view text) {
  // Names of before there were settings in the server.
  if (equals(name, "ERROR_RATE")) name = "bf-error-rate";
  if (equals(name, "INITIAL_SIZE")) name = "bf-initial-size";
  if (equals(name, "CF_MAX_EXPANSIONS")) name = "cf-max-expansions";
  std::string problem;
  for (const RateSetting& setting : rate_settings()) {
    if (equals(name, setting.name)) return set_rate(setting, text, problem);
  }
  for (const NumberSetting& setting : number_settings()) {
    if (!equals(name, setting.name)) continue;
    long long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < setting.least ||
        value > setting.most)
      return false;
    *setting.value = value;
    return true;
  }
  for (const SwitchSetting& setting : switch_settings()) {
    if (!equals(name, setting.name)) continue;
    if (!equals(text, "yes") && !equals(text, "no")) return false;
    *setting.value = equals(text, "yes");
    return true;
  }
  for (const ChoiceSetting& setting : choice_settings()) {
    if (!equals(name, setting.name)) continue;
    if (!equals(text, setting.words[0]) && !equals(text, setting.words[1])) return false;
    *setting.value = equals(text, setting.words[1]);
    return true;
  }
  return false;
}

/// Redis from 8 on lets a module choose names without its own before them; Valkey does not.
unsigned unprefixed() {
  constexpr int version_8 = 0x00080000;
  if (api::get_server_version() < version_8) return 0;
  ServerInfo* const info = api::get_server_info(nullptr, "server");
  const bool is_valkey = api::server_info_get_field_c(info, "valkey_version") != nullptr;
  api::free_server_info(nullptr, info);
  return is_valkey ? 0 : config_unprefixed;
}

int refuse(String** error, const std::string& problem) {
  if (error != nullptr) *error = text_of(problem);
  return err;
}

bool register_rates(Context* context) {
  return std::ranges::all_of(rate_settings(), [&](const RateSetting& setting) {
    const std::string initial(view(*setting.shown));
    return api::register_string_config(
               context, setting.name, initial.c_str(), config_default | unprefixed(),
               [](const char*, void* data) {
                 return *static_cast<const RateSetting*>(data)->shown;
               },
               [](const char*, String* text, void* data, String** error) {
                 std::string problem;
                 if (set_rate(*static_cast<const RateSetting*>(data), view(text), problem))
                   return ok;
                 return refuse(error, problem);
               },
               nullptr, const_cast<RateSetting*>(&setting)) == ok;
  });
}

bool register_numbers(Context* context) {
  return std::ranges::all_of(number_settings(), [&](const NumberSetting& setting) {
    return api::register_numeric_config(
               context, setting.name, *setting.value, setting.flags | unprefixed(), setting.least,
               setting.most,
               [](const char*, void* data) {
                 return *static_cast<const NumberSetting*>(data)->value;
               },
               [](const char*, long long value, void* data, String** error) {
                 const auto& wanted = *static_cast<const NumberSetting*>(data);
                 std::string problem;
                 if (!is_consistent(wanted, value, problem)) return refuse(error, problem);
                 *wanted.value = value;
                 return ok;
               },
               nullptr, const_cast<NumberSetting*>(&setting)) == ok;
  });
}

bool register_switches(Context* context) {
  return std::ranges::all_of(switch_settings(), [&](const SwitchSetting& setting) {
    return api::register_bool_config(
               context, setting.name, *setting.value ? 1 : 0, config_default | unprefixed(),
               [](const char*, void* data) { return *static_cast<bool*>(data) ? 1 : 0; },
               [](const char*, int value, void* data, String**) {
                 *static_cast<bool*>(data) = value != 0;
                 return ok;
               },
               nullptr, setting.value) == ok;
  });
}

bool register_choices(Context* context) {
  static const int values[] = {0, 1};
  return std::ranges::all_of(choice_settings(), [&](ChoiceSetting& setting) {
    return api::register_enum_config(
               context, setting.name, *setting.value ? 1 : 0, config_default | unprefixed(),
               setting.words.data(), values, 2,
               [](const char*, void* data) { return *static_cast<bool*>(data) ? 1 : 0; },
               [](const char*, int value, void* data, String**) {
                 *static_cast<bool*>(data) = value != 0;
                 return ok;
               },
               nullptr, setting.value) == ok;
  });
}

bool server_has_room(std::uint64_t bytes) {
  // Asking costs as much as a command; what is small is left to the server's own check.
  constexpr std::uint64_t asked_from = std::uint64_t{1} << 20;
  if (bytes < asked_from) return true;
  ServerInfo* const info = api::get_server_info(nullptr, "memory");
  if (info == nullptr) return true;
  const auto number = [info](const char* field) {
    int error = 0;
    const auto value = api::server_info_get_field_unsigned(info, field, &error);
    return error == ok ? static_cast<std::uint64_t>(value) : std::uint64_t{0};
  };
  const std::uint64_t most = number("maxmemory");
  const std::uint64_t machine = number("total_system_memory");
  const std::uint64_t used = number("used_memory");
  const char* const policy = api::server_info_get_field_c(info, "maxmemory_policy");
  const bool evicts = policy != nullptr && std::strcmp(policy, "noeviction") != 0;
  api::free_server_info(nullptr, info);
  const auto fits = [bytes](std::uint64_t room, std::uint64_t taken) {
    return taken < room && bytes <= room - taken;
  };
  if (machine != 0 && !fits(machine, used)) return false;
  // A server that evicts makes room by itself, up to its limit.
  return most == 0 || fits(most, evicts ? 0 : used);
}

}  // namespace

Settings& settings() noexcept {
  return current;
}

const char* register_settings(Context* context, std::span<String*> arguments) {
  std::string ignored;
  for (const RateSetting& setting : rate_settings()) {
    set_rate(setting, setting.value == &current.error_rate ? "0.01" : "0.8", ignored);
  }
  if (arguments.size() % 2 != 0) return "module arguments come in pairs: a name and a value";
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (!set_argument(view(arguments[i]), view(arguments[i + 1])))
      return "a module argument has a name or a value that is not known; see docs/module.md";
  }
  if (!register_rates(context) || !register_numbers(context) || !register_switches(context) ||
      !register_choices(context))
    return "the server refused a setting";
  if (api::load_configs(context) != ok) return "the server's file has a setting that is refused";
  return nullptr;
}

MemoryLimit memory_limit(Context* context) {
  MemoryLimit limit;
  limit.asker = context;
  limit.judge = [](void* asker, std::uint64_t held, std::uint64_t more) {
    const int flags = api::get_context_flags(static_cast<Context*>(asker));
    if ((flags & (flag_replicated | flag_loading)) != 0) return MemoryLimit::Answer::yes;
    const auto most = static_cast<std::uint64_t>(current.object_bytes);
    if (most != 0 && (more > most || held > most - more))
      return MemoryLimit::Answer::object_too_large;
    return server_has_room(more) ? MemoryLimit::Answer::yes : MemoryLimit::Answer::no_room;
  };
  return limit;
}

}  // namespace guestlist::server
