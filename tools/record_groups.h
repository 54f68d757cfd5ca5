// Tuning records by what they are about.
#ifndef TILEWRIGHT_TOOLS_RECORD_GROUPS_H_
#define TILEWRIGHT_TOOLS_RECORD_GROUPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"

namespace tilewright::tools {

// All records of one workload on one device.
struct RecordGroup {
  measure::WorkloadKey workload;
  measure::DeviceKey device;
  int64_t records = 0;
  int64_t verified = 0;
  int64_t failed = 0;                   // outcome not OK
  std::optional<measure::Record> best;  // Store::Best, if any is verified
};

// Fills `groups` in the order in which their first records were added, with
// those whose workload's fingerprint starts with `prefix`. With a DataLoss the
// groups hold what could be read.
absl::Status CollectRecordGroups(measure::Store& store, std::string_view prefix,
                                 std::vector<RecordGroup>& groups);

// "[64, 256], reduces 128": the workload in one line; empty if the text is
// none's.
std::string DescribeWorkload(std::string_view text);

// "12.3 us".
std::string DurationText(double ns);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_RECORD_GROUPS_H_
