#include "demo/catalogue.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "guestlist/base/file.hpp"
#include "guestlist/sqlite/database.hpp"

namespace guestlist::demo {
namespace {

constexpr std::uint64_t max_status_bytes = std::uint64_t{1} << 30;
constexpr const char* status_file = "/var/lib/dpkg/status";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

void take_field(std::string_view line, Package& package) {
  const auto colon = line.find(':');
  // Lines that begin with a blank continue the field before; the first line of a field is all we
  // want.
  if (line.empty() || line.front() == ' ' || line.front() == '\t' ||
      colon == std::string_view::npos)
    return;
  const std::string_view field = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (field == "Package") package.name = value;
  if (field == "Version") package.version = value;
  if (field == "Section") package.section = value;
  if (field == "Description" || field == "Description-en") package.description = value;
}

std::string output_of(const char* command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command, "r"), &::pclose);
  std::string output;
  if (pipe == nullptr) return output;
  std::array<char, 1 << 16> buffer;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;) {
    output.append(buffer.data(), n);
  }
  return output;
}

}  // namespace

std::vector<Package> parse_packages(std::string_view data) {
  std::vector<Package> packages;
  Package package;
  const auto end_paragraph = [&] {
    if (!package.name.empty()) packages.push_back(std::move(package));
    package = {};
  };
  while (!data.empty()) {
    const auto end = std::min(data.find('\n'), data.size());
    const std::string_view line = data.substr(0, end);
    data.remove_prefix(std::min(end + 1, data.size()));
    if (trimmed(line).empty()) {
      end_paragraph();
    } else {
      take_field(line, package);
    }
  }
  end_paragraph();
  std::stable_sort(packages.begin(), packages.end(),
                   [](const Package& a, const Package& b) { return a.name < b.name; });
  const auto same = [](const Package& a, const Package& b) { return a.name == b.name; };
  packages.erase(std::unique(packages.begin(), packages.end(), same), packages.end());
  return packages;
}

Result<Catalogue> read_catalogue() {
  // A machine that never ran `apt-get update` has an empty list.
  auto packages = parse_packages(output_of("apt-cache dumpavail 2>/dev/null"));
  if (!packages.empty()) return Catalogue{std::move(packages), "apt-cache dumpavail"};
  const auto status = read_file(status_file, max_status_bytes);
  if (status) packages = parse_packages(*status);
  if (!packages.empty()) return Catalogue{std::move(packages), status_file};
  return fail(Errc::unavailable,
              "no package catalogue here: neither `apt-cache dumpavail` nor /var/lib/dpkg/status "
              "has packages; "
              "the demo needs a Debian machine");
}

Result<void> write_catalogue(const Catalogue& catalogue, const std::string& path) {
  auto database = Database::open(path, Database::Access::read_write);
  if (!database) return fail(std::move(database).error());
  auto created = database->execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
      "CREATE TABLE packages (name TEXT PRIMARY KEY, version TEXT, section TEXT, description TEXT)"
      " WITHOUT ROWID; BEGIN");
  if (!created) return created;
  auto insert = database->prepare("INSERT INTO packages VALUES (?1, ?2, ?3, ?4)");
  if (!insert) return fail(std::move(insert).error());
  for (const Package& package : catalogue.packages) {
    int parameter = 0;
    for (const std::string* value :
         {&package.name, &package.version, &package.section, &package.description}) {
      if (auto bound = insert->bind_text(++parameter, *value); !bound) return bound;
    }
    if (auto done = insert->step(); !done) return fail(std::move(done).error());
    insert->reset();
  }
  return database->execute("COMMIT");
}

}  // namespace guestlist::demo
