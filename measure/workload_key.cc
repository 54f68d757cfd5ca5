#include "measure/workload_key.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"

namespace tilewright::measure {

WorkloadKey MakeWorkloadKey(const sketch::Workload& workload) {
  WorkloadKey key;
  key.set_text(workload.Text());
  key.set_fingerprint(Fingerprint::Of(key.text()).ToString());
  return key;
}

absl::StatusOr<WorkloadKey> ParseWorkloadKey(std::string_view text) {
  TW_ASSIGN_OR_RETURN(const sketch::Workload workload,
                      sketch::ParseWorkload(text));
  WorkloadKey key = MakeWorkloadKey(workload);
  if (key.text() != text) {
    return absl::InvalidArgumentError(
        "the text of the workload is not canonical: use what Text() of the "
        "parsed workload gives");
  }
  return key;
}

}  // namespace tilewright::measure
