#ifndef TILEWRIGHT_MEASURE_RECORD_WORKLOAD_KEY_H_
#define TILEWRIGHT_MEASURE_RECORD_WORKLOAD_KEY_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "measure/record/record.pb.h"
#include "sketch/trace/workload.h"
#include "tilegraph/plan/kernel_key.h"

namespace tilewright::measure {

// The text and fingerprint by which records of a workload are found.
WorkloadKey MakeWorkloadKey(const KernelKey& key);
WorkloadKey MakeWorkloadKey(const sketch::Workload& workload);

// The same of a text that somebody else wrote. InvalidArgument if it is no
// workload's, or not the canonical text of that workload.
absl::StatusOr<WorkloadKey> ParseWorkloadKey(std::string_view text);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_RECORD_WORKLOAD_KEY_H_
