#include "sketch/default_schedule.h"

#include <optional>

#include "base/status_macros.h"
#include "sketch/contraction_schedule.h"
#include "sketch/group_chain.h"
#include "sketch/map_schedule.h"
#include "sketch/move_schedule.h"
#include "sketch/row_schedule.h"
#include "sketch/window_schedule.h"
#include "sketch/winograd_schedule.h"

namespace tilewright::sketch {

absl::StatusOr<Schedule> DefaultSchedule(const Workload& workload,
                                         const DeviceSpec& spec) {
  if (const std::optional<Schedule> rows = RowSchedule(workload, spec))
    return *rows;
  TW_ASSIGN_OR_RETURN(const Chain chain, FindChain(workload.graph));
  if (!chain.reduction) {
    const std::optional<Crossing> crossing = FindCrossing(workload, chain);
    return crossing ? MoveSchedule(workload, spec, chain, *crossing)
                    : MapSchedule(workload, spec, chain);
  }
  if (IsWinograd(workload, chain))
    return WinogradSchedule(workload, spec, chain);
  if (IsWindow(workload, chain)) return WindowSchedule(workload, spec, chain);
  return ContractionSchedule(workload, spec, chain);
}

}  // namespace tilewright::sketch
