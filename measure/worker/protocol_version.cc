#include "measure/worker/protocol_version.h"

#include "absl/strings/str_cat.h"
#include "base/string_view.h"

namespace tilewright::measure {

absl::Status CheckProtocolVersion(int32_t version, std::string_view peer) {
  if (version == kProtocolVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(ToAbsl(peer), " speaks version ", version,
                   " of the protocol, this process version ", kProtocolVersion,
                   "; start both from the same release"));
}

}  // namespace tilewright::measure
