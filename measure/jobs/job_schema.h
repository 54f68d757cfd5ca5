// Internal to the queue: its tables.
#ifndef TILEWRIGHT_MEASURE_JOBS_JOB_SCHEMA_H_
#define TILEWRIGHT_MEASURE_JOBS_JOB_SCHEMA_H_

#include <string>

#include "absl/status/statusor.h"
#include "measure/record/sqlite.h"

namespace tilewright::measure {

// tasks.state
inline constexpr int kWaiting = 0, kLeased = 1, kDone = 2, kGivenUp = 3;

// Makes an empty file a queue of that name; gives the name that it has.
// InvalidArgument if the file is something else, FailedPrecondition if a newer
// version wrote it.
absl::StatusOr<std::string> PrepareQueue(Database& database,
                                         const std::string& name);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_JOBS_JOB_SCHEMA_H_
