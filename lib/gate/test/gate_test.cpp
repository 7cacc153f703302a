#include "guestlist/gate/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_membership.hpp"

namespace guestlist {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class GateTest : public testing::Test {
 protected:
  GateTest() {
    const std::vector<std::string_view> present = {"7", "a b", "1,2"};
    membership_.add(present, Deadline::never(), [](const Result<void>&) {});
  }

  void routes(std::vector<RouteSpec> specs, bool is_strict = false) {
    const auto make = [&](const char* name, std::vector<KeyType> key) {
      return std::make_shared<GatedFilter>(name, std::move(key), is_strict, membership_);
    };
    ids_ = make("ids", {KeyType::integer});
    names_ = make("names", {KeyType::text});
    pairs_ = make("pairs", {KeyType::integer, KeyType::integer});
    for (RouteSpec& spec : specs) spec.mode = Mode::enforce;
    auto made = RouteTable::make(specs, [&](const std::string& name) {
      return name == "ids" ? ids_ : name == "names" ? names_ : name == "pairs" ? pairs_ : nullptr;
    });
    if (!made) error_ = made.error().message();
    table_ = made ? std::optional(*std::move(made)) : std::nullopt;
  }
  GateFinding ask(const std::string& target, const std::string& method = "GET") {
    GateQuestion question;
    question.method = method;
    question.target = target;
    question.host = "shop.example:8080";
    question.header = [this](std::string_view name) -> std::optional<std::string_view> {
      return name == "X-Tenant" ? std::optional<std::string_view>(tenant_) : std::nullopt;
    };
    GateFinding result;
    judge(*table_, question, Deadline::never(), [&](const GateFinding& found) { result = found; });
    return result;
  }
  bool is_rejected(const std::string& target) { return ask(target).rejects(); }

