#pragma once

// What long work shows: on a terminal one line that changes, with rate and time left; elsewhere
// nothing, or a line now and then where the caller wants it.
//
// Distinct objects: safe. Shared objects: one thread at a time.

#include <chrono>
#include <cstdint>
#include <string>

namespace guestlist {

class Progress {
 public:
  enum class Unit : std::uint8_t { count, bytes };
  enum class WithoutTerminal : std::uint8_t { silent, lines };

  /// `total` 0: unknown. Removes its line when it ends.
  Progress(std::string what, std::uint64_t total, Unit unit,
           WithoutTerminal without_terminal = WithoutTerminal::silent);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap enough to call for every batch: it shows at most ten a second.
  void operator()(std::uint64_t done);

 private:
  std::string amount(double value) const;

  std::string what_;
  std::uint64_t total_;
  Unit unit_;
  bool is_terminal_;
  std::chrono::milliseconds interval_;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace guestlist
