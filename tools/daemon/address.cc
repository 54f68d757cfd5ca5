#include "tools/daemon/address.h"

#include <sys/stat.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "base/status_macros.h"

namespace tilewright::daemon {
namespace {

constexpr int64_t kMostBytes = 1 << 20;

}  // namespace

absl::StatusOr<Address> ParseAddress(const std::string& text) {
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "unix:") && !rest.empty())
    return Address{Address::Kind::kUnix, std::string(rest)};
  if (absl::ConsumePrefix(&rest, "tcp:")) {
    const size_t colon = rest.rfind(':');
    if (colon != absl::string_view::npos && colon > 0 &&
        colon + 1 < rest.size())
      return Address{Address::Kind::kTcp, std::string(rest)};
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "address '", text, "': give unix:PATH, or tcp:HOST:PORT with --tls=DIR"));
}

absl::StatusOr<Certificates> ReadCertificates(const std::string& folder) {
  if (folder.empty()) {
    return absl::InvalidArgumentError(
        "over TCP both ends show certificates: give --tls=DIR, a folder with "
        "ca.pem, cert.pem and key.pem (docs/daemon.md says how to make them)");
  }
  Certificates certificates;
  TW_ASSIGN_OR_RETURN(certificates.authority,
                      ReadFile(absl::StrCat(folder, "/ca.pem"), kMostBytes));
  TW_ASSIGN_OR_RETURN(certificates.own,
                      ReadFile(absl::StrCat(folder, "/cert.pem"), kMostBytes));
  const std::string key = absl::StrCat(folder, "/key.pem");
  TW_ASSIGN_OR_RETURN(certificates.key, ReadFile(key, kMostBytes));
  struct stat file = {};
  if (stat(key.c_str(), &file) != 0 || (file.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(key, ": others may read it; chmod 600 it"));
  }
  return certificates;
}

}  // namespace tilewright::daemon
