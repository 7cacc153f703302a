#pragma once

// The package catalogue of the Debian machine that the demo runs on: real names, tens of thousands
// of them.

#include <string>
#include <string_view>
#include <vector>

#include "guestlist/base/result.hpp"

namespace guestlist::demo {

struct Package {
  std::string name;
  std::string version;
  std::string section;
  std::string description;  ///< its first line
};

struct Catalogue {
  std::vector<Package> packages;  ///< sorted by name, one a name
  std::string origin;             ///< where it came from, for people
};

/// Reads Debian control data: paragraphs of `Field: value`, separated by blank lines. Paragraphs
/// without a package name are skipped; of several with one name the first counts.
std::vector<Package> parse_packages(std::string_view control_data);

/// `apt-cache dumpavail`, or the dpkg status file where that gives nothing.
/// Errors: `unavailable` where the machine has neither.
Result<Catalogue> read_catalogue();

/// Fills a new SQLite database: packages(name, version, section, description).
Result<void> write_catalogue(const Catalogue& catalogue, const std::string& path);

/// The same table in the PostgreSQL at `address`; one that is there is replaced.
Result<void> write_catalogue_to_postgres(const Catalogue& catalogue, const std::string& address);

}  // namespace guestlist::demo
