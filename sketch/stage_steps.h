// Whether tasks of a staged group take several tiles in a row, whose earlier
// stages share what they compute (rolling).
#ifndef TILEWRIGHT_SKETCH_STAGE_STEPS_H_
#define TILEWRIGHT_SKETCH_STAGE_STEPS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/stage_plan.h"
#include "sketch/workload.h"

namespace tilewright::sketch {

struct StageSteps {
  int axis;       // of the output
  int64_t tiles;  // of one task along it; above 1
};

// The outermost axis, but for the one that vectors run along, along which
// neighbouring tiles need the same of some stage: as many tiles as leave every
// core some tasks. Nullopt: there is none such.
absl::StatusOr<std::optional<StageSteps>> ChooseStageSteps(
    const Workload& workload, const DeviceSpec& spec, const StagePlan& plan);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_STAGE_STEPS_H_
