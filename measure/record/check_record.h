#ifndef TILEWRIGHT_MEASURE_RECORD_CHECK_RECORD_H_
#define TILEWRIGHT_MEASURE_RECORD_CHECK_RECORD_H_

#include "absl/status/status.h"
#include "measure/record/record.pb.h"

namespace tilewright::measure {

// InvalidArgument, naming the field, unless
//   - the workload has a text, and the fingerprint is that text's;
//   - the device's fingerprint is one;
//   - the outcome is known; if it is OK there is a latency of at least one
//     execution, of finite numbers that are not negative, with its method,
//     otherwise there is none;
//   - only what is OK is verified, and names the reference;
//   - a task id is that of its task (task_id.h), and what has a lease has one;
//   - all texts are UTF-8, without which no proto can be read back.
absl::Status CheckRecord(const Record& record);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_RECORD_CHECK_RECORD_H_
