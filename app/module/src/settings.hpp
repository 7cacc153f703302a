#pragma once

// What an operator can set: when the module is loaded (`loadmodule guestlist.so bf-error-rate
// 0.001`), in the server's file and by CONFIG. The names are those that the best known modules use;
// on servers that prefix them they read `bf.bf-error-rate`.

#include <cstdint>
#include <span>

#include "core/memory_limit.hpp"
#include "server_api.hpp"

namespace guestlist::server {

struct Settings {
  static constexpr double max_error_rate = 0.25;
  static constexpr long long max_expansion = 32768;

  // Filters that are created without parameters of their own.
  double error_rate = 0.01;
  long long initial_size = 100;
  long long expansion = 2;
  double tightening = 0.8;
  bool is_classic = false;
  /// The largest capacity that a command may ask for.
  long long max_capacity = 1LL << 30;

  /// The bits of one filter; 0 for no limit but the server's own.
  long long object_bytes = 0;
  /// Whether BF.EXISTS and CF.EXISTS answer 1 where there is no filter to ask.
  bool missing_may_exist = false;
  /// Off: every native filter gets the same secret, so that filters built apart can be merged.
  bool has_random_secret = true;
  bool is_defragmented = true;

  long long bucket_size = 2;
  long long cuckoo_size = 1024;
  long long max_iterations = 20;
  long long cuckoo_expansion = 1;
  long long max_expansions = 32;
  /// Whether callers delete from cuckoo filters only what they added, so that GL.CHECK may say
  /// `absent` of one that is deleted from.
  bool trusts_deletes = false;
  /// Cuckoo filters walk and grow exactly as RedisBloom's.
  bool is_strict = false;
};

Settings& settings() noexcept;

/// Registers every setting, with the values of `arguments` in place of the defaults. Null, or a
/// sentence for the log.
const char* register_settings(Context* context, std::span<String*> arguments);

/// What a command may take: nothing is limited for what a master or the server's own log says.
MemoryLimit memory_limit(Context* context);

/// The secret where has_random_secret is off.
inline constexpr unsigned char common_secret[16] = {0x67, 0x75, 0x65, 0x73, 0x74, 0x6c, 0x69, 0x73,
                                                    0x74, 0x2e, 0x73, 0x6f, 0x2d, 0x76, 0x31, 0x00};

}  // namespace guestlist::server
