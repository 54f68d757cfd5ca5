#include "backends/lowering/testing/default_case.h"

#include <utility>

#include "base/status_macros.h"
#include "sketch/fused/fused_schedule.h"
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

absl::StatusOr<RandomCase> FusedCase(const sketch::FusedWorkload& fused,
                                     const DeviceSpec& spec, uint64_t seed) {
  RandomCase c;
  c.seed = seed;
  c.workload = fused.workload;
  TW_ASSIGN_OR_RETURN(c.schedule,
                      sketch::FusedSchedule(c.workload, spec, fused.plan));
  TW_RETURN_IF_ERROR(PrepareCase(c, false));
  return c;
}

}  // namespace tilewright::lowering
