#include "measure/record/workload_key.h"

#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"

namespace tilewright::measure {

WorkloadKey MakeWorkloadKey(const KernelKey& key) {
  WorkloadKey result;
  result.set_text(key.text());
  result.set_fingerprint(key.fingerprint().ToString());
  return result;
}

WorkloadKey MakeWorkloadKey(const sketch::Workload& workload) {
  return MakeWorkloadKey(KernelKey(workload.Text()));
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
