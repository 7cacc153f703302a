#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "guestlist/servers/postgres_server.hpp"
#include "running_service.hpp"

namespace guestlist {
namespace {

class ServiceTest : public testing::Test {
 protected:
  ServiceTest()
      : postgres_(
            servers::required(servers::PostgresServer::start({.logical_replication = true}))) {
    EXPECT_EQ("", postgres_
                      .query("CREATE TABLE products (id bigint PRIMARY KEY, title text);"
                             "INSERT INTO products SELECT i, 'a' FROM generate_series(1, 1000) i")
                      .text());
  }
  std::string sections(const std::string& mode = "enforce") const {
    return "[[filter]]\nname = \"products\"\nfpr = 0.0001\n[filter.source]\npostgres = \"" +
           postgres_.connection_string() +
           "\"\ntable = \"products\"\ncolumn = \"id\"\n"
           "[[route]]\nmatch = \"GET /products/{id}\"\nfilter = \"products\"\nmode = \"" +
           mode + "\"\nreject_body = \"gone\"\n";
  }
  static boost::json::object json(const HttpResponse& response) {
    return boost::json::parse(response.body).as_object();
  }

  servers::PostgresServer postgres_;
};

TEST_F(ServiceTest, RejectsWhatIsNotInTheTableAndFollowsIt) {
  RunningService service(sections());
  ASSERT_TRUE(service.becomes_ready()) << service.log();
  EXPECT_EQ(200u, service.ask_as_nginx("/products/1"));
  EXPECT_EQ(200u, service.ask_as_nginx("/products/0001000"));
  EXPECT_EQ(403u, service.ask_as_nginx("/products/1001"));
  EXPECT_EQ(200u, service.ask_as_nginx("/products/%2537"));
  EXPECT_EQ(200u, service.ask_as_nginx("/other/1001"));

  ASSERT_EQ("", postgres_.query("INSERT INTO products VALUES (1001, 'new')").text());
  EXPECT_TRUE(becomes_true([&] { return service.ask_as_nginx("/products/1001") == 200; }));

  const HttpResponse rejected = service.get("/auth/envoy/products/5000");
  EXPECT_EQ(404u, rejected.status);
  EXPECT_EQ("gone", rejected.body);
}

TEST_F(ServiceTest, GoesOnFromItsFileWithWhatWasCommittedMeanwhile) {
  RunningService service(sections());
  ASSERT_TRUE(service.becomes_ready()) << service.log();
  const auto generation =
      json(service.get("/v1/filters/products")).at("generation").to_number<int>();
  service.process().signal(SIGTERM);
  ASSERT_TRUE(service.process().wait(std::chrono::seconds(30)));
  EXPECT_EQ(0, service.process().exit_status()) << service.log();
  ASSERT_EQ("", postgres_.query("INSERT INTO products VALUES (2000, 'new')").text());

  service.start();
  ASSERT_TRUE(service.becomes_ready()) << service.log();
  EXPECT_EQ(200u, service.ask_as_nginx("/products/2000"));
  EXPECT_EQ(403u, service.ask_as_nginx("/products/2001"));
  EXPECT_EQ(generation,
            json(service.get("/v1/filters/products")).at("generation").to_number<int>());

  service.process().kill();
  ASSERT_EQ("", postgres_.query("INSERT INTO products VALUES (2001, 'new')").text());
  service.start();
  ASSERT_TRUE(service.becomes_ready()) << service.log();
  EXPECT_EQ(200u, service.ask_as_nginx("/products/2001"));
}

TEST_F(ServiceTest, PassesEverythingWhileTheDatabaseIsAwayAndComesBack) {
  RunningService service(sections());
  ASSERT_TRUE(service.becomes_ready()) << service.log();
  EXPECT_EQ(403u, service.ask_as_nginx("/products/9999"));
  postgres_.kill();
  EXPECT_TRUE(becomes_true([&] { return service.ask_as_nginx("/products/9999") == 200; }));
  EXPECT_EQ("passing", json(service.get("/v1/filters/products")).at("state").as_string());
  EXPECT_EQ(503u, service.get("/readyz").status);
  EXPECT_EQ(200u, service.get("/healthz").status);
  servers::required(postgres_.restart());
  EXPECT_TRUE(becomes_true([&] { return service.ask_as_nginx("/products/9999") == 403; }))
      << service.log();
}

TEST_F(ServiceTest, TakesAModeFromWhoeverHasTheToken) {
  RunningService service(sections());
  ASSERT_TRUE(service.becomes_ready()) << service.log();
  HttpRequest without;
  without.method = "PUT";
  without.target = "/v1/filters/products/mode";
  without.body = R"({"mode": "pass"})";
  EXPECT_EQ(401u, service.send(without).status);
  EXPECT_EQ(403u, service.ask_as_nginx("/products/9999"));
  EXPECT_EQ(200u, service.change("PUT", without.target, without.body).status);
  EXPECT_EQ(200u, service.ask_as_nginx("/products/9999"));
  EXPECT_EQ(200u, service.change("PUT", without.target, R"({"mode": null})").status);
  EXPECT_EQ(403u, service.ask_as_nginx("/products/9999"));
  EXPECT_EQ(400u, service.change("PUT", without.target, R"({"mode": "off"})").status);
}

TEST_F(ServiceTest, ChecksAndAddsKeys) {
  RunningService service(sections());
  ASSERT_TRUE(service.becomes_ready()) << service.log();
  EXPECT_EQ("maybe",
            json(service.get("/v1/filters/products/check?key=007")).at("verdict").as_string());
  EXPECT_EQ("absent",
            json(service.get("/v1/filters/products/check?key=7777")).at("verdict").as_string());
  EXPECT_EQ("unparsable",
            json(service.get("/v1/filters/products/check?key=x")).at("reason").as_string());
  EXPECT_EQ(200u,
            service.change("POST", "/v1/filters/products/keys", R"({"keys": [7777]})").status);
  EXPECT_EQ("maybe",
            json(service.get("/v1/filters/products/check?key=7777")).at("verdict").as_string());
  const auto many =
      json(service.change("POST", "/v1/filters/products/check", R"({"keys": [1, "x", 9999]})"));
  EXPECT_EQ(1, many.at("maybe").to_number<int>());
  EXPECT_EQ(1, many.at("absent").to_number<int>());
  EXPECT_EQ(1, many.at("unknown").to_number<int>());
  for (const char* const body :
       {"", "[]", "{", R"({"keys": 1})", R"({"keys": [[1, 2]]})", R"({"keys": [1.5]})"})
    EXPECT_EQ(400u, service.change("POST", "/v1/filters/products/check", body).status) << body;
}

TEST_F(ServiceTest, TakesANewConfigurationOrKeepsTheOld) {
  RunningService service(sections("shadow"));
  ASSERT_TRUE(service.becomes_ready()) << service.log();
  EXPECT_EQ(200u, service.ask_as_nginx("/products/9999"));
  service.configure(sections("enforce"));
  service.process().signal(SIGHUP);
  EXPECT_TRUE(becomes_true([&] { return service.ask_as_nginx("/products/9999") == 403; }));

  service.configure("[[filter]]\nnonsense = 1\n");
  service.process().signal(SIGHUP);
  EXPECT_TRUE(
      becomes_true([&] { return service.log().find("not taken over") != std::string::npos; }));
  EXPECT_EQ(403u, service.ask_as_nginx("/products/9999"));

  // A filter that changed ends, and begins anew from its file.
  service.configure(sections("enforce") + "");
  std::string changed = sections("enforce");
  changed.replace(changed.find("fpr = 0.0001"), 12, "lease = \"5s\"");
  service.configure(changed);
  service.process().signal(SIGHUP);
  EXPECT_TRUE(becomes_true([&] {
    return service.log().find("taken over", service.log().find("not taken over") + 20) !=
           std::string::npos;
  })) << service.log();
  EXPECT_TRUE(becomes_true([&] { return service.ask_as_nginx("/products/9999") == 403; }))
      << service.log();
}

// The description and the server are held together: every path and method that it names is
// answered with a status that it names, and the answer has the fields that it requires.
TEST_F(ServiceTest, AnswersAsItsDescriptionSays) {
  RunningService service(sections());
  ASSERT_TRUE(service.becomes_ready()) << service.log();
  const auto description = json(service.get("/v1/openapi.json"));
  for (const auto& [path, operations] : description.at("paths").as_object()) {
    for (const auto& [method, operation] : operations.as_object()) {
      std::string target(path);
      if (const auto at = target.find("{name}"); at != std::string::npos)
        target.replace(at, 6, "products");
      std::string verb(method);
      for (char& letter : verb) letter = static_cast<char>(std::toupper(letter));
      const auto& object = operation.as_object();
      if (target.ends_with("/check") && verb == "GET") target += "?key=1";
      if (target.ends_with("/events")) continue;  // it does not end
      if (target.ends_with("/explain")) target += "?url=%2Fproducts%2F1";
      std::string body;
      if (object.contains("requestBody"))
        body = target.ends_with("/mode") ? R"({"mode": "shadow"})" : R"({"keys": [1, 2]})";
      const HttpResponse response = service.change(verb, target, body);
      EXPECT_EQ(2u, response.status / 100) << verb << " " << target << " " << response.body;
      const auto& responses = object.at("responses").as_object();
      const auto* described = responses.if_contains(std::to_string(response.status));
      ASSERT_NE(nullptr, described) << verb << " " << target;
      const auto& content = described->at("content").as_object();
      ASSERT_EQ(0u, response.content_type.find(std::string_view(content.begin()->key())))
          << verb << " " << target << " " << response.content_type;
      if (response.content_type != "application/json") continue;
      const auto* reference = content.begin()->value().at("schema").as_object().if_contains("$ref");
      if (reference == nullptr) continue;
      const std::string schema(reference->as_string());
      const auto& fields =
          description.at("components").at("schemas").at(schema.substr(schema.rfind('/') + 1));
      const auto answer = json(response);
      for (const auto& field : fields.at("required").as_array())
        EXPECT_TRUE(answer.contains(field.as_string())) << target << " " << field;
      for (const auto& [name, value] : answer)
        EXPECT_TRUE(fields.at("properties").as_object().contains(name)) << target << " " << name;
    }
  }
  EXPECT_EQ(404u, service.get("/v1/filters/nobody").status);
  EXPECT_EQ(404u, service.get("/v2").status);
  EXPECT_EQ(405u, service.get("/v1/filters/products/rebuild").status);
  EXPECT_EQ(400u, service.get("/v1/filters/%zz").status);
}

TEST_F(ServiceTest, CountsInMetrics) {
  RunningService service(sections());
  ASSERT_TRUE(service.becomes_ready()) << service.log();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(403u, service.ask_as_nginx("/products/9999"));
  const std::string metrics = service.get("/metrics").body;
  EXPECT_NE(std::string::npos, metrics.find("guestlist_rejected_total{filter=\"products\"} 3"))
      << metrics;
  EXPECT_NE(std::string::npos,
            metrics.find("guestlist_false_negatives_total{filter=\"products\"} 0"));
  EXPECT_NE(std::string::npos,
            metrics.find("guestlist_filter_state{filter=\"products\",state=\"enforcing\"} 1"));
}

TEST_F(ServiceTest, DoesNotStartHalfConfigured) {
  const auto ends_with = [&](const std::string& from, const std::string& to) {
    std::string changed = sections();
    changed.replace(changed.find(from), from.size(), to);
    RunningService service(changed);
    EXPECT_TRUE(service.process().wait(std::chrono::seconds(30)));
    EXPECT_EQ(2, service.process().exit_status()) << to;
    const std::string log = service.log();
    EXPECT_EQ(1, std::count(log.begin(), log.end(), '\n')) << log;
    return log;
  };
  EXPECT_NE(std::string::npos,
            ends_with("table = \"products\"", "table = \"product\"").find("product"));
  EXPECT_NE(std::string::npos, ends_with("column = \"id\"", "column = \"ident\"").find("ident"));
  EXPECT_NE(std::string::npos,
            ends_with("match = \"GET /products/{id}\"", "match = \"GET /products\"")
                .find("guestlist.toml:"));
  EXPECT_NE(std::string::npos,
            ends_with(std::to_string(postgres_.port()), "1").find("guestlist.toml:"));
}

TEST(ServiceOnAFile, FollowsItBesideTheConfiguration) {
  RunningService service(
      "[[filter]]\nname = \"ids\"\nkey = \"int\"\n[filter.source]\nlines = \"ids.txt\"\n"
      "[[route]]\nmatch = \"/items/{id}\"\nfilter = \"ids\"\nmode = \"enforce\"\n",
      {{"ids.txt", "1\n2\n3\n"}});
  ASSERT_TRUE(service.becomes_ready()) << service.log();
  EXPECT_EQ(200u, service.ask_as_nginx("/items/3"));
  EXPECT_EQ(403u, service.ask_as_nginx("/items/4"));
  service.append("ids.txt", "4\n");
  EXPECT_TRUE(becomes_true([&] { return service.ask_as_nginx("/items/4") == 200; }))
      << service.log();
}

}  // namespace
}  // namespace guestlist
