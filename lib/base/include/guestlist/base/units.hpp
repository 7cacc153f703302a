#pragma once

// Quantities as people read them.

#include <cstdint>
#include <string>

namespace guestlist {

/// Binary units with one decimal: `512 B`, `1.2 MiB`, `6.0 GiB`.
std::string format_bytes(std::uint64_t bytes);

/// Groups of three digits: `1,000,000`.
std::string format_count(std::uint64_t count);

/// The two largest units that matter: `850 us`, `2.4 ms`, `3.2 s`, `4 min 10 s`.
std::string format_seconds(double seconds);

}  // namespace guestlist
