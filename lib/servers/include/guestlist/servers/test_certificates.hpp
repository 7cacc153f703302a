#pragma once

// Certificates for tests of TLS: an authority of its own, made new with each object, and what it
// signed. Two objects know nothing of each other, which makes one the stranger of the other.
//
// Cost: three runs of the openssl command, about 40 ms.

#include <string>

#include "guestlist/base/result.hpp"
#include "guestlist/servers/temporary_folder.hpp"

namespace guestlist::servers {

/// Distinct objects: safe. Shared objects: read only.
class TestCertificates {
 public:
  /// A server's certificate for `localhost` and 127.0.0.1, and a client's, valid for one day.
  /// Errors: `not_found` where openssl is missing, `unavailable`.
  static Result<TestCertificates> create();

  std::string authority() const { return folder_.file("authority.crt"); }
  std::string server_certificate() const { return folder_.file("server.crt"); }
  std::string server_key() const { return folder_.file("server.key"); }
  std::string client_certificate() const { return folder_.file("client.crt"); }
  std::string client_key() const { return folder_.file("client.key"); }

 private:
  explicit TestCertificates(TemporaryFolder folder) noexcept : folder_(std::move(folder)) {}
  TemporaryFolder folder_;
};

}  // namespace guestlist::servers
