// A table of SQLite keeps the laws of Source.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "guestlist/sqlite/sqlite_source.hpp"
#include "source_laws.hpp"

namespace guestlist::laws {
namespace {

class SqliteSourceForm {
 public:
  SqliteSourceForm() {
    execute("PRAGMA journal_mode = WAL; CREATE TABLE t (key TEXT PRIMARY KEY, value TEXT)");
    auto opened = SqliteSource::open({path(), "t", "key", KeyType::text, "value"});
    EXPECT_TRUE(opened) << opened.error().message();
    source_ = std::move(*opened);
  }
  ~SqliteSourceForm() {
    source_.reset();
    std::filesystem::remove_all(folder_);
  }
  SqliteSourceForm(const SqliteSourceForm&) = delete;
  SqliteSourceForm& operator=(const SqliteSourceForm&) = delete;

  Source& source() { return *source_; }
  void commit(const Rows& rows) {
    std::string sql = "BEGIN;";
    for (const auto& [key, value] : rows)
      sql += "INSERT INTO t VALUES (" + quoted(key) + ", " + quoted(value) + ");";
    execute(sql + "COMMIT");
  }
  void remove(const std::string& key) { execute("DELETE FROM t WHERE key = " + quoted(key)); }

 private:
  static std::string make_folder() {
    std::string folder =
        (std::filesystem::temp_directory_path() / "guestlist-sqlite-XXXXXX").string();
    EXPECT_NE(nullptr, ::mkdtemp(folder.data()));
    return folder;
  }
  static std::string quoted(const std::string& text) {
    std::string literal = "'";
    for (const char c : text) literal += c == '\'' ? std::string("''") : std::string(1, c);
    return literal + "'";
  }
  std::string path() const { return folder_ + "/db"; }
  void execute(const std::string& sql) {
    auto database = Database::open(path(), Database::Access::read_write);
    ASSERT_TRUE(database) << database.error().message();
    const auto done = database->execute(sql);
    ASSERT_TRUE(done) << done.error().message();
  }

  std::string folder_ = make_folder();
  std::unique_ptr<SqliteSource> source_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, SourceLaws, SqliteSourceForm);

}  // namespace
}  // namespace guestlist::laws
