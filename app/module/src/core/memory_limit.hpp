#pragma once

// What one command may take, asked before anything is allocated and only then. A replica and a
// server that reads its own log obey whatever they are told: there nothing is limited, for what was
// accepted once must be accepted everywhere.

#include <cstdint>

namespace guestlist::server {

struct MemoryLimit {
  enum class Answer : std::uint8_t { yes, object_too_large, no_room };

  /// Whether a filter that holds so many bytes of bits may take so many more; null: always.
  Answer (*judge)(void* asker, std::uint64_t bytes_held, std::uint64_t bytes_more) = nullptr;
  void* asker = nullptr;

  Answer ask(std::uint64_t bytes_held, std::uint64_t bytes_more) const {
    return judge == nullptr ? Answer::yes : judge(asker, bytes_held, bytes_more);
  }
};

}  // namespace guestlist::server