  fake::FakeMembership membership_;
  std::shared_ptr<GatedFilter> ids_, names_, pairs_;
  std::optional<RouteTable> table_;
  std::string error_;
  std::string tenant_ = "1";
};

TEST_F(GateTest, RejectsWhatIsAbsentAndPassesWhatIsThere) {
  routes({{.match = "GET /products/{id}", .filter = "ids"}});
  EXPECT_TRUE(is_rejected("/products/8"));
  EXPECT_FALSE(is_rejected("/products/7"));
  EXPECT_FALSE(is_rejected("/products/007"));
  EXPECT_FALSE(is_rejected("/products/%37"));
  EXPECT_EQ("7", ask("/products/+7").canonical_key);
  EXPECT_EQ(1u, ids_->counts().rejected);
}

TEST_F(GateTest, PassesWhatNoRouteNames) {
  routes({{.match = "/products/{id}", .filter = "ids"}});
  for (const char* target : {"/", "/products", "/products/", "/products/8/reviews", "/Products/8",
                             "*", "http://shop.example/products/8", ""})
    EXPECT_FALSE(is_rejected(target)) << target;
  EXPECT_FALSE(ask("/products/8", "POST").rejects());
  EXPECT_FALSE(ask("/products/8", "DELETE").rejects());
  EXPECT_TRUE(ask("/products/8", "HEAD").rejects());
  EXPECT_EQ("unmatched", ask("/other").reason());
}

TEST_F(GateTest, PassesWhatAnUpstreamMayReadOtherwise) {
  routes({{.match = "/products/{id}", .filter = "names"}});
  for (const char* target :
       {"//products/x", "/products//x", "/a/../products/x", "/products/./x", "/products/%2e%2e",
        "/products/x;v=1", "/products/%2537", "/products/%25", "/products/x%00", "/products/%zz",
        "/products/%", "/products/%c3%28", "/products/%20x", "/products/x%20", "/products/x%5cy",
        "/products/x%0d%0a", "/products/x#y", "/products/x?a=%25", "/products/x\\y"})
    EXPECT_FALSE(is_rejected(target)) << target;
  EXPECT_TRUE(is_rejected("/products/x%2Fy"));
  EXPECT_TRUE(is_rejected("/products/x%c3%a4"));
  EXPECT_FALSE(is_rejected("/products/a%20b"));
}

TEST_F(GateTest, ReadsParametersHeadersAndTextAroundAPlace) {
  routes({{.match = "/search?id={id}", .filter = "ids"},
          {.match = "/p/item-{id}.json", .filter = "ids"},
          {.match = "/o/{order}", .header = "X-Tenant: {tenant}", .filter = "pairs"}});
  EXPECT_TRUE(is_rejected("/search?x=1&id=8"));
  EXPECT_FALSE(is_rejected("/search?id=7"));
  EXPECT_FALSE(is_rejected("/search?id=8&id=7"));
  EXPECT_FALSE(is_rejected("/search?id=8+"));
  EXPECT_FALSE(is_rejected("/search"));
  EXPECT_TRUE(is_rejected("/p/item-8.json"));
  EXPECT_FALSE(is_rejected("/p/item-7.json"));
  EXPECT_FALSE(is_rejected("/p/item-.json"));
  tenant_ = "2";
  EXPECT_FALSE(is_rejected("/o/1"));
  EXPECT_EQ("1,2", ask("/o/1").canonical_key);
  EXPECT_TRUE(is_rejected("/o/2"));
}

TEST_F(GateTest, RejectsAListOnlyWhereAllAreAbsent) {
  routes({{.match = "/batch?ids={ids,...}", .filter = "ids"}});
  EXPECT_TRUE(is_rejected("/batch?ids=8,9,10"));
  EXPECT_FALSE(is_rejected("/batch?ids=8,7,10"));
  EXPECT_FALSE(is_rejected("/batch?ids=8,,10"));
  EXPECT_FALSE(is_rejected("/batch?ids=8,x"));
  EXPECT_FALSE(is_rejected("/batch?ids="));
}

TEST_F(GateTest, TakesTheFirstRouteOfTheHost) {
  routes({{.match = "/p/{id}", .host = "other.example", .filter = "ids"},
          {.match = "/p/{id}", .host = "Shop.Example", .filter = "names"}});
  EXPECT_EQ("names", ask("/p/8").route->filter().name());
}

TEST_F(GateTest, PassesWhatIsNoKeyUnlessToldToBeStrict) {
  routes({{.match = "/p/{id}", .filter = "ids"}});
  EXPECT_FALSE(is_rejected("/p/x"));
  EXPECT_EQ("unparsable", ask("/p/x").reason());
  routes({{.match = "/p/{id}", .filter = "ids"}}, true);
  EXPECT_TRUE(is_rejected("/p/x"));
}

TEST_F(GateTest, PassesWhatCannotBeProven) {
  routes({{.match = "/p/{id}", .filter = "ids"}});
  membership_.set_reason(Reason::stale);
  EXPECT_FALSE(is_rejected("/p/8"));
  EXPECT_EQ("stale", ask("/p/8").reason());
}

TEST_F(GateTest, RejectsForItsShareOfTheKeysAlwaysTheSame) {
  routes({{.match = "/p/{id}", .filter = "ids", .percent = 20}});
  int rejected = 0;
  for (int i = 100; i < 1100; ++i) {
    const std::string target = "/p/" + std::to_string(i);
    rejected += is_rejected(target) ? 1 : 0;
    EXPECT_EQ(is_rejected(target), is_rejected(target));
  }
  EXPECT_NEAR(200, rejected, 65);  // 5 standard deviations
}

TEST_F(GateTest, ObeysTheKillSwitch) {
  routes({{.match = "/p/{id}", .filter = "ids"}});
  ids_->set_mode(Mode::pass);
  EXPECT_FALSE(is_rejected("/p/8"));
  EXPECT_EQ("switched_off", ask("/p/8").reason());
  ids_->set_mode(Mode::shadow);
  EXPECT_FALSE(is_rejected("/p/8"));
  EXPECT_EQ(1u, ids_->counts().would_reject);
  ids_->set_mode(std::nullopt);
  EXPECT_TRUE(is_rejected("/p/8"));
}

TEST_F(GateTest, RefusesRoutesThatCannotBeMeant) {
  const auto error_of = [&](std::vector<RouteSpec> specs) {
    error_.clear();
    routes(std::move(specs));
    return error_;
  };
  EXPECT_THAT(error_of({{.match = "/p/{id}", .filter = "none"}}), HasSubstr("no filter 'none'"));
  EXPECT_THAT(error_of({{.match = "/p", .filter = "ids"}}), HasSubstr("it has 0 places"));
  EXPECT_THAT(error_of({{.match = "/p/{id}", .filter = "pairs"}}), HasSubstr("2 columns"));
  EXPECT_THAT(error_of({{.match = "/p/{id:uuid}", .filter = "ids"}}),
              HasSubstr("uuid here and int"));
  EXPECT_THAT(error_of({{.match = "/p/{id:number}", .filter = "ids"}}), HasSubstr("the types are"));
  EXPECT_THAT(error_of({{.match = "/p/{id", .filter = "ids"}}), HasSubstr("without a '}'"));
  EXPECT_THAT(error_of({{.match = "/p/{a}{b}", .filter = "pairs"}}), HasSubstr("one place"));
  EXPECT_THAT(error_of({{.match = "products", .filter = "ids"}}), HasSubstr("there is no path"));
  EXPECT_THAT(error_of({{.match = "get /p/{id}", .filter = "ids"}}), HasSubstr("upper case"));
  EXPECT_THAT(error_of({{.match = "/p/{id}", .filter = "ids"},
                        {.match = "GET /p/{id:int}", .filter = "ids"}}),
              HasSubstr("never reached"));
}

class DialectTest : public GateTest {
 protected:
  DialectTest() {
    routes({{.match = "/p/{id}",
             .filter = "ids",
             .reject_body = "{}",
             .reject_content_type = "application/json"}});
  }
  HttpResponse ask_as(ProxyDialect dialect, const HttpRequest& request) {
    GateFinding finding;
    if (const auto question = question_of(dialect, request))
      judge(*table_, *question, Deadline::never(),
            [&](const GateFinding& found) { finding = found; });
    const HttpResponse response = answer_to(dialect, finding);
    EXPECT_THAT(response.fields, testing::Contains(testing::Pair("Cache-Control", "no-store")));
    return response;
  }
};

TEST_F(DialectTest, TellsNginx403) {
  EXPECT_EQ(403u, ask_as(ProxyDialect::nginx, {.fields = {{"x-original-uri", "/p/8"}}}).status);
  EXPECT_EQ(200u, ask_as(ProxyDialect::nginx, {.fields = {{"X-Original-URI", "/p/7"}}}).status);
  EXPECT_EQ(200u, ask_as(ProxyDialect::nginx,
                         {.fields = {{"X-Original-URI", "/p/8"}, {"X-Original-Method", "POST"}}})
                      .status);
  EXPECT_EQ(200u, ask_as(ProxyDialect::nginx, {}).status);
}

TEST_F(DialectTest, TellsEnvoyTheRejectionItself) {
  const HttpResponse rejected = ask_as(ProxyDialect::envoy, {.target = "/auth/envoy/p/8"});
  EXPECT_EQ(404u, rejected.status);
  EXPECT_EQ("{}", rejected.body);
  EXPECT_EQ("application/json", rejected.content_type);
  EXPECT_EQ(200u, ask_as(ProxyDialect::envoy, {.target = "/auth/envoy/p/7"}).status);
  EXPECT_EQ(200u, ask_as(ProxyDialect::envoy, {.target = "/auth/envoy"}).status);
}

TEST_F(DialectTest, TellsWhoeverForwardsTheRejectionItself) {
  EXPECT_EQ(404u, ask_as(ProxyDialect::forward, {.fields = {{"X-Forwarded-Uri", "/p/8"}}}).status);
  EXPECT_EQ(200u, ask_as(ProxyDialect::forward,
                         {.fields = {{"X-Forwarded-Uri", "/p/8"}, {"X-Forwarded-Method", "PUT"}}})
                      .status);
  // Twice: nobody can say which one the proxy meant.
  EXPECT_EQ(200u, ask_as(ProxyDialect::forward,
                         {.fields = {{"X-Forwarded-Uri", "/p/8"}, {"x-forwarded-uri", "/p/9"}}})
                      .status);
}

}  // namespace
}  // namespace guestlist
