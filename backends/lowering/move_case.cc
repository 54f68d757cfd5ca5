#include "backends/lowering/move_case.h"

#include "base/status_macros.h"
#include "sketch/default_schedule.h"
#include "sketch/move_workloads.h"

namespace tilewright::lowering {

absl::StatusOr<RandomCase> DrawMoveCase(uint64_t seed, const DeviceSpec& spec) {
  RandomCase c;
  c.seed = seed;
  c.workload = sketch::DrawMove(seed);
  TW_ASSIGN_OR_RETURN(c.schedule, sketch::DefaultSchedule(c.workload, spec));
  TW_RETURN_IF_ERROR(PrepareCase(c, seed % 2 == 0));
  return c;
}

}  // namespace tilewright::lowering
