#include "backends/lowering/testing/default_case.h"

#include <utility>

#include "base/status_macros.h"
#include "sketch/fused/staged_schedule.h"
#include "sketch/rules/default_schedule.h"

namespace tilewright::lowering {

absl::StatusOr<RandomCase> DefaultCase(sketch::Workload workload,
                                       const DeviceSpec& spec, uint64_t seed) {
  RandomCase c;
  c.seed = seed;
  c.workload = std::move(workload);
  TW_ASSIGN_OR_RETURN(c.schedule, sketch::DefaultSchedule(c.workload, spec));
  TW_RETURN_IF_ERROR(PrepareCase(c, seed % 2 == 0));
  return c;
}

absl::StatusOr<RandomCase> StagedCase(const sketch::StagedWorkload& staged,
                                      const DeviceSpec& spec, uint64_t seed) {
  RandomCase c;
  c.seed = seed;
  c.workload = staged.workload;
  TW_ASSIGN_OR_RETURN(c.schedule,
                      sketch::StagedSchedule(c.workload, spec, staged.plan));
  TW_RETURN_IF_ERROR(PrepareCase(c, false));
  return c;
}

}  // namespace tilewright::lowering
