#include <boost/json.hpp>
#include <set>

#include "command_run.hpp"
#include "demo/catalogue.hpp"
#include "demo/demo_report.hpp"
#include "demo/traffic.hpp"

namespace guestlist::demo {
namespace {

class DemoTest : public CommandTest {};

TEST(Catalogue, TakesTheFirstOfEachNameAndSkipsWhatHasNone) {
  const auto packages = parse_packages(
      "Package: b\nVersion: 1\nDescription: first line\n continued: no field\n\n"
      "Version: 9\n\nPackage: a\nSection: x\r\n\n\nPackage: b\nVersion: 2");
  ASSERT_EQ(2u, packages.size());
  EXPECT_EQ("a", packages[0].name);
  EXPECT_EQ("x", packages[0].section);
  EXPECT_EQ("b", packages[1].name);
  EXPECT_EQ("1", packages[1].version);
  EXPECT_EQ("first line", packages[1].description);
}

Catalogue catalogue() {
  Catalogue made;
  for (int i = 0; i < 500; ++i)
    made.packages.push_back({"package-" + std::to_string(i), "1", "", ""});
  return made;
}

TEST(Traffic, IsTheSameForASeedAndTellsTheTruthAboutItsNames) {
  const Names names(catalogue(), 7);
  Traffic first(names, 1, 0);
  Traffic second(names, 1, 0);
  std::set<std::string> created;
  std::array<int, request_kind_count> kinds{};
  for (int i = 0; i < 20'000; ++i) {
    const PlannedRequest request = first.next();
    const PlannedRequest same = second.next();
    ASSERT_EQ(request.name, same.name);
    ++kinds[static_cast<std::size_t>(request.kind)];
    if (request.kind == RequestKind::create) created.insert(request.name);
    if (request.kind == RequestKind::created) {
      EXPECT_TRUE(created.contains(request.name));
    }
    if (request.kind == RequestKind::existing) {
      EXPECT_TRUE(names.has(request.name));
    }
    if (!request.must_exist() && request.kind != RequestKind::create) {
      EXPECT_FALSE(names.has(request.name) || created.contains(request.name)) << request.name;
    }
  }
  for (const int count : kinds) EXPECT_GT(count, 50);
}

TEST(DemoReport, HoldsOnlyWhereNothingThatExistsWasRejected) {
  DemoReport report;
  report.asked_fpr = 0.01;
  report.with_guard.load.absent = 10'000;
  report.with_guard.false_positives = 110;
  EXPECT_TRUE(report.holds());
  report.with_guard.false_positives = 200;
  EXPECT_FALSE(report.holds());
  report.with_guard.false_positives = 0;
  report.with_guard.load.existing_rejected = 1;
  EXPECT_FALSE(report.holds());
  report.with_guard.load.existing_rejected = 0;
  report.with_guard.false_negatives = 1;
  EXPECT_FALSE(report.holds());
}

TEST_F(DemoTest, RunsOnThisMachineAndKeepsItsPromise) {
  const Ran ran = run("demo --once --requests 4000 --json");
  ASSERT_EQ(0, ran.status) << ran.err;
  const auto report = boost::json::parse(ran.out).as_object();
  EXPECT_TRUE(report.at("holds").as_bool());
  EXPECT_EQ(0, report.at("existing_wrongly_rejected").to_number<int>());
  EXPECT_LE(report.at("measured_fpr").to_number<double>(), 0.012);
  const auto& without = report.at("without_guard").as_object();
  const auto& with = report.at("with_guard").as_object();
  EXPECT_EQ(4000, with.at("requests").to_number<int>());
  EXPECT_EQ(without.at("absent"), with.at("absent"));
  EXPECT_GT(without.at("absent_lookups").to_number<int>(),
            without.at("absent").to_number<int>() * 9 / 10);
  EXPECT_EQ(with.at("absent").to_number<int>(), with.at("rejected").to_number<int>() +
                                                    with.at("null_cache_hits").to_number<int>() +
                                                    with.at("absent_lookups").to_number<int>());
  const std::string picture = read("guestlist-demo.svg");
  EXPECT_EQ(0u, picture.find("<svg"));
  EXPECT_NE(std::string::npos, picture.find("</svg>"));
}

}  // namespace
}  // namespace guestlist::demo
