// A file of keys keeps the laws of Source and of what is followed, whether it is appended to or
// replaced.

#include <gtest/gtest.h>

#include "change_feed_laws.hpp"
#include "guestlist/lines/lines_source.hpp"
#include "key_file.hpp"

namespace guestlist::laws {
namespace {

LinesSourceOptions brisk() {
  LinesSourceOptions options;
  options.poll = std::chrono::milliseconds(2);
  options.settle = std::chrono::milliseconds(50);
  options.snapshot_wait = std::chrono::milliseconds(300);
  options.may_become_empty = true;
  return options;
}

enum class Writing : bool { appends, replaces };

template <Writing writing>
class LinesForm {
 public:
  LinesForm() { restart(); }

  LinesSource& source() { return *source_; }
  void commit(const Rows& rows) {
    std::string added;
    for (const auto& [key, value] : rows) added += key + "\n";
    if (writing == Writing::appends) {
      file_.append(added);
    } else {
      file_.replace(file_.content() + added);
    }
  }
  void remove(const std::string& key) { file_.replace(without(key)); }
  void change_key(const std::string& from, const std::string& to) {
    file_.replace(without(from) + to + "\n");
  }
  /// The file is replaced while nothing runs.
  void lose_changes() {
    source_.reset();
    file_.replace(file_.content());
    restart();
  }

 private:
  void restart() {
    auto opened = LinesSource::open({file_.path()}, brisk());
    ASSERT_TRUE(opened) << opened.error().message();
    source_ = *std::move(opened);
  }
  std::string without(const std::string& key) const {
    std::string kept = "\n" + file_.content();
    const auto at = kept.find("\n" + key + "\n");
    if (at != std::string::npos) kept.erase(at, key.size() + 1);
    return kept.substr(1);
  }

  KeyFile file_{""};
  std::unique_ptr<LinesSource> source_;
};

/// Gives the values back that a file of keys does not have.
class WithValues final : public Source {
 public:
  explicit WithValues(Source& keys) : keys_(keys) {}
  void load(std::string_view key, Deadline deadline,
            Completion<std::optional<std::string>> done) override {
    keys_.load(key, deadline, [this, done = std::move(done)](Loaded loaded) {
      if (loaded && *loaded) loaded = rows.at(**loaded);
      done(std::move(loaded));
    });
  }
  Result<std::unique_ptr<Snapshot>> snapshot() override { return keys_.snapshot(); }

  Rows rows;

 private:
  Source& keys_;
};

/// A column of CSV, in which a key may hold line ends.
class CsvForm {
 public:
  CsvForm() {
    auto opened = LinesSource::open({file_.path(), "key"}, brisk());
    EXPECT_TRUE(opened) << opened.error().message();
    keys_ = *std::move(opened);
    values_ = std::make_unique<WithValues>(*keys_);
  }
  Source& source() { return *values_; }
  void commit(const Rows& rows) {
    for (const auto& [key, value] : rows) values_->rows[key] = value;
    write();
  }
  void remove(const std::string& key) {
    values_->rows.erase(key);
    write();
  }

 private:
  void write() const {
    std::string text = "key,value\r\n";
    for (const auto& [key, value] : values_->rows) text += quoted(key) + "," + value + "\r\n";
    file_.replace(text);
  }
  static std::string quoted(const std::string& text) {
    std::string field = "\"";
    for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
    return field + '"';
  }

  const KeyFile file_{"key,value\r\n"};
  std::unique_ptr<LinesSource> keys_;
  std::unique_ptr<WithValues> values_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Lines, SourceLaws, CsvForm);
INSTANTIATE_TYPED_TEST_SUITE_P(Appended, ChangeFeedLaws, LinesForm<Writing::appends>);
INSTANTIATE_TYPED_TEST_SUITE_P(Replaced, ChangeFeedLaws, LinesForm<Writing::replaces>);

}  // namespace
}  // namespace guestlist::laws
