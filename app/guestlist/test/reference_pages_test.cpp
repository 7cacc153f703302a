#include "command_run.hpp"

namespace guestlist {
namespace {

std::string page(const std::string& name) {
  std::ostringstream content;
  content << std::ifstream(std::string(GUESTLIST_DOCS) + "/operations/" + name).rdbuf();
  return content.str();
}

using ReferencePagesTest = CommandTest;

TEST_F(ReferencePagesTest, AreWhatTheProgramWrites) {
  EXPECT_EQ(page("configuration.md"), run("check --reference").out);
  EXPECT_EQ(page("metrics.md"), run("check --metrics").out);
}

TEST_F(ReferencePagesTest, AConfigurationIsRefusedWithPlaceAndNearestName) {
  const std::string source = "[filter.source]\nlines = \"ids.txt\"\n";
  write("a.toml", "[[filter]]\nname = \"a\"\nfrp = 0.1\n" + source);
  expect_refusal("check a.toml", "a.toml:3:1: [[filter]] has no field 'frp'; did you mean 'fpr'?");
  write("b.toml", "[[filter]]\nname = \"a\"\nfpr = 2\n" + source);
  expect_refusal("check b.toml", "b.toml:3:7: fpr = 2 is not what is expected here");
  write("c.toml",
        "[[filter]]\nname = \"a\"\n" + source + "[[route]]\nmatch = \"/{id}\"\nfilter = \"b\"\n");
  expect_refusal("check c.toml", "c.toml:5:1: there is no filter 'b'");
  write("d.toml", "[[filter]\n");
  expect_refusal("check d.toml", "d.toml:1:");
  write("e.toml", "[server]\ntoken = \"${GUESTLIST_NO_SUCH}\"\n");
  expect_refusal("check e.toml", "the environment has no GUESTLIST_NO_SUCH");
  write("f.toml", "");
  expect_refusal("check f.toml", "there is no [[filter]]");
  write("g.toml", "[[filter]]\nname = \"a\"\n");
  expect_refusal("check g.toml", "needs [filter.source]");
  expect_refusal("serve none.toml", "none.toml");
  expect_refusal("status http://127.0.0.1:1", "no service answers there");
}

}  // namespace
}  // namespace guestlist
