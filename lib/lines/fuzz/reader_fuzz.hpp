#pragma once

// What the fuzzers of the key readers share: the size of the blocks that input comes in must not
// show.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "guestlist/lines/key_reader.hpp"

namespace guestlist {

struct KeysRead {
  std::vector<std::string> keys;
  bool refused = false;
  friend bool operator==(const KeysRead&, const KeysRead&) = default;
};

inline KeysRead read_keys(InputOptions options, const std::string& path, std::size_t block) {
  options.paths = {path};
  KeysRead result;
  auto reader = KeyReader::open(options, block);
  if (!reader) std::abort();
  std::vector<std::string_view> keys;
  while (true) {
    if (!(*reader)->next(keys)) {
      result.refused = true;
      // How far a reader came before it refused depends on the blocks; the keys do not count then.
      result.keys.clear();
      return result;
    }
    if (keys.empty()) return result;
    result.keys.insert(result.keys.end(), keys.begin(), keys.end());
  }
}

inline int fuzz_reader(const InputOptions& options, const std::uint8_t* data, std::size_t size) {
  const int descriptor = ::memfd_create("input", MFD_CLOEXEC);
  if (descriptor < 0 || ::write(descriptor, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const KeysRead whole = read_keys(options, path, 1 << 16);
  const KeysRead pieces = read_keys(options, path, 7);
  ::close(descriptor);
  if (whole != pieces) std::abort();
  return 0;
}

}  // namespace guestlist
