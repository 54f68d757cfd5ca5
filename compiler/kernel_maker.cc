#include "compiler/kernel_maker.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/lowering/lower.h"
#include "base/status_macros.h"
#include "sketch/default_schedule.h"
#include "sketch/replay.h"
#include "sketch/staged_schedule.h"

namespace tilewright {
namespace {

absl::StatusOr<sketch::Schedule> ScheduleOf(const GroupWorkload& group,
                                            const DeviceSpec& spec) {
  return group.stages
             ? sketch::StagedSchedule(group.workload, spec, *group.stages)
             : sketch::DefaultSchedule(group.workload, spec);
}

// Schedule, block tree, tile tier, scalar tier.
absl::StatusOr<CompiledKernel> MakeKernel(const GroupWorkload& workload,
                                          const backends::Codegen& codegen) {
  CompiledKernel kernel;
  kernel.workload = workload;
  TW_ASSIGN_OR_RETURN(kernel.schedule, ScheduleOf(workload, codegen.spec()));
  TW_ASSIGN_OR_RETURN(
      const sketch::BlockTree tree,
      sketch::Replay(kernel.workload.workload, kernel.schedule));
  TW_ASSIGN_OR_RETURN(kernel.tile, lowering::Lower(tree, "kernel"));
  TW_ASSIGN_OR_RETURN(kernel.scalar, codegen.Legalize(kernel.tile));
  for (const sketch::Buffer& buffer : tree.buffers) {
    if (buffer.level != sketch::MemLevel::kGlobal) continue;
    kernel.arg_tensors.push_back(buffer.tensor);
    kernel.arg_layouts.push_back(buffer.layout);
  }
  return kernel;
}

}  // namespace

std::string KernelMaker::Key(const GroupWorkload& group) {
  std::string key = group.workload.Text();
  if (!group.stages) return key;
  absl::StrAppend(&key, "tile ", absl::StrJoin(group.stages->tile, "x"), "\n");
  for (const sketch::StagePlan::Stage& stage : group.stages->stages)
    absl::StrAppend(&key, "stage ", absl::StrJoin(stage.members, " "), " ",
                    stage.layout.ToString(), " by ", stage.reduce_step, "\n");
  return key;
}

const absl::StatusOr<CompiledKernel>& KernelMaker::Make(
    const GroupWorkload& workload) {
  const std::string key = Key(workload);
  const auto known = made_.find(key);
  if (known != made_.end()) return known->second;
  return made_.emplace(key, MakeKernel(workload, codegen_)).first->second;
}

}  // namespace tilewright
