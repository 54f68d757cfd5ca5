// Where a daemon is reached, and by what both ends of a TCP connection prove
// who they are.
#ifndef TILEWRIGHT_TOOLS_DAEMON_ADDRESS_H_
#define TILEWRIGHT_TOOLS_DAEMON_ADDRESS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace tilewright::daemon {

// "unix:PATH" or "tcp:HOST:PORT".
struct Address {
  enum class Kind : uint8_t { kUnix, kTcp };
  Kind kind = Kind::kUnix;
  std::string target;  // PATH, or HOST:PORT
};
// InvalidArgument for anything else.
absl::StatusOr<Address> ParseAddress(const std::string& text);

// Mutual TLS: over TCP nobody is let in without.
struct Certificates {
  std::string authority;  // whose certificates are believed; PEM, like the rest
  std::string own, key;
};
// ca.pem, cert.pem and key.pem of a folder. InvalidArgument if no folder is
// named; NotFound naming the file; FailedPrecondition if others than its user
// may read the key.
absl::StatusOr<Certificates> ReadCertificates(const std::string& folder);

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_ADDRESS_H_
