#include "guestlist/servers/test_certificates.hpp"

#include <chrono>
#include <vector>

#include "guestlist/servers/child_process.hpp"
#include "guestlist/servers/program.hpp"

namespace guestlist::servers {
namespace {

/// NAME.crt and NAME.key in the folder, signed by itself unless `more` names an authority.
Result<void> make_certificate(const std::string& openssl, const TemporaryFolder& folder,
                              const std::string& name, const std::vector<std::string>& more) {
  ChildOptions options;
  options.folder = folder.path().string();
  options.command = {openssl,
                     "req",
                     "-x509",
                     "-newkey",
                     "ec",
                     "-pkeyopt",
                     "ec_paramgen_curve:prime256v1",
                     "-nodes",
                     "-days",
                     "1",
                     "-subj",
                     "/CN=" + name,
                     "-keyout",
                     name + ".key",
                     "-out",
                     name + ".crt"};
  options.command.insert(options.command.end(), more.begin(), more.end());
  auto made = run_program(std::move(options), std::chrono::seconds(20));
  if (!made) return fail(std::move(made).error());
  return {};
}

}  // namespace

Result<TestCertificates> TestCertificates::create() {
  const auto openssl = find_program(Program::openssl);
  if (!openssl) return fail(openssl.error());
  auto folder = TemporaryFolder::create("certificates");
  if (!folder) return fail(std::move(folder).error());

  const std::vector<std::string> signed_leaf{"-CA",     "authority.crt",
                                             "-CAkey",  "authority.key",
                                             "-addext", "basicConstraints=critical,CA:FALSE"};
  std::vector<std::string> for_server = signed_leaf;
  for_server.insert(for_server.end(), {"-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"});
  auto made = make_certificate(*openssl, *folder, "authority", {});
  if (made) made = make_certificate(*openssl, *folder, "server", for_server);
  if (made) made = make_certificate(*openssl, *folder, "client", signed_leaf);
  if (!made) return fail(std::move(made).error());
  return TestCertificates(*std::move(folder));
}

}  // namespace guestlist::servers
